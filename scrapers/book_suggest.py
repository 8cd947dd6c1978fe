"""A declaration to edit, proposed from a book: the ready patterns that fit it, with what speaks for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from mihakk.machinery.errors import MihakkError
from mihakk.scrapers.book import SHAPES, BookOptions, Line, Reading, read
from mihakk.scrapers.heads import section_letter

_FEWEST = 5
_EXPLAINED = 0.8
"""Least share of the entries with an explanation."""
_RIVAL = 0.6
"""A second pattern with so large a part of the first's score is shown beside it."""


_PART = 0.25
"""A pattern that reads a smaller part of the entries than another reads quotations."""
_HARMLESS = frozenset({"entries", "numbering"})
"""Evidence that may refuse the right pattern: a book skips numbers, and nobody has counted it yet."""


class Suggestion(NamedTuple):
    """A declaration and what it reads."""

    options: dict[str, Any]
    reading: Reading
    score: float

    def __str__(self) -> str:
        """As it stands under `options` of a config."""
        return yaml.safe_dump(self.options, allow_unicode=True, sort_keys=False, width=1000).rstrip()


def suggest(lines: Sequence[Line]) -> list[Suggestion]:
    """The ready patterns that fit a book, the best first; one alone is sure, none means that none fits.

    A pattern fits where it finds five entries at least, nearly all with an explanation, and no evidence
    speaks against it; where none does, the two nearest. Where headings name letters, only what is below them
    is read.
    """
    sections = _lettered(lines)
    found = [one for name in SHAPES if (one := _tried(lines, name, sections))]
    found.sort(key=_rank)
    sure = [one for one in found if {e.name for e in one.reading.evidence if e.refuses} <= _HARMLESS]
    near = [one for one in sure if one.score >= _RIVAL * sure[0].score]
    most = max((len(one.reading.entries) for one in near), default=0)
    return [one for one in near if len(one.reading.entries) >= _PART * most] or found[:2]


def _rank(one: Suggestion) -> tuple[float, bool, int]:
    """By its score; of two alike first the one that reads numbers, then the one that reads more."""
    entries = one.reading.entries
    return -round(one.score, 2), entries[0].number is None, -len(entries)


def _tried(lines: Sequence[Line], name: str, sections: str) -> Suggestion | None:
    options: dict[str, Any] = {"entry": SHAPES[name]}
    if sections:
        options |= {"sections": sections, "lettered": True}
    try:
        reading = read(lines, BookOptions(**options, prefix="suggested"))
    except MihakkError:
        return None
    entries = reading.entries
    explained = sum(bool(entry.paragraphs) for entry in entries) / len(entries)
    if len(entries) < _FEWEST or explained < _EXPLAINED:
        return None
    different = len({entry.head for entry in entries}) / len(entries)
    figures = {one.name: one.figure for one in reading.evidence}
    in_order = 1 - figures.get("numbering", 0) / len(entries)
    return Suggestion(
        options=options,
        reading=reading,
        score=figures["share"] / 100 * different * explained * in_order,
    )


def _lettered(lines: Sequence[Line]) -> str:
    """A pattern of the headings that name letters; empty where fewer than two do."""
    marked = Counter(
        match[1]
        for line in lines
        if (match := re.match(r"(#+ ?\|* ?(?:\w+ )?)\S+\Z", line.text))
        and section_letter(line.text.strip("#| "))
    )
    mark, count = marked.most_common(1)[0] if marked else ("", 0)
    return (
        "^" + re.escape(mark).replace("\\ ", " ").replace("\\#", "#").replace("\\|", "[|]")
        if count > 1
        else ""
    )
