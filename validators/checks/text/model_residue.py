"""TX27: a field holds its text, not what a language model said about it."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from mihakk.machinery.text import words_key
from mihakk.machinery.text.codepoints import ZWNJ
from mihakk.schemas.item import QuestionItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.lexicon import (
    LETTERS,
    Lexicon,
    model_marks,
    model_residue,
    spaced,
)
from mihakk.validators.checks.texts import Texts, excerpt, is_outside

SENTENCE = re.compile(r"[^.!?؟。！？:：\n]++[.!?؟。！？:：]?+")
FIRST = 2
"""Sentences in which a reply opens or refuses."""
LAST = 3
"""Sentences in which it closes."""
SHORT = 12
"""Words of a sentence that hands over something so common as a question or a text."""
LONG = 30
BRIEF = 4
"""Words of an opening that does nothing but agree: `Sure!`."""
NEAR = 9
"""Words that may stand before a refusal: `Well, as I said, I cannot ...`."""

Said = Mapping[str, Collection[str]]
"""Phrases of one sentence by kind, of one language."""


@check(
    "TX27",
    severity="flag",
    on=QuestionItem,
    title="nothing in the text was said by a language model about it",
)
def model_said(item: QuestionItem, texts: Texts) -> Objections:
    """No field opens, refuses or closes as a model's reply: `Sure! Here is the translation:`, `As an AI ...`.

    Phrases of eight languages are looked for in every field, as models reply in that of the request. Closings
    aren't in a passage: contracts and pages tell their own readers whom to ask. None of five wordings read in
    outside sets was a model's: there they count. A mark of a chat template is nobody's wording.
    """
    for mark in model_marks() if "<" in texts.joined or "[" in texts.joined else ():
        for where in (where for where, text in texts.parts if mark in text):
            yield Objection(f"a mark of a chat template: {excerpt(mark)}", where)
    whole, vocabulary = texts.whole, texts.vocabulary
    if ZWNJ in texts.joined or LETTERS.search(texts.joined):
        whole = words_key(spaced(texts.joined), item.language)
        vocabulary = whole.split()
    if next(model_residue(item.language, alone=True).spoken(vocabulary, whole), None) is None:
        return
    lexicon = model_residue(item.language)
    for where, text in texts.parts:
        found = _residue(text, item.language_of(where), lexicon, passage=where == "context")
        if found:
            detail = f"{found[0]} of a language model: {excerpt(found[1])}"
            yield Objection(detail, where, is_outside(item))


def _residue(text: str, language: Language, lexicon: Lexicon, *, passage: bool) -> tuple[str, str] | None:
    """What a model does in the first sentence that betrays one, and that sentence."""
    sentences = [one for one in SENTENCE.findall(text) if not one.isspace()]
    agreed = ""
    for place, sentence in enumerate(sentences):
        if FIRST <= place < len(sentences) - LAST:
            continue
        folded = words_key(spaced(sentence), language)
        spoken: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for kind, phrase in lexicon.spoken(folded.split(), folded):
            tongue, does = kind.split()
            spoken[tongue][does].add(phrase)
        own = {*spoken[language]["product"]}
        for tongue, said in list(spoken.items()):
            opens = place == 0 or (place == 1 and agreed == tongue)
            last = place == len(sentences) - 1
            foreign = set() if tongue == language else said["product"] - own
            if opens and _hands_over(folded, said, sentence.rstrip()[-1:], last, foreign):
                return "an opening", sentence
            if place < FIRST and _refuses(folded, said):
                return "a refusal", sentence
            if not passage and place >= len(sentences) - LAST and _closes(folded, said):
                return "a closing", sentence
            if place == 0 and _starts(folded, said["agree"]):
                agreed = tongue
    return None


def _hands_over(folded: str, said: Said, end: str, last: bool, foreign: Collection[str]) -> bool:
    """`Sure!`, `Here is the translated question`, `Below is the text:`, `Arabic translation:`."""
    length = folded.count(" ") + 1
    colon = end in (":", "：")
    if colon and not last and _covered(folded, said, foreign):
        return True
    if length > LONG:
        return False
    if _starts(folded, said["agree"]):
        if said["present"] and (said["made"] or said["product"]):
            return True
        return not last and length <= BRIEF and (colon or end in ("!", "！"))
    if said["present"] and said["made"]:
        return colon or _starts(folded, said["present"])
    return colon and length <= SHORT and bool(said["product"]) and _starts(folded, said["present"])


def _covered(folded: str, said: Said, foreign: Collection[str]) -> bool:
    """Whether nothing but a label and its target stands there, in a foreign language also `Question:`."""
    labels = {*said["label"], *(said["product"] if said["made"] else foreign)}
    rest = f" {folded} "
    for phrase in _longest({*labels, *said["target"], *said["made"]}):
        rest = rest.replace(f" {phrase} ", "  ")
    return bool(labels) and not rest.strip()


def _refuses(folded: str, said: Said) -> bool:
    """`As an AI model, I ...`, `I'm sorry, but I can't ...`, `I cannot translate ...`."""
    if said["self"] or _named(folded, said["i"], said["machine"]):
        return True
    machine = _named(folded, said["me"], said["machine"])
    if machine:
        return " " in machine or bool(said["unable"] or said["sorry"])
    if said["sorry"] and (said["unable"] or (said["made"] and _starts(folded, said["sorry"]))):
        return True
    early = " ".join(folded.split()[:NEAR])
    return bool(said["task"]) and any(
        f" {folded} ".index(f" {phrase} ") <= len(early) for phrase in said["unable"]
    )


def _named(folded: str, who: Collection[str], what: Collection[str]) -> str:
    """What a speaker calls himself: the longest name behind a pronoun, one word between at most."""
    for name in _longest(what):
        before, found, _ = f" {folded} ".partition(f" {name} ")
        if found and any(
            f"{before} ".endswith(f" {one} ") or f"{before.rpartition(' ')[0]} ".endswith(f" {one} ")
            for one in who
        ):
            return name
    return ""


def _longest(phrases: Collection[str]) -> list[str]:
    """The longest first, in one order whatever the order of a set is in this process."""
    return sorted(phrases, key=lambda phrase: (-len(phrase), phrase))


def _closes(folded: str, said: Said) -> bool:
    """`Let me know if you have further questions`: what is offered, then what it is about."""
    padded = f" {folded} "
    offered = [padded.index(f" {phrase} ") for phrase in said["offer"]]
    return bool(offered) and any(padded.rindex(f" {phrase} ") > min(offered) for phrase in said["further"])


def _starts(folded: str, phrases: Collection[str]) -> bool:
    return any(folded == phrase or folded.startswith(f"{phrase} ") for phrase in phrases)
