"""A declaration to edit, proposed from a book: the ready patterns that fit it, with what speaks for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from mihakk.machinery.errors import MihakkError
from mihakk.scrapers.book import SHAPES, BookOptions, Line, Reading, read
from mihakk.scrapers.heads import section_letter

_FEWEST = 5
_EXPLAINED = 0.8
"""Least share of the entries with an explanation."""
_LONGEST = 400
"""Words in the middle of the explanations, above which a pattern finds a line here and there, no entries."""
_RIVAL = 0.6
"""A second pattern with so large a part of the first's score is shown beside it."""
_PART = 0.5
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
    and begins with them is read.
    """
    lettered = sum(
        line.text.startswith("#") and bool(section_letter(line.text.strip("#| "))) for line in lines
    )
    found = [one for name in SHAPES if (one := _tried(lines, name, lettered=lettered > 0))]
    found.sort(key=_rank)
    sure = [one for one in found if {e.name for e in one.reading.evidence if e.refuses} <= _HARMLESS]
    near = [one for one in sure if one.score >= _RIVAL * sure[0].score]
    shown = near or found[:2]
    most = max((len(one.reading.entries) for one in shown), default=0)
    return [one for one in shown if len(one.reading.entries) >= _PART * most]


def _rank(one: Suggestion) -> tuple[float, bool, int]:
    """By its score; of two alike first the one that reads numbers, then the one that reads more."""
    entries = one.reading.entries
    return -round(one.score, 2), entries[0].number is None, -len(entries)


def _tried(lines: Sequence[Line], name: str, *, lettered: bool) -> Suggestion | None:
    options: dict[str, Any] = {"layout": name} | ({"lettered": True} if lettered else {})
    try:
        reading = read(lines, BookOptions(**options, prefix="suggested"))
    except MihakkError:
        return None
    entries = reading.entries
    explained = sum(bool(entry.paragraphs) for entry in entries) / len(entries)
    if len(entries) < _FEWEST or explained < _EXPLAINED or reading.median > _LONGEST:
        return None
    different = len({entry.head for entry in entries}) / len(entries)
    figures = {one.name: one.figure for one in reading.evidence}
    in_order = 1 - figures.get("numbering", 0) / len(entries)
    return Suggestion(
        options=options,
        reading=reading,
        score=figures["share"] / 100 * different * explained * in_order,
    )
