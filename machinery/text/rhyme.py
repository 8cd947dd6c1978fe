"""Rhyme keys: what the second hemistichs of one poem have in common."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

from mihakk.machinery.languages import pack
from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text._tokens import words
from mihakk.machinery.text.canonical import canonical
from mihakk.machinery.text.key import words_key
from mihakk.schemas.record import Language

# The part of a poem that must share an ending before it counts as its rhyme: editions carry stray lines.
SHARED: Final = 0.75

_PIECE: Final = re.compile(f"([{cp.LETTERS}])([{cp.MARKS}]*)")
_HAMZA_SEATS: Final = str.maketrans(dict.fromkeys("أؤئإ", cp.HAMZA) | {"آ": cp.HAMZA + cp.ALEF, "ٱ": cp.ALEF})
_LONG: Final = "اوي"
_TANWIN: Final = "\u064b\u064c\u064d"
_VOWELS: Final = {
    **dict.fromkeys("\u064b\u064e", "a"),
    **dict.fromkeys("\u064c\u064f", "u"),
    **dict.fromkeys("\u064d\u0650", "i"),
    cp.SUKUN: "0",
}
_SHORT: Final = "\u064e\u064f\u0650" + _TANWIN


def rhyme(hemistich: str, language: Language) -> str:
    """The rhyme key of one hemistich, empty without a letter.

    Arabic: the rawi, then the letters that follow it in every couplet (heh, alef); the yeh and waw that only
    lengthen its vowel are left out, as many editions leave them out. Persian: the last word from its last
    long vowel on; the rhyme before a radif takes the poem (`poem_rhyme`). English: the last word's key.
    """
    scheme = pack(language).rhyme
    if scheme == "rawi":
        return _last_rawi(hemistich).key
    tail = words(canonical(hemistich, language))
    if not tail:
        return ""
    folded = words_key(tail[-1], language).replace(" ", "")
    if scheme == "last_word":
        return folded
    vowels = [i for i, letter in enumerate(folded) if letter in _LONG]
    return folded[min(vowels[-1], len(folded) - 2) :] if vowels and len(folded) > 1 else folded[-2:]


def rhyme_vowel(hemistich: str, language: Language) -> str:
    """The vowel behind the rawi of an Arabic hemistich: `a`, `u`, `i`, or `0` for a sukun.

    Empty where the edition does not write it, where the key tells it (an alef), and in other languages. Two
    hemistichs with one key whose written vowels differ do not rhyme (iqwa).
    """
    return _last_rawi(hemistich).vowel if pack(language).rhyme == "rawi" else ""


def ridf(hemistich: str, language: Language) -> str:
    """The long vowel just before the rawi of an Arabic hemistich, `ا` or `و` (for which a yeh may stand).

    Empty where there is none, and in other languages: بالي and أهلي have one key and do not rhyme.
    """
    return _last_rawi(hemistich).ridf if pack(language).rhyme == "rawi" else ""


def parted_by_radif(one: str, other: str) -> bool:
    """Whether two Persian hemistichs (keys of their words) share last words, before which they don't rhyme.

    Before a radif the last letters must be the same, and a long vowel that one of them has before it.
    """
    ends = (one.split(), other.split())
    radif = 0
    while radif < min(map(len, ends)) and ends[0][-radif - 1] == ends[1][-radif - 1]:
        radif += 1
    if not radif:
        return False
    left = {end[-radif - 1] if radif < len(end) else "" for end in ends}
    return "" in left or len({word[-2 if word[-2:-1] in _LONG else -1 :] for word in left}) > 1


def poem_rhyme(endings: Sequence[str], language: Language) -> str:
    """The rhyme of a poem from the hemistichs that should share it; empty where three quarters share none.

    Persian: the longest shared ending, as a key with a space between words: the letters of the qafiye and
    then the radif. Arabic: the most common `rhyme`.
    """
    if pack(language).rhyme == "qafiya":
        return _shared_ending([folded for ending in endings if (folded := words_key(ending, language))])
    found = Counter(folded for ending in endings if (folded := rhyme(ending, language)))
    if not found:
        return ""
    best, n = found.most_common(1)[0]
    return best if n >= ceil(SHARED * found.total()) else ""


def _shared_ending(endings: Sequence[str]) -> str:
    if not endings:
        return ""
    needed = ceil(SHARED * len(endings))
    best = ""
    for length in range(1, max(map(len, endings)) + 1):
        tails = Counter(ending[-length:] for ending in endings if len(ending) >= length)
        tail, n = tails.most_common(1)[0] if tails else ("", 0)
        if n < needed:
            break
        best = tail
    return best.lstrip()


Piece = tuple[str, str]
"""A letter and its marks."""


def _pieces(word: str) -> list[Piece]:
    """The letters of a word that are heard at its end, each with its marks; hamzas are one letter."""
    found = [(letter, marks) for letter, marks in _PIECE.findall(word)]
    pieces = [(c, marks) for letter, marks in found for c in letter.translate(_HAMZA_SEATS)]
    # The alef after a plural waw, and the one that only seats a tanwin, are silent: كتبوا, رجلاً.
    if len(pieces) > 2 and pieces[-1][0] == cp.ALEF and pieces[-2][0] == "و" and not _moves(pieces[-2]):
        pieces.pop()
    return pieces


def _moves(piece: Piece) -> bool:
    """Whether the marks say that a vowel of its own follows the letter."""
    return any(mark in _SHORT or mark == cp.SHADDA for mark in piece[1])


def _vowel(piece: Piece) -> str:
    return next((_VOWELS[mark] for mark in piece[1] if mark in _VOWELS), "")


class _Rawi(NamedTuple):
    """What an Arabic last word rhymes by."""

    key: str
    vowel: str
    ridf: str


@lru_cache(16)  # key, vowel and ridf of a line are asked for one after the other
def _last_rawi(hemistich: str) -> _Rawi:
    tail = words(canonical(hemistich, "ar"))
    return _rawi(_pieces(tail[-1]) if tail else ())


def _rawi(pieces: Sequence[Piece]) -> _Rawi:
    letters = [letter for letter, _ in pieces]
    n = len(pieces)
    if n < 2:
        return _Rawi("".join(letters), _vowel(pieces[0]) if pieces else "", "")
    last, before = pieces[-1], pieces[-2]
    if last[0] in "اى":
        if n > 2 and before[0] == cp.HEH and _wasl_heh(pieces[:-1]):
            return _Rawi(letters[-3] + cp.HEH + cp.ALEF, _vowel(pieces[-3]), _ridf(pieces[:-3]))
        return _Rawi(_plain(before[0]) + cp.ALEF, "", _ridf(pieces[:-2]))
    if last[0] in "وي" and not _moves(last) and before[0] not in _LONG and cp.SUKUN not in before[1]:
        # Only a lengthened vowel; behind a heh of its own it lengthens that one: كتابهو.
        found = _rawi(pieces[:-1])
        unsaid = "" if len(found.key) > 1 else "u" if last[0] == "و" else "i"
        return found._replace(vowel=found.vowel or unsaid)
    if last[0] == "ة" and any(mark in _SHORT for mark in last[1]):
        return _Rawi("ت", _vowel(last), _ridf(pieces[:-1]))
    if last[0] in "هة" and _wasl_heh(pieces):
        return _Rawi(_plain(before[0]) + cp.HEH, _vowel(before), _ridf(pieces[:-2]))
    return _Rawi(_plain(last[0]), _vowel(last), _ridf(pieces[:-1]))


def _ridf(before: Sequence[Piece]) -> str:
    """The long vowel that the pieces before a rawi end in; marks on an alef are its lam's (لاَ)."""
    if not before or (before[-1][0] != cp.ALEF and _moves(before[-1])):
        return ""
    return {"ا": "ا", "و": "و", "ي": "و"}.get(before[-1][0], "")


def _wasl_heh(pieces: Sequence[Piece]) -> bool:
    """Whether the final heh only follows the rawi: unless a long vowel or a sukun stands before it."""
    return len(pieces) > 1 and pieces[-2][0] not in "اويى" and cp.SUKUN not in pieces[-2][1]


def _plain(letter: str) -> str:
    return {"ى": cp.ALEF, "ة": cp.HEH}.get(letter, letter)
