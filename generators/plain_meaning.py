"""What an explanation says an idiom means, in words that are not the idiom's own.

Books explain an idiom by repeating it, by parsing its words, by examples, parallels and references. Whoever
only compares letters then knows the right explanation: in Taymur's book 87 times in 100. What is left here is
the clause that says the meaning. It depends on the record alone, so that no other record changes it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from mihakk.machinery.morphology import LIGHT, Morphology
from mihakk.machinery.text import key, word_keys, words
from mihakk.machinery.text.no_meaning import Kind, breaks_off, glosses_word, named_instead
from mihakk.schemas.record import Language

Lacks = Kind | Literal["", "breaks_off", "shared"]
"""Why an explanation gives no gold; `shared`: more than `MOST_SHARED` idioms would have the same."""
_ASIDES: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_QUOTED: Final = re.compile(r"«(?:[^«»]|«[^«»]*»)*»|\"[^\"]*\"|“[^“”]*”")
_CUT: Final = "\ufffc"
"""Stands where a quotation was: a clause that needs it states no meaning without it."""
_CLAUSE: Final = re.compile(r"[^،؛,;.:!?؟…]+[،؛,;.:!?؟…]*")
_CLOSED: Final = (".", "؛", ";", ":", "!", "؟", "?", "…")
_ENDS: Final = (".", "!", "؟", "?")
"""Of a sentence."""

_FIGURE: Final = r"(?:(?:ال)?كناية|يكنون به|يكنى به)\s+(?:عن\s+|على\s+|ع(?=م[نا]\b))"
_OPENINGS: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "ar": (
        re.compile(rf"^[\s\ufffc]*{_FIGURE}"),
        re.compile(r"\bيضرب\s+(?:مثلا\s+)?(?=ل|في)"),
        re.compile(rf"\b{_FIGURE}"),
    ),
    "fa": (re.compile(r"\bکنایه از\s+"),),
    "en": (),
}
"""What the clause that says the meaning begins with, the surest first; taken off. A figure named behind other
words may be a part of a proverb only, the last of all."""
_THAT_IS: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(r"^[\s\ufffc]*أي\s+"),
    "fa": re.compile(r"^[\s\ufffc]*یعنی\s+"),
}
"""The same, for it says what stands before it: the idiom in the first sentence, further on an example."""

# A clause that begins so gives an example, a parallel, a reference, or parses words.
_ASIDE: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(
        r"\s*+[وف]?(?:لكنهم|لكن|قد|ربما|كذلك)?\s*+[وف]?(?:(?:يقول|يقال|ك?قولهم|قالوا|تقول|أصله|الأصل|مثله|انظر|بعضهم"
        r"|لعل|المراد|مرادهم|المقصود|المعنى|يعبر|يزيد|يريدون|يرادف|يستعمل|يكنى|يكنون|أنشد|روى|ورد|جاء|ذكر)\w*|أي\b"
        r"|أصل هذ\w+|رأيت|من طريف|حكي|يحكى|\w+ عندهم\b"
        r"|(?<=[وف])معنى|معنى ال|(?:ه[وي] )?من (?:ذلك|أمثال|كنايات|التشبيه|قول\w*)"
        r"|أمثالهم|كنايات|أكثر ما|الغالب)"
    ),
    "fa": re.compile(r"\s*(?:و\s+)?(?:چنان‌?که|مثلا|مثال|نظیر|مانند|گویند|نک|اصل|زیرا)"),
    "en": re.compile(r"\s*(?:and\s+)?(?:e\.?g|for example|for instance|as in|cf|compare|see|from)\b", re.I),
}
# The same, where a meaning has been stated before it.
_LATER: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(
        r"\s*(?:أو\s+|[وف])?(?:(?:قال|قلت|كما|في|هم|العرب|منه|قد|عن|عمن|عما|أما|إذا|الكلام|لشيخ"
        r"|ه[وي] (?:من|في|كلمة)|ال\w+ (?:معروف\w*|اسم|كلمة))\b|ه[وي] (?:ال|ك)|(?:ك|ل)أن)"
    ),
    "fa": re.compile(r"\s*(?:در|از)\b"),
    "en": re.compile(r"\s*(?:in|it comes)\b", re.I),
}

# What a clause goes on to after the meaning: the image that the idiom paints, a quotation that was cut off.
_WITHIN: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(
        r"(?<=\w)(?<!\bيعد)\s+(?:[وف]?(?:كأن|كقول|لأن(?:ه|ها|هم)?\b|كما (?:[تي]كني|يقال|قال|في))|[وف]بعضهم).*"
    ),
    "fa": re.compile(r"(?<=\w)\s+(?:چنان‌?که|مانند)\b.*"),
    "en": re.compile(r"(?<=\w)\s+(?:as if|as though|as in|e\.g)\b.*", re.I),
}

# Words that say nothing of the idiom's image: an explanation may share them.
_PARTICLES: Final[dict[Language, frozenset[str]]] = {
    "ar": frozenset(
        word_keys(
            "في من على عن إلى أن إن أو ثم لا ما لم لن كل غير بين له لها به بها منه منها فيه فيها عليه إذا قد "
            "كان يكون هو هي ذلك هذا هذه الذي التي مع بعد قبل حتى أحد شيء زي ولا وما",
            "ar",
        )
    ),
    "fa": frozenset(
        word_keys("از به با در را که و تا بر برای این آن هر هم بی چیزی کسی است شد شود کردن", "fa")
    ),
    "en": frozenset("a an the of to in on at by with for and or is be it as that who one not".split()),  # noqa: SIM905
}


class Meaning(NamedTuple):
    """The meaning that an explanation states, or why it states none."""

    text: str
    """Empty where it states none in words of its own."""
    lacks: Lacks
    """What stands in its place; empty beside a meaning, and where the idiom is only repeated."""


def plain_meaning(
    phrase: str, explanation: str, language: Language, morphology: Morphology = LIGHT
) -> Meaning:
    """The meaning that an explanation states.

    It is taken from its opening words, or else from the start, up to the first aside or clause that shares a
    word's form with the idiom, needs a quotation, breaks off, or names a source, an edition, grammar or
    another entry (`mihakk.machinery.text.no_meaning`). A gloss without any of these stays as it is.
    """
    own = content_forms(phrase, language, morphology)
    clauses = _CLAUSE.findall(_QUOTED.sub(_CUT, _ASIDES.sub("", explanation)))
    number, start = next(_opened(clauses, language), (0, 0))
    clauses = [clause[start if place == number else 0 :] for place, clause in enumerate(clauses)][number:]
    kept: list[str] = []
    lacks: Lacks = ""
    for clause in clauses:
        whole = _WITHIN[language].sub("", clause)
        if own & content_forms(whole, language, morphology) or _ASIDE[language].match(clause):
            break
        if kept and _LATER[language].match(clause):
            break
        if lacks := _lacks(whole, language):
            break
        kept.append(whole.strip())
        if whole != clause or kept[-1].endswith(_CLOSED):
            break
    meaning = " ".join(kept).strip(" ،؛,;.:…-–")
    # One word is a meaning where the source calls it one; elsewhere it only reads the idiom out.
    figurative = _OPENINGS[language][-1:]
    if " " in meaning or (meaning and any(one.search(explanation) for one in figurative)):
        return Meaning(meaning, "")
    return Meaning("", "" if kept else lacks)


def _opened(clauses: Sequence[str], language: Language) -> Iterator[tuple[int, int]]:
    """Places at which a meaning may open, the surest first: the clause's number, and where in the clause."""
    for opening in _OPENINGS[language]:
        for number, clause in enumerate(clauses):
            if match := opening.search(clause):
                yield number, match.end()
    for number, clause in enumerate(clauses if language in _THAT_IS else ()):
        if match := _THAT_IS[language].match(clause):
            if number == 0 or " " in clause[match.end() :].strip():
                yield number, match.end()
            return  # one word explains a word of the idiom
        if clause.rstrip().endswith(_ENDS):
            return


def _lacks(clause: str, language: Language) -> Lacks:
    """Why a clause states no meaning; empty where it may."""
    if named := named_instead(clause.replace(_CUT, " "), language):
        return named
    if glosses_word(clause, language):
        return "grammar"
    if _CUT in clause or clause.rstrip().endswith((":", "…", "...")) or breaks_off(clause, language):
        return "breaks_off"
    return ""


def content_forms(text: str, language: Language, morphology: Morphology = LIGHT) -> frozenset[str]:
    """What stands for the words of a text, particles aside: an explanation may share those with its idiom."""
    return frozenset(
        form
        for word in words(text)
        if key(word, language) not in _PARTICLES[language]
        for form in morphology.forms(word, language)
    )
