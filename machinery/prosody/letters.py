"""What each letter of a hemistich may sound like: moved (1), quiescent (0), both or neither, and how likely.

Vowel signs decide where they stand. Most editions write no sukun and no sign before a long vowel; bare text
leaves nearly every letter open. The metre then has to choose, at a cost.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text import key, words

Sounds = dict[str, float]
"""Strings of 1 and 0 a letter may stand for, and the cost of each."""

_PIECE: Final = re.compile(f"([{cp.LETTERS}])([{cp.MARKS}]*)")
_SHORT: Final = frozenset("\u064e\u064f\u0650")
_TANWIN: Final = frozenset("\u064b\u064c\u064d")
_WEAK: Final = "اويى"
_PREFIXES: Final = "وفبكل"
_HIDDEN: Final = {
    **{"هذا": 0, "هذه": 0, "هذي": 0, "هذان": 0, "هذين": 0, "هولاء": 0, "ذلك": 0, "ذلكم": 0, "اوليك": 2},
    **{"لكن": 0, "لكنه": 0, "لكنها": 0, "لكني": 0, "لكنني": 0, "لكنهم": 0, "اله": 1, "الاله": 3, "الهي": 1},
    **{"الرحمن": 4, "الله": 2, "اللهم": 2, "لله": 1},
}
"""Key of a word to the letter after which an alef sounds that is not written."""
SLIP: Final = 4.0
"""Cost of a letter that sounds as its writing does not allow: a misprint, a licence, a rare word."""


class Piece(NamedTuple):
    letter: str
    marks: str


def lattice(hemistich: str) -> list[Sounds]:
    """For each letter of a hemistich in canonical text, in order, what it may sound like."""
    spelt = [[Piece(*piece) for piece in _PIECE.findall(word)] for word in words(hemistich)]
    spelt = [pieces for pieces in spelt if pieces]
    signed = vocalised(hemistich)
    sounds: list[Sounds] = []
    for number, pieces in enumerate(spelt):
        following = spelt[number + 1] if number + 1 < len(spelt) else None
        sounds += _word(pieces, following, first=number == 0, signed=signed)
    if sounds:
        sounds[-1] = _last(spelt[-1], sounds[-1])
    return [_with_slips(options) for options in sounds]


@lru_cache(64)
def vocalised(hemistich: str) -> float:
    """How much a letter without a sign says: 0 nothing, as in bare text, 1 that it is quiescent.

    It grows with the share of signs on letters other than long vowels: 0 up to a tenth, 1 from seven tenths.
    """
    able = [marks for letter, marks in _PIECE.findall(hemistich) if letter not in _WEAK or marks]
    share = sum(map(bool, able)) / len(able) if able else 0.0
    return min(1.0, max(0.0, (share - 0.1) / 0.6))


def _word(pieces: list[Piece], following: list[Piece] | None, *, first: bool, signed: float) -> list[Sounds]:
    letters = "".join(piece.letter for piece in pieces)
    hidden, article = _hidden(letters), _article(letters, pieces)
    sounds: list[Sounds] = []
    for place, piece in enumerate(pieces):
        after = pieces[place + 1] if place + 1 < len(pieces) else None
        if place == 0 and piece.letter in "اٱ":
            options = _first_alef(piece, after, first=first)
        elif place in article:
            options = {"": 0.1, "0": 1.5} if piece.letter == "ا" else _lam(after)
        elif piece.letter in _WEAK and not piece.marks:
            options = _weak(pieces, place, following, signed=signed)
        else:
            options = _consonant(pieces, place, signed=signed)
        if place == hidden:
            options = {sound + "0" if sound.endswith("1") else sound: cost for sound, cost in options.items()}
        sounds.append(options)
    return sounds


@lru_cache(1 << 14)
def _hidden(letters: str) -> int | None:
    bare = key(letters, "ar")
    for skipped in range(2):
        if bare[skipped:] in _HIDDEN and (not skipped or bare[0] in _PREFIXES):
            return _HIDDEN[bare[skipped:]] + skipped
    return None


def _first_alef(piece: Piece, after: Piece | None, *, first: bool) -> Sounds:
    """Joined to the word before, the alef of the article and of many verbs and nouns is silent."""
    if first:
        return {"1": 0.0, "": 3.0}
    if after is not None and after.letter == "ل":
        return {"": 0.05, "1": 2.0}
    return {"": 0.3, "1": 1.2} if piece.marks or (after and not after.marks) else {"": 0.6, "1": 0.7}


def _article(letters: str, pieces: list[Piece]) -> list[int]:
    """Places of an article's letters: its lam behind a first alef, or both letters behind one prefix."""
    if letters.startswith(("ال", "ٱل")):
        places = [1] if len(letters) >= 4 else []
    else:
        places = [1, 2] if len(letters) > 4 and letters[0] in _PREFIXES and letters[1:3] == "ال" else []
    return [place for place in places if not pieces[place].marks or pieces[place].letter == "ا"]


def _lam(after: Piece | None) -> Sounds:
    """Before a sun letter with a shadda, the lam is in the shadda."""
    return {"": 0.0} if after is not None and cp.SHADDA in after.marks else {"0": 0.0, "1": 3.0}


def _weak(pieces: list[Piece], place: int, following: list[Piece] | None, *, signed: float) -> Sounds:
    letter, before = pieces[place].letter, pieces[place - 1] if place else None
    final = place == len(pieces) - 1
    if before is None:
        return {"1": 0.0}
    if letter in "اى":
        if letter == "ا" and final and before == ("و", "") and len(pieces) > 2:
            return {"": 0.1, "0": 2.0}
        if not _TANWIN.isdisjoint(before.marks):
            return {"": 0.0}
        options: Sounds = {"0": 0.0}
        if place == 1 and before.letter in _PREFIXES and not final:
            options[""] = 1.0
    else:
        long = not before.marks or not _SHORT.isdisjoint(before.marks)
        options = {"0": 0.3 - 0.2 * signed if long else 1.0, "1": 1.3 + 0.7 * signed, "01": 2.6}
    if final:
        joined = following is not None and following[0].letter in "اٱ"
        options[""] = 0.2 if joined else 2.5
        if letter == "و" and len(pieces) == 4:
            options[""] = min(options[""], 2.0)
    return options


def _consonant(pieces: list[Piece], place: int, *, signed: float) -> Sounds:
    letter, marks = pieces[place]
    after = pieces[place + 1] if place + 1 < len(pieces) else None
    double = "0" if cp.SHADDA in marks and place else ""
    tail = "0" if cp.SUPERSCRIPT_ALEF in marks else ""
    if letter == "آ":
        return {"10": 0.0}
    if not _TANWIN.isdisjoint(marks):
        # On the alef that only seats it, the sign belongs to the letter before.
        return {"0": 0.0, "10": 1.5} if letter in "اى" else {double + "10": 0.0, double + "1": 2.0}
    if not _SHORT.isdisjoint(marks):
        if letter in "اٱ":
            return {"": 0.6, "1": 0.6}
        return _lengthened(pieces, place, {double + "1" + tail: 0.0})
    if cp.SUKUN in marks:
        return {"0": 0.0, "1": 2.0}
    if double:
        return {"01": 0.1, "0": 1.0, "010": 1.0} if after is None else {"01": 0.0}
    return _unsigned(pieces, place, signed=signed)


def _lengthened(pieces: list[Piece], place: int, options: Sounds) -> Sounds:
    """The heh of a pronoun and the mim of a plural may be long."""
    if place == len(pieces) - 1 and place and pieces[place].letter in "هم":
        return options | {"10": 0.5 if pieces[place].letter == "ه" else 1.0}
    return options


def _unsigned(pieces: list[Piece], place: int, *, signed: float) -> Sounds:
    letter = pieces[place].letter
    after = pieces[place + 1] if place + 1 < len(pieces) else None
    final = after is None
    if place == 0:
        return {"1": 0.0}
    if letter == "ة":
        return {"1": 0.4, "10": 1.2, "0": 1.2}
    if after is not None and after.letter in "اى" and _TANWIN.issuperset(after.marks):
        return {"1": 0.0, "01": 2.2 - signed}
    if after is not None and after.letter in "وي" and not after.marks:
        return {"1": 0.2, "0": 1.5 - 0.3 * signed, "01": 2.5}
    options = {"1": 0.5 + (0.5 if final else 1.1) * signed, "0": 1.0 - 0.9 * signed, "01": 2.3 + signed}
    if final:
        options["10"] = (0.8 if letter == "ه" else 1.7) + signed
    return options


def _last(pieces: list[Piece], options: Sounds) -> Sounds:
    """At the end of a hemistich a short vowel is lengthened, and an unsigned letter may have one or none."""
    last = pieces[-1]
    if last.letter in _WEAK and not last.marks:
        return {"0": 0.0, "10": 2.0, "": 2.0}
    if last.letter == "ة" and not last.marks:
        return {"0": 0.0, "10": 1.0}
    longer = {sound + "0" if sound.endswith("1") else sound: cost for sound, cost in options.items()}
    if not last.marks:
        longer |= {"0": min(0.6, longer.get("0", 0.6)), "10": min(0.6, longer.get("10", 0.6))}
    return longer


def _with_slips(options: Sounds) -> Sounds:
    return dict.fromkeys(("", "0", "1", "01", "10"), SLIP) | options
