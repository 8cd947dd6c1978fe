"""Whether two texts are the same: loosely where both are words of prose, by every sign where they are not.

`exact_key` decides what may be removed as a copy. `comparison_key` decides what is worth a look: two ways
to write one prose share it, while operators, digits, signs, case and spacing count in a text that holds a
formula, code, a symbol or a single letter (`J<<a` is not `J>>a`, `Rr` is not `rr`, `a ab` is not `aab`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from mihakk.machinery.languages import ByLanguage
from mihakk.machinery.remembered import Remembered
from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text.canonical import canonical
from mihakk.machinery.text.digits import convert
from mihakk.machinery.text.key import words_key
from mihakk.schemas.record import Language

_LETTER: Final = rf"[^\W\d_{cp.TATWEEL}][{cp.MARKS}{cp.TATWEEL}\u0300-\u036f]*+"
_JOINER: Final = f"[{cp.ZWNJ}{cp.ZWJ}{cp.SOFT_HYPHEN}{cp.BIDI_CONTROLS}{cp.ZERO_WIDTH}]*+"
_RUN: Final = f"(?:{_LETTER}{_JOINER}){{2,}}+"
_WORD: Final = re.compile(
    rf"[\"'“”«»‘’(\[{cp.BIDI_CONTROLS}]*+"
    rf"(?:{_RUN}(?:[-‑–—'’]{_RUN}|['’]{_LETTER})*+|[aIو])"
    rf"[.,;:!?،؛؟…\"'“”«»‘’)\]{cp.BIDI_CONTROLS}]*+"
)
"""A word of prose with the punctuation around it: two letters at least, but for `a`, `I` and `و`."""
_PAUSE: Final = re.compile(r"[،؛؟…,.;:!?«»“”–—]")
_CASED: Final = re.compile(r"[^\W\d_]*?[A-Z]")
_VOWELS: Final = re.compile("[aeiouyAEIOUY]")
_SHORT: Final = 3
"""Letters up to which a word of Latin letters may be a symbol."""
_ONE_LETTER: Final = frozenset("aI")
_SIGN: Final = "\0"
"""Stands before a token that is no word of prose."""


def token_forms(token: str, language: Language) -> tuple[str, str]:
    """What a token is compared by: the key of a word, anything else as written; and its canonical form."""
    exact = canonical(token, language)
    plain = convert(exact, "western") or token
    if _PAUSE.fullmatch(plain):
        return "", exact
    return words_key(plain, language) if _is_word(plain) else _SIGN + _unpunctuated(plain), exact


_SPACED: Final = ByLanguage(lambda one: one.writing.spaces == "told")
_TOKENS: Final = ByLanguage(lambda one: Remembered(partial(token_forms, language=one.code)))


def _is_word(token: str) -> bool:
    if _WORD.fullmatch(token) is None:
        return False
    letters = token if token.isalpha() else "".join(filter(str.isalpha, token))
    if len(letters) <= _SHORT and letters.isascii() and letters not in _ONE_LETTER:
        # `Rr`, `kg`, `aa` and `US` mean something else in other case; `the` and `He` do not.
        vowels = _VOWELS.search(letters) is not None and len(set(letters.casefold())) > 1
        return vowels and (letters.islower() or letters.istitle())
    cased = sum(char.lower() != char.upper() for char in letters)
    if not cased:
        return True
    # Genotypes are no words in other letters either: `Аа`, `АА`, `АаВВ`, `Bb和bb`.
    if cased < len(letters) or (
        not letters.isascii() and len(letters) <= _SHORT and len(set(letters.casefold())) == 1
    ):
        return False
    return letters.islower() or letters.istitle() or letters.isupper()


def _unpunctuated(token: str) -> str:
    """Without the full stop, comma or Arabic mark that ends a clause: none of them is an operator."""
    if len(token) > 1 and token[-1] in ".,،؛؟" and (token[-2].isalnum() or token[-2] in ")]}%$\"'"):
        return token[:-1]
    return token


def _first_article(tokens: list[str], before: Iterable[str]) -> None:
    """Takes a capital `A` that opens a sentence for the article."""
    opens = True
    for place, written in enumerate(before):
        if opens and tokens[place] == f"{_SIGN}A":
            tokens[place] = "a"
        opens = written[-1:] in ".?!:"


def exact_key(text: str, language: Language) -> str:
    """What two cells share that hold the same text: nothing but its encoding and idle spaces are left out.

    Letters are in canonical form (a presentation form is its letter); marks, digits, punctuation, case stay,
    and where the text is no prose the spaces between its parts, too.
    """
    forms = list(map(_TOKENS[language].__getitem__, text.split()))
    return exact_of(text, [loose for loose, _ in forms], [exact for _, exact in forms])


def exact_of(text: str, tokens: list[str], exact: list[str]) -> str:
    """The `exact_key` of a text whose tokens are known in both forms."""
    if _SIGN not in "".join(tokens):
        return " ".join(exact)
    parts = re.split(r"(\s+)", text.strip())
    parts[::2] = exact
    return "".join(parts).replace("\r\n", "\n") if "\r" in text else "".join(parts)


def comparison_key(text: str, language: Language) -> str:
    """What two texts share that a reader takes for the same.

    Words of prose are compared by their letters alone. In a text with any other token those
    tokens count as written (digits of one system), English words by their case and spaces as they are.
    """
    return compared(text, language).key


class Compared(NamedTuple):
    """What a text is compared by, worked out at once."""

    key: str
    """`comparison_key`."""
    words: list[str]
    """`comparison_words`."""


def compared(text: str, language: Language) -> Compared:
    """What a text is compared by."""
    parts = text.split()
    tokens = [loose for loose, _ in map(_TOKENS[language].__getitem__, parts)]
    words = words_of(" ".join(tokens))
    return Compared(key_of(text, parts, tokens, language), words)


def words_of(said: str) -> list[str]:
    """The words of a token or text by its loose form."""
    return said.replace(_SIGN, "").split()


def _prose_key(text: str, tokens: list[str], language: Language) -> str:
    """The key of words of prose; a space inside Arabic words is often one of spelling, a ZWNJ elsewhere."""
    if _SPACED[language] or text.isascii():
        return " ".join(filter(None, tokens))
    return "".join(tokens).replace(" ", "")


def key_of(text: str, parts: list[str], tokens: list[str], language: Language) -> str:
    """The `comparison_key` of a text that is divided into parts, whose loose forms are these tokens."""
    whole = "".join(tokens)
    if not whole:
        return _SIGN + text.strip() if parts else ""
    if _SIGN in whole:
        tokens = tokens.copy()
        _first_article(tokens, parts)
        whole = "".join(tokens)
    if _SIGN not in whole:
        return _prose_key(text, tokens, language)
    if len(tokens) > 2 and tokens[-1][-1:] in "?:" and tokens[-1][-2:-1].isalnum():
        tokens[-1] = tokens[-1][:-1]
    found, space, joins = [_SIGN], "", True
    for place, part in enumerate(re.split(r"(\s+)", text.strip())):
        if place % 2:
            space = part.replace("\r\n", "\n")
        elif token := tokens[place // 2]:
            word = token[0] != _SIGN
            # Between two Arabic words a space is one of spelling, here as in prose.
            joined, joins = joins, word and not part.isascii()
            found.append("" if joined and joins else space)
            found.append(_unpunctuated(part) if word and _CASED.match(part) else token.lstrip(_SIGN))
    return "".join(found)


def comparison_words(text: str, language: Language) -> list[str]:
    """The words of `text` as comparisons see them: prose folded, any other token as written."""
    return compared(text, language).words


def holds_signs(text: str, language: Language) -> bool:
    """Whether the text holds more than words of prose: a number, a formula, a symbol or a single letter."""
    return any(_SIGN in loose for loose, _ in map(_TOKENS[language].__getitem__, text.split()))
