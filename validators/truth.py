"""Answers that say whether a statement holds."""

from collections.abc import Iterable
from functools import cache

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text import words_key
from mihakk.schemas.record import Language


@cache
def truth_words(language: Language) -> frozenset[str]:
    """Folded words of the language, and of those that items are made in: tables mix them."""
    of = {language, *languages("items")}
    return frozenset(words_key(word, one) for one in of for word in pack(one).truth)


_SUBJECTS = ("العباره ", "عباره ", "الجمله ", "جمله ", "الاجابه ", "اجابه ")
"""What some tables put before the word: `العبارة صحيحة`."""
_FEMININE = frozenset(("صحيحه", "خاطيه"))


def truth_word(answer: str, language: Language) -> str:
    """The folded word by which an answer says that something holds or not; empty where it says neither."""
    folded, known = words_key(answer, language), truth_words(language)
    if folded in known:
        return folded
    for subject in _SUBJECTS:
        folded = folded.removeprefix(subject)
    return folded if folded in _FEMININE or folded in known else ""


def says_truth(answers: Iterable[str], language: Language) -> bool:
    """Whether all of these answers, one at least, say that something holds or does not."""
    words = {truth_word(answer, language) for answer in answers}
    return bool(words) and "" not in words
