"""Sentences that use an idiom: the source's own, or written by a model in the idiom's dialect."""

from dataclasses import dataclass

from mihakk.generators.task import Context, OptionsT, Skip, Written
from mihakk.generators.writing.replies import contains, same_text, wrong_language
from mihakk.generators.writing.writer import prose
from mihakk.machinery.languages import pack
from mihakk.machinery.text import key, word_keys, words
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Language, Record

BLANK = "____"
LEAST_WORDS = 4
"""Words a sentence must have beside the idiom, so that they say something of the situation."""


class SentenceUse(Record):
    """The reply asked for."""

    sentence: str = prose("One sentence that uses the saying word for word.")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the idiom in it."""

    text: str
    blanked: str
    """The same with the idiom taken out."""
    written: Written | None = None
    kind: str = "source"
    """`source`, `written` by a model, or as people left a written one: `accepted`, `edited`, `replaced`."""


def blanked(sentence: str, phrase: str, language: Language) -> str | None:
    """The sentence with a blank for the phrase; None where the phrase does not stand in it word for word."""
    found, wanted = words(sentence), word_keys(phrase, language)
    keys = [key(word, language) for word in found]
    for start in range(len(keys) - len(wanted) + 1):
        if wanted and keys[start : start + len(wanted)] == wanted:
            return _cut(sentence, found, start, start + len(wanted))
    return None


def _cut(sentence: str, found: list[str], start: int, end: int) -> str:
    place, edges = 0, []
    for word in found:
        place = sentence.index(word, place)
        edges.append((place, place + len(word)))
        place += len(word)
    return f"{sentence[: edges[start][0]]}{BLANK}{sentence[edges[end - 1][1] :]}".strip()


def find_sentence(ctx: Context[OptionsT], idiom: Idiom) -> Sentence:
    """A sentence that uses the idiom word for word and does not explain it; the same one for every task.

    Raises:
        Skip: There is none.
    """
    phrase = idiom.phrase.shown
    objections = []
    by_people = idiom.source_labels.get("sentence", "")
    for example in idiom.examples:
        if not (problem := sentence_objection(example, idiom)):
            left = blanked(example, phrase, idiom.language) or ""
            return Sentence(example.strip(), left, _first_writer(idiom), by_people or "source")
        objections.append(problem)
        if by_people:
            break  # what people left of a written sentence can't be used: not another one in its place
    if ctx.writer is None or by_people:
        raise Skip("example_" + objections[0].split(":")[0] if objections else "no_sentence")
    reply, written = ctx.write(
        idiom.id,
        "pragmatic_use",
        idiom.language,
        SentenceUse,
        lambda reply: sentence_objection(reply.sentence, idiom),
        phrase=phrase,
        explanation=idiom.explanation.shown,
        dialect=pack(idiom.language).made_with.varieties.get(idiom.dialect, idiom.dialect),
    )
    text = " ".join(reply.sentence.split())
    return Sentence(text, blanked(text, phrase, idiom.language) or "", written, "written")


def _first_writer(idiom: Idiom) -> Written | None:
    """The model whose sentence people accepted or edited."""
    told = idiom.source_labels
    if "sentence_model" not in told:
        return None
    return Written(
        told.get("sentence_prompt_version", ""), told["sentence_model"], told.get("sentence_family", "")
    )


def sentence_objection(sentence: str, idiom: Idiom) -> str:
    """What is wrong with a sentence; empty when it may be used."""
    language = idiom.language
    rest = blanked(sentence, idiom.phrase.shown, language)
    if rest is None:
        return "without_idiom: the saying must stand in the sentence word for word"
    if len(words(rest.replace(BLANK, " "))) < LEAST_WORDS:
        return "too_short: say in what situation it is used"
    if problem := wrong_language(rest, language):
        return f"wrong_language: {problem}"
    if contains(rest, idiom.phrase.shown, language):
        return "idiom_twice: use the saying only once"
    explanation = idiom.explanation.shown
    if contains(rest, explanation, language) or same_text(rest, explanation, language):
        return "explains: it only explains the saying; use it as a speaker would"
    return ""
