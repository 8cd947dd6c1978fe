"""How near a recalled line is to the true one (GhazalBench, section 4.2, and its code)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from mihakk.evaluation.metrics.metric import Case
from mihakk.machinery.languages import pack
from mihakk.machinery.text import key
from mihakk.schemas.record import Language

Label = Literal["complete", "partial", "none"]
PARTIAL: Final = 0.2
"""Most errors a letter of the true line."""
_LETTERS: Final = str.maketrans({"ي": "ی", "ك": "ک", "ة": "ه", "ؤ": "و", "إ": "ا", "أ": "ا", "ٱ": "ا"})
_MARKS: Final = re.compile("[\u064b-\u065f\u0670]")
_ZWNJ: Final = "\u200c"


class Distance(NamedTuple):
    """Edits between two lines, and what they come to."""

    edits: int
    cer: float
    """Edits a character of the true line; above 1 where the reply is much longer."""
    label: Label


def published_fold(text: str, language: Language) -> str:
    """Text as the published code compares it: آ and ى are not folded, and of English only the spaces."""
    text = unicodedata.normalize("NFC", text)
    if pack(language).script == "Arab":
        text = _MARKS.sub("", text.translate(_LETTERS)).replace(_ZWNJ, " ")
    return " ".join(text.split())


@lru_cache(maxsize=1 << 16)
def gold_key(text: str, language: Language) -> str:
    """The key of a true line; asked for once a system."""
    return key(text, language)


@lru_cache(maxsize=1 << 16)
def published_gold(text: str, language: Language) -> str:
    """`published_fold` of a true line; asked for once a system."""
    return published_fold(text, language)


def distance(reply: str, gold: str) -> Distance:
    """Levenshtein distance in code points of two folded lines, with its label."""
    from rapidfuzz.distance import Levenshtein

    edits = Levenshtein.distance(reply, gold)
    cer = edits / max(1, len(gold))
    if edits <= allowed_edits(len(gold)):
        return Distance(edits, cer, "complete")
    return Distance(edits, cer, "partial" if cer <= PARTIAL else "none")


def nearest(case: Case) -> tuple[str, Distance]:
    """An answer's folded letters, and their distance to the nearest of the accepted answers'."""
    question = case.question
    given = key(case.reading.text, question.language)
    golds = [gold_key(one, question.language) for one in (question.answer, *question.accepted)]
    return given, min((distance(given, gold) for gold in golds), key=lambda one: (one.cer, one.edits))


def allowed_edits(length: int) -> int:
    """Edits that a complete recall of a line may have, by its characters."""
    if length < 40:
        return 1
    return 2 if length < 80 else 3
