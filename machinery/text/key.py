"""Keys: what two spellings of the same words have in common. For matching only, never shown as text."""

import unicodedata
from collections.abc import Iterable
from functools import partial
from typing import Final

from mihakk.machinery.languages import ByLanguage, Pack
from mihakk.machinery.remembered import Remembered
from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text._orthography import spell_allah
from mihakk.machinery.text._tokens import words
from mihakk.schemas.record import Language


class _Fold(dict[int, str]):
    """A translation table that works out each code point when first met, so that one pass makes a key."""

    def __init__(self, pack: Pack, *, spaced: bool) -> None:
        self.folds = pack.writing.key_folds
        self.marked = pack.writing.marks == "kept"
        self.spaced = spaced

    def __missing__(self, point: int) -> str:
        char = chr(point)
        self[point] = folded = self.fold(char)
        return folded

    def fold(self, char: str) -> str:
        parts = []
        told = char.isalnum() or (self.marked and _is_mark(char))
        for part in unicodedata.normalize("NFKD", char) if told else "":
            letter = cp.KEY_LETTERS.get(part, part)
            letter = self.folds.get(letter, letter)
            if letter.isdecimal():
                parts.append(str(unicodedata.digit(letter)))
            elif letter.isalnum() or (self.marked and letter and _is_mark(letter)):
                parts.append(letter.casefold())
        if parts or not self.spaced:
            return "".join(parts)
        return " " if _ends_word(char) else ""


def _is_mark(char: str) -> bool:
    """Whether a character is a combining mark, or a radical that stands for its Chinese character."""
    return unicodedata.category(char)[0] == "M" or is_radical(char)


def is_radical(char: str) -> bool:
    """Whether PDF extraction put a radical in place of a Chinese character: `⼤` for `大`."""
    return "\u2e80" <= char <= "\u2fd5"


def _ends_word(char: str) -> bool:
    """White space, punctuation and symbols end a word; marks, joiners, controls and apostrophes do not."""
    if char in cp.KEY_LETTERS or char in cp.WORD_INTERNAL or char in cp.FORM_MARKS:
        return False
    return char.isspace() or unicodedata.category(char)[0] in "PSZ"


def _folded_token(token: str, table: _Fold) -> str:
    return " ".join(spell_allah(token).translate(table).split())


_KEY: Final = ByLanguage(lambda pack: _Fold(pack, spaced=False))
_WORDS_KEY: Final = ByLanguage(
    lambda pack: Remembered(partial(_folded_token, table=_Fold(pack, spaced=True)))
)


def key(text: str, language: Language) -> str:
    """`text` with spaces, punctuation, joiners and (by its pack) marks gone, one letter for its variants.

    Digits are ASCII. The key of a raw text and of its canonical form are the same.
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
