"""Fingerprints of texts: what two printings share, whatever their marks, spaces and letter variants.

Winnowing (S. Schleimer, D. S. Wilkerson, A. Aiken, 2003): of every few runs of letters in a row one is kept,
the same wherever the run stands, so that two texts which share 20 letters share a fingerprint.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote
from zlib import crc32

from mihakk.machinery.text import key
from mihakk.releases.content.split import LABELS, work

LETTERS = 16
"""Of a run; two texts share `LETTERS + WINDOW - 1` letters before they surely share a fingerprint."""
WINDOW = 5
LEAST = 6
"""Letters of a short text that is a fingerprint as a whole; a shorter one is nobody's own."""
POEM = "poem "
"""Before a fingerprint that stands for the whole poem with its labels, and not for the line alone."""
NAMES = frozenset({"poet", "title"})
"""Fields that name what a text is from."""
PIECES = re.compile(r"[\n\t/*…|=«»]|\s{2,}")
"""Between texts that stand in one field."""

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_LATIN: Final = re.compile("[\u00d8-\u00db][\u0080-\u00ff\u0152-\u2122]")
"""How UTF-8 of Arabic and Persian begins where it was read as a Western encoding."""
_WESTERN: Final = re.compile("[\u00c0-\u00ff]{3}")
"""Arabic of one byte a letter, read so."""


def readings(text: str) -> list[str]:
    """A text as it stands, and as it reads with entities, escapes or a wrong encoding undone."""
    return list(dict.fromkeys((text, *_undone(text))))


def _undone(text: str) -> Iterator[str]:
    if "&" in text:
        yield html.unescape(text)
    if "%" in text:
        yield unquote(text)
    if "\\u" in text:
        yield _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
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
        # The letters of Arabic and Persian alike, whatever language a text is said to be in.
        found.update(_winnowed(key(text, "ar")))
        for piece in PIECES.split(text):
            letters = key(piece, "ar")
            if LEAST <= len(letters) < LETTERS + WINDOW - 1:
                found.add(f"={letters}")
    return found


def _winnowed(letters: str) -> Iterator[str]:
    runs = [letters[start : start + LETTERS] for start in range(len(letters) - LETTERS + 1)]
    ranks = [crc32(run.encode()) for run in runs]
    for start in range(max(1, len(ranks) - WINDOW + 1) if ranks else 0):
        window = ranks[start : start + WINDOW]
        yield runs[start + window.index(min(window))]


def beside(texts: Sequence[str], asked: Iterable[str] = ()) -> set[str]:
    """Fingerprints across the seams of neighbouring texts, and of the last of them with each one asked for.

    Else a line that is printed in two halves had none, nor had a couplet with another word in each line.
    """
    letters = [key(text, "ar") for text in texts]
    seams = list(pairwise(letters)) + [(letters[-1], key(text, "ar")) for text in asked if letters]
    reach = LETTERS + WINDOW - 2
    found = {run for one, other in seams for run in _winnowed(one[-reach:] + other[:reach])}
    short = (one + other for one, other in seams if LEAST <= len(one + other) <= reach)
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
    """Fingerprints of all that an open row prints, and of the work that it names."""
    about, asked = _about(row), _asked_for(row)
    texts = (row.get("question") or "", *about, *asked)
    return fingerprints(texts) | beside(about, asked) | _whole(row) | work_marks(row)


def work_marks(row: Mapping[str, Any]) -> set[str]:
    """Fingerprint of the poem or idiom that an item or row is about; none where it names no record."""
    records = (row.get("origin") or {}).get("records") or ()
    return {f"work {work(records[0])}"} if records else set()


def _whole(row: Mapping[str, Any]) -> set[str]:
    letters = key(row.get("question") or "", "ar")
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
