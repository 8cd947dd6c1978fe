"""Keys: what two spellings of the same words have in common. For matching only, never shown as text."""

import unicodedata
from collections.abc import Iterable
from typing import Final

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text._orthography import spell_allah
from mihakk.machinery.text._tokens import words
from mihakk.machinery.text.codepoints import Language


class _Fold(dict[int, str]):
    """A translation table that works out each code point when first met, so that one pass makes a key."""

    def __init__(self, language: Language, *, spaced: bool) -> None:
        self.language = language
        self.spaced = spaced

    def __missing__(self, point: int) -> str:
        char = chr(point)
        self[point] = folded = self.fold(char)
        return folded

    def fold(self, char: str) -> str:
        parts = []
        for part in unicodedata.normalize("NFKD", char) if char.isalnum() else "":
            letter = cp.KEY_LETTERS.get(part, part)
            if self.language == "ar":
                letter = cp.PERSIAN_LETTERS.get(letter, letter)
            if letter.isdecimal():
                parts.append(str(unicodedata.digit(letter)))
            elif letter.isalnum():
                parts.append(letter.casefold())
        if parts or not self.spaced:
            return "".join(parts)
        return " " if _ends_word(char) else ""


def _ends_word(char: str) -> bool:
    """White space, punctuation and symbols end a word; marks, joiners, controls and apostrophes do not."""
    if char in cp.KEY_LETTERS or char in cp.WORD_INTERNAL or char in cp.FORM_MARKS:
        return False
    return char.isspace() or unicodedata.category(char)[0] in "PSZ"


class _FoldedWords(dict[str, str]):
    """A cache of folded words: texts of one kind say the same words again and again."""

    def __init__(self, fold: _Fold) -> None:
        self.table = fold

    def __missing__(self, token: str) -> str:
        folded = " ".join(spell_allah(token).translate(self.table).split())
        if len(token) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[token] = folded
        return folded


_LONGEST_KEPT: Final = 40
_MOST_KEPT: Final = 1 << 16
"""Some 15 MB a language."""
_KEY: Final = cp.ByLanguage({language: _Fold(language, spaced=False) for language in cp.LANGUAGES})
_WORDS_KEY: Final = cp.ByLanguage(
    {language: _FoldedWords(_Fold(language, spaced=True)) for language in cp.LANGUAGES}
)


def key(text: str, language: Language) -> str:
    """`text` with marks, spaces, punctuation and joiners gone, one letter for its variants, ASCII digits.

    The key of a raw text and of its canonical form are the same.
    """
    return spell_allah(text).translate(_KEY[language])


def words_key(text: str, language: Language) -> str:
    """The key of `text` with one space where a word ends."""
    return folded_words(text.split(), language)


def folded_words(tokens: Iterable[str], language: Language) -> str:
    """The key of a text divided at spaces or at all white space, with one space where a word ends."""
    return " ".join(filter(None, map(_WORDS_KEY[language].__getitem__, tokens)))


def word_keys(text: str, language: Language) -> list[str]:
    """The keys of the words of `text`, in order."""
    return [folded for word in words(text) if (folded := key(word, language))]
