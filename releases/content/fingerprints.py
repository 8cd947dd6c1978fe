"""Fingerprints of texts: what two printings share, whatever their marks, spaces and letter variants.

Winnowing (S. Schleimer, D. S. Wilkerson, A. Aiken, 2003): of every few runs of letters in a row one is kept,
the same wherever the run stands, so that two texts which share 20 letters share a fingerprint.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote
from zlib import crc32

from mihakk.machinery.text import key
from mihakk.machinery.text.encoding import decodings
from mihakk.machinery.unpacked import strings
from mihakk.releases.content.split import LABELS, work

LETTERS = 16
"""Of a run; two texts share `LETTERS + WINDOW - 1` letters before they surely share a fingerprint."""
WINDOW = 5
REACH = LETTERS + WINDOW - 2
"""Letters of the longest text that may have no fingerprint but as a whole."""
LEAST = 6
"""Letters of a short text that is a fingerprint as a whole; a shorter one is nobody's own."""
POEM = "poem "
"""Before a fingerprint that stands for the whole poem with its labels, and not for the line alone."""
NAMES = frozenset({"poet", "title"})
"""Fields that name what a text is from."""
PIECES = re.compile(r"[\n\t/*…|=«»]|\s{2,}")
"""Between texts that stand in one field."""

MORE_PIECES = (re.compile(r'[\n\t"<>]'), re.compile(r"""[\n\t"'<>,;:|]"""))
"""Between texts in the source of a page, of JSON or of a table: quotes and tags, or whatever parts cells."""

_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.S
)
_SIGNS: Final = {"n": "\t", "r": "\t", "t": "\t", "b": "", "f": ""}
_TAG: Final = re.compile(r"<[^<>]*>")
_LATIN: Final = re.compile("[\u00d8-\u00db][\u0080-\u00ff\u0152-\u2122]")
"""How UTF-8 of Arabic and Persian begins where it was read as a Western encoding."""
_WESTERN: Final = re.compile("[\u00c0-\u00ff]{3}")
"""Arabic of one byte a letter, read so."""
_ROUNDS: Final = 8
"""How often what was undone is undone again: JSON in a cell of JSON, entities of entities."""


class _Letters(dict[int, str]):
    """The letter that another one is a form of, by its name: dotless, Maghribi, or with other dots.

    For what is compared with a seal alone: two words that differ in such letters are two words elsewhere.
    """

    _BASE: Final = {
        unicodedata.name(letter).removeprefix("ARABIC LETTER "): letter
        for letter in "ابتثجحخدذرزسشصضطظعغفقكلمنهويپچژگ"
    }

    def __missing__(self, point: int) -> str:
        char = chr(point)
        self[point] = found = self._of(char, unicodedata.name(char, ""))
        return found

    def _of(self, char: str, name: str) -> str:
        # What stretches a line, stands above one or fills a place is no letter, whatever Unicode calls it.
        if "TATWEEL" in name or "FILLER" in name or name.startswith("ARABIC SMALL"):
            return ""
        own, letter, words = name.partition("ARABIC LETTER ")
        named = words.partition(" WITH ")[0].split() if letter and not own else ()
        base = next((self._BASE[one] for one in named if one in self._BASE), "")
        return key(base, "ar") or char


_LETTERS_OF: Final = _Letters()


def letters_of(text: str) -> str:
    """The letters and digits by which texts are compared, whatever language one is said to be in."""
    return key(text, "ar").translate(_LETTERS_OF)


def readings(text: str) -> list[str]:
    """A text as it stands, and as it reads with entities, escapes, tags or a wrong encoding undone.

    The last one is that of which most is undone, tags aside.
    """
    found = [text]
    while len(found) <= _ROUNDS and (plain := _plain(found[-1])) != found[-1]:
        found.append(plain)
    *before, last = found
    further = [other for one in found for other in _misread(one)]
    untagged = [bare for one in (*found, *further) if "<" in one and (bare := _TAG.sub("", one)) != one]
    return [*dict.fromkeys(one for one in (*before, *further, *untagged) if one != last), last]


def _plain(text: str) -> str:
    """With entities, percent signs and escapes undone, once; what stands around them stays."""
    if "&" in text:
        text = html.unescape(text)
    if "%" in text:
        text = unquote(text)
    if "\\" in text:
        # Two halves of one character, as JSON may write it, are one.
        text = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unescaped(found: re.Match[str]) -> str:
    if found[5] is not None:
        # A quoted quote is part of the text, and no end of it.
        return _SIGNS.get(found[5], "" if found[5] in "\"'" else found[5])
    point = int(next(one for one in found.groups() if one), 16)
    return chr(point) if point <= sys.maxunicode else ""


def _misread(text: str) -> Iterator[str]:
    if _WESTERN.search(text):
        for encoding in ("cp1256", "iso8859-6"):
            yield text.encode("cp1252", "replace").decode(encoding, "replace")
    if _LATIN.search(text):
        for encoding in ("latin-1", "cp1252"):
            yield text.encode(encoding, "replace").decode("utf-8", "replace")


def fingerprints(texts: Iterable[str]) -> set[str]:
    """Fingerprints of texts, together."""
    found: set[str] = set()
    for text in texts:
        found.update(_winnowed(letters_of(text)))
        found |= _short(text, PIECES)
    return found


def _short(text: str, *separators: re.Pattern[str]) -> set[str]:
    """Fingerprints of short texts that stand alone."""
    pieces = {piece for one in separators if one.search(text) for piece in one.split(text)} or {text}
    found = (letters_of(piece) for piece in pieces)
    return {f"={letters}" for letters in found if LEAST <= len(letters) <= REACH}


def consecutive(texts: Iterable[str], seen: set[tuple[str, str]] | None = None) -> Iterator[set[str]]:
    """Fingerprints of each text, by itself and with those before it: 20 letters in a row, however parted.

    What is in `seen`, with the same letters before it, gives none; each text is added to it.
    """
    seen = set() if seen is None else seen
    before = last = longest = ""
    for text in texts:
        own, alone = _alone(text) if len(text) <= _KEPT else _alone.__wrapped__(text)
        found = set[str]()
        if (before, text) not in seen:
            seen.add((before, text))
            # What stands whole in an earlier text (a prompt holds its question) has its fingerprints there.
            told = len(own) > REACH and own in longest
            found.update(alone, _seam(before + own[:REACH]))
            found.update(() if told or len(own) <= REACH else _winnowed(own))
            found |= {f"={last}{own}"} if last and LEAST <= len(last + own) <= REACH else set()
        yield found
        before, last = (before + own)[-REACH:], own if len(own) <= REACH else ""
        if len(longest) < len(own) <= _LONGEST:
            longest = own


@lru_cache(maxsize=1 << 14)
def _alone(text: str) -> tuple[str, frozenset[str]]:
    """The letters of a text, and its fingerprints as a short one; many rows have the same texts."""
    own = "" if _DIGEST.fullmatch(text) else letters_of(text)
    whole = {f"={own}"} if len(own) >= LEAST else set[str]()
    return own, frozenset(whole | _short(text, PIECES, *MORE_PIECES))


_KEPT: Final = 200
"""Characters of the longest text that is remembered."""
_DIGEST: Final = re.compile(r"[0-9a-f-]{16,}")
"""What is no text, and would be most of what a release registers."""
_LONGEST: Final = 1 << 14
"""Letters of a text in which later ones are looked for."""


@lru_cache(maxsize=1 << 16)
def _seam(letters: str) -> frozenset[str]:
    """Those of a few letters; most rows have the same labels, licences and names beside each other."""
    return frozenset(_winnowed(letters))


def _winnowed(letters: str) -> Iterator[str]:
    ranks = _ranks(letters)
    least = -WINDOW
    for last in range(max(0, min(WINDOW, len(ranks)) - 1), len(ranks)):
        if least <= last - WINDOW:
            start = max(0, last - WINDOW + 1)
            least = min(range(start, last + 1), key=ranks.__getitem__)
        elif ranks[last] < ranks[least]:
            least = last
        else:
            continue
        yield letters[least : least + LETTERS]


def _ranks(letters: str) -> list[int]:
    """Of each run of letters; encoded together where all take two bytes, which is twice as fast."""
    if letters and min(letters) >= "\x80" and max(letters) < "\u0800":
        data, run = letters.encode(), 2 * LETTERS
        return [crc32(data[start : start + run]) for start in range(0, len(data) - run + 1, 2)]
    return [crc32(letters[start : start + LETTERS].encode()) for start in range(len(letters) - LETTERS + 1)]


def beside(texts: Sequence[str], asked: Iterable[str] = ()) -> set[str]:
    """Fingerprints across the seams of neighbouring texts, and of the last of them with each one asked for.

    Else a line that is printed in two halves had none, nor had a couplet with another word in each line.
    """
    letters = [letters_of(text) for text in texts]
    seams = list(pairwise(letters)) + [(letters[-1], letters_of(text)) for text in asked if letters]
    found = {run for one, other in seams for run in _winnowed(one[-REACH:] + other[:REACH])}
    short = (one + other for one, other in seams if LEAST <= len(one + other) <= REACH)
    return found.union(f"={whole}" for whole in short)


def poem_marks(texts: Sequence[str]) -> frozenset[str]:
    """What stands for a whole poem, where the fingerprints of its lines stand for these alone."""
    return as_poem(fingerprints(texts) | beside(texts))


def as_poem(marks: Iterable[str]) -> frozenset[str]:
    """The fingerprints of lines as those of the poem that they are of."""
    return frozenset(f"{POEM}{mark}" for mark in marks)


def own_marks(row: Mapping[str, Any]) -> set[str]:
    """Fingerprints of the texts that an item or row is about and asks for; labels and names are none.

    A question is one, as a whole, only where nothing else says what is asked about: many share a template.
    """
    about, asked = _about(row), _asked_for(row)
    found = fingerprints((*about, *asked)) | beside(about, asked)
    return found if about else found | _whole(row)


def about_marks(row: Mapping[str, Any]) -> set[str]:
    """Fingerprints of what a row asks about, its answer and options aside."""
    return fingerprints(_about(row)) or _whole(row)


def shown_marks(row: Mapping[str, Any]) -> set[str]:
    """Fingerprints of all that an open row prints, in whichever column, and of the work that it names."""
    # Bytes are every text that they may be.
    texts = list(strings(row, decodings))
    read = [readings(text) for text in texts]
    undone = [forms[-1] for forms in read]
    found = set[str]().union(*consecutive(texts))
    if undone != texts:
        found.update(*consecutive(undone))
    for text, forms in zip(texts, read, strict=True):
        found.update(*(run for form in forms if form not in (text, forms[-1]) for run in consecutive([form])))
    return found | beside(_about(row), _asked_for(row)) | work_marks(row)


def work_marks(row: Mapping[str, Any]) -> set[str]:
    """Fingerprint of the poem or idiom that an item or row is about; none where it names no record."""
    records = (row.get("origin") or {}).get("records") or ()
    return {f"work {work(records[0])}"} if records else set()


def _whole(row: Mapping[str, Any]) -> set[str]:
    letters = letters_of(row.get("question") or "")
    return {f"={letters}"} if len(letters) >= LEAST else set()


def _about(row: Mapping[str, Any]) -> list[str]:
    fields = row.get("fields") or {}
    poet = fields.get("poet") or (row.get("metadata") or {}).get("poet") or ""
    texts = [text for name, text in fields.items() if name not in NAMES and text != poet]
    return [text for text in (*texts, row.get("context"), *(row.get("verses") or ())) if text]


def _asked_for(row: Mapping[str, Any]) -> list[str]:
    texts = [row.get("answer"), row.get("overall")]
    for name in ("accepted", "explanations"):
        texts += row.get(name) or ()
    if not LABELS & set(row.get("option_kinds") or ()):
        texts += row.get("options") or ()
    return [text for text in texts if text]
