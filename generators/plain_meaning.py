"""What an explanation says an idiom means, in words that are not the idiom's own.

Books explain an idiom by repeating it, by parsing its words, by examples, parallels and references. Whoever
only compares letters then knows the right explanation: in Taymur's book 87 times in 100. What is left here is
the clause that says the meaning. It depends on the record alone, so that no other record changes it.
"""

from __future__ import annotations

import re
from typing import Final

from mihakk.text import word_keys
from mihakk.text.stem import stem
from schemas.record import Language

_QUOTED: Final = re.compile(r"«[^»]*»|\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"|“[^”]*”")
_CLAUSE: Final = re.compile(r"[^،؛,;.:!?؟…]+[،؛,;.:!?؟…]*")
_CLOSED: Final = (".", "؛", ";", ":", "!", "؟", "?", "…")

_OPENINGS: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "ar": (
        re.compile(r"\b(?:كناية|يكنون به|يكنى به)\s+(?:عن\s+|على\s+|ع(?=م[نا]\b))"),
        re.compile(r"\bيضرب\s+(?:مثلا\s+)?(?=ل)"),
        re.compile(r"^\s*أي\s+"),
    ),
    "fa": (re.compile(r"\bکنایه از\s+"), re.compile(r"^\s*یعنی\s+")),
    "en": (),
}
"""What the clause that says the meaning begins with, the surest first; taken off."""

# A clause that begins so gives an example, a parallel, a reference, or parses words.
_ASIDE: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(
        r"\s*[وف]?(?:لكنهم|لكن|قد|ربما|كذلك)?\s*[وف]?(?:(?:يقول|يقال|ك?قولهم|قالوا|تقول|أصله|الأصل|مثله|انظر|بعضهم"
        r"|لعل|المراد|مرادهم|المقصود|المعنى|يعبر|يزيد|يريدون|يرادف|يستعمل|يكنى|يكنون|أنشد|روى|ورد|جاء|ذكر)\w*|أي\b"
        r"|أصل هذ\w+|رأيت|من طريف|حكي|يحكى|\w+ عندهم\b"
        r"|(?<=[وف])معنى|معنى ال|من (?:ذلك|أمثال|كنايات|قول\w*)|أمثالهم|كنايات|أكثر ما|الغالب)"
    ),
    "fa": re.compile(r"\s*(?:و\s+)?(?:چنان‌?که|مثلا|مثال|نظیر|مانند|گویند|نک|اصل|زیرا)"),
    "en": re.compile(r"\s*(?:and\s+)?(?:e\.?g|for example|for instance|as in|cf|compare|see|from)\b", re.I),
}
# The same, where a meaning has been stated before it.
_LATER: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile(r"\s*[وف]?(?:قال|كما|في|هم|العرب|منه|ه[وي] (?:من|كلمة|ال))\b"),
    "fa": re.compile(r"\s*(?:در|از)\b"),
    "en": re.compile(r"\s*(?:in|it comes)\b", re.I),
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


def plain_meaning(phrase: str, explanation: str, language: Language) -> str:
    """The meaning that an explanation states; empty where it states none in words of its own.

    It is taken from its opening words, or else from the start, up to the first aside or clause that shares a
    stem with the idiom; quotations and brackets are left out. A gloss without any of these stays as it is.
    """
    clauses = _CLAUSE.findall(_QUOTED.sub("", explanation))
    found = (
        (number, match.end())
        for opening in _OPENINGS[language]
        for number, clause in enumerate(clauses)
        if (match := opening.search(clause))
    )
    number, start = next(found, (0, 0))
    clauses = [clause[start if place == number else 0 :] for place, clause in enumerate(clauses)][number:]
    kept: list[str] = []
    for clause in clauses:
        if repeats(phrase, clause, language) or _ASIDE[language].match(clause):
            break
        if kept and _LATER[language].match(clause):
            break
        kept.append(clause.strip())
        if kept[-1].endswith(_CLOSED):
            break
    meaning = " ".join(kept).strip(" ،؛,;.:…-–")
    # One word is a meaning where the source calls it one; elsewhere it only reads the idiom out.
    surest = _OPENINGS[language][:1]
    return meaning if " " in meaning or any(one.search(explanation) for one in surest) else ""


def repeats(phrase: str, text: str, language: Language) -> bool:
    """Whether a text shares a stem with an idiom, particles aside."""
    told, said = (
        {stem(_bare(word, language), language) for word in word_keys(part, language)} - _PARTICLES[language]
        for part in (phrase, text)
    )
    return bool(told & said)


def _bare(word: str, language: Language) -> str:
    """A word's key without the alef of the accusative: ملحا is الملح."""
    return word[:-1] if language == "ar" and len(word) > 3 and word.endswith("ا") else word
