"""Answers that say whether a statement holds."""

from collections.abc import Iterable

from mihakk.machinery.text import words_key
from mihakk.schemas.record import Language

_WORDS: dict[Language, str] = {
    "ar": "نعم لا صح خطأ خطاء صحيح خاطئ صواب",
    "fa": "درست نادرست غلط بله خیر نه",
    "en": "true false yes no correct incorrect",
}
TRUTH_WORDS = frozenset(
    words_key(word, language) for language, words in _WORDS.items() for word in words.split()
)


_SUBJECTS = ("العباره ", "عباره ", "الجمله ", "جمله ", "الاجابه ", "اجابه ")
"""What some tables put before the word: `العبارة صحيحة`."""
_FEMININE = frozenset(("صحيحه", "خاطيه"))


def truth_word(answer: str, language: Language) -> str:
    """The folded word by which an answer says that something holds or not; empty where it says neither."""
    folded = words_key(answer, language)
    if folded in TRUTH_WORDS:
        return folded
    for subject in _SUBJECTS:
        folded = folded.removeprefix(subject)
    return folded if folded in _FEMININE or folded in TRUTH_WORDS else ""


def says_truth(answers: Iterable[str], language: Language) -> bool:
    """Whether all of these answers, one at least, say that something holds or does not."""
    words = {truth_word(answer, language) for answer in answers}
    return bool(words) and "" not in words
