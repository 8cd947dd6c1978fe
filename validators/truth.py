"""Answers that say whether a statement holds."""

from __future__ import annotations

from collections.abc import Iterable

from mihakk.text import words_key
from schemas.record import Language

_WORDS: dict[Language, str] = {
    "ar": "نعم لا صح خطأ خطاء صحيح خاطئ صواب",
    "fa": "درست نادرست غلط بله خیر نه",
    "en": "true false yes no correct incorrect",
}
TRUTH_WORDS = frozenset(
    words_key(word, language) for language, words in _WORDS.items() for word in words.split()
)


def says_truth(answers: Iterable[str], language: Language) -> bool:
    """Whether all of these answers, one at least, say that something holds or does not."""
    words = {words_key(answer, language) for answer in answers}
    return bool(words) and words <= TRUTH_WORDS
