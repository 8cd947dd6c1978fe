"""Words of vocalised text. Python's `\\w` ends a word at every haraka; here a word keeps its marks."""

import re
from typing import Final

from mihakk.machinery.text import codepoints as cp

_LETTER: Final = r"[^\W_" + cp.TATWEEL + "]"
_INSIDE: Final = f"[{cp.MARKS}{cp.TATWEEL}{cp.ZWNJ}{cp.ZWJ}{cp.SOFT_HYPHEN}{cp.BIDI_CONTROLS}{cp.ZERO_WIDTH}]"
_COMBINING: Final = "[\u0300-\u036f]"
_APOSTROPHE: Final = f"[{cp.WORD_INTERNAL}]"
# The look-behind lets a run of marks be tried once, not from each of its characters.
_BEFORE: Final = f"(?:(?<![{cp.MARKS}{cp.TATWEEL}])[{cp.MARKS}{cp.TATWEEL}]+)?"
_WORD: Final = (
    f"{_BEFORE}{_LETTER}(?:{_LETTER}|[{cp.MARKS}]|{_COMBINING}|{_INSIDE}+(?={_LETTER}|[{cp.MARKS}])"
    f"|{_APOSTROPHE}(?={_LETTER}))*{cp.TATWEEL}*"
)
_BLANK: Final = r"_{2,}|\.{2,}|…+|" + cp.TATWEEL + "+"
_WORDS: Final = re.compile(_WORD)
_TOKENS: Final = re.compile(f"{_WORD}|{_BLANK}|[^\\w\\s{cp.MARKS}{cp.ZWNJ}{cp.ZWJ}{cp.BIDI_CONTROLS}]|_")
_VOCALISATION: Final = re.compile(f"[{cp.VOCALISATION}]+")


def words(text: str) -> list[str]:
    """The words and numbers of `text` as written, in order, without punctuation."""
    return _WORDS.findall(text)


def tokens(text: str) -> list[str]:
    """The words, numbers, blanks and punctuation marks of `text` as written, in order."""
    return _TOKENS.findall(text)


def strip_marks(text: str) -> str:
    """`text` without vowel signs, shadda and Quranic marks; hamza and madda are parts of letters and stay."""
    return _VOCALISATION.sub("", text)
