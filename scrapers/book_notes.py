"""Footnotes of a printed book: the lines that a mark in the text points to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

from scrapers.book_shapes import Line, fittings, is_mark, page_width

_NUMBER = r"[\d٠-٩۰-۹]{1,3}"
_STYLES = tuple(
    re.compile(style)
    for style in (rf"\(\^?({_NUMBER})\)", rf"\[\^?({_NUMBER})\]", rf"\^({_NUMBER})\b", "([⁰¹²³⁴-⁹]+)")
)
_AFTER_MARK = re.compile(r"[:.]?\s*(?=[^\W\d_]|[«\"“(])")
_RULE = re.compile(r"[-_ـ—–=*]{3,}")
_FEWEST = 3
_MATCHED = 0.95
"""Least share of the notes that a mark points to, and of the marks that point to a note."""
_MOST = 0.3
"""Of the text: what is more is no notes."""


class _Mark(NamedTuple):
    place: int
    start: int
    stop: int
    number: int
    is_note: bool
    """It opens its line, and text follows it."""


def without_notes(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with as many lines, without its footnotes and their marks; and the notes with their place.

    A line that begins with a mark is a note if a line before it holds the same mark, one for each note. Where
    marks or notes have no partner, or text goes on right behind a note, all of this style stay.
    """
    lines = text.split("\n")
    found = []
    for style in _STYLES:
        marks = [one for place, line in enumerate(lines) for one in _marks(place, line, style)]
        notes = [one.place for one in marks if one.is_note]
        if len(notes) < _FEWEST or not _are_matched(marks):
            continue
        places = _extents(lines, notes)
        if not places or sum(len(lines[place]) for place in places) > _MOST * len(text):
            continue
        for one in reversed(marks):
            if not one.is_note:
                line = lines[one.place]
                lines[one.place] = line[: one.start].rstrip() + line[one.stop :]
        found += [(place, lines[place].strip()) for place in places]
        for place in places:
            lines[place] = ""
    return "\n".join(lines), sorted(found)


def _marks(place: int, line: str, style: re.Pattern[str]) -> Iterator[_Mark]:
    for found in style.finditer(line):
        opens = not line[: found.start()].strip()
        if not opens or _AFTER_MARK.match(line, found.end()):
            yield _Mark(place, found.start(), found.end(), int(normalize("NFKC", found[1])), opens)


def _are_matched(marks: Sequence[_Mark]) -> bool:
    """Nearly every note has a mark of its own before it, and nearly every mark a note."""
    waiting: Counter[int] = Counter()
    matched = 0
    for one in marks:
        if not one.is_note:
            waiting[one.number] += 1
        elif waiting[one.number]:
            waiting[one.number] -= 1
            matched += 1
    notes = sum(one.is_note for one in marks)
    return matched >= _MATCHED * max(notes, len(marks) - notes)


def _extents(lines: Sequence[str], notes: Sequence[int]) -> list[int]:
    """The lines of the notes, wrapped ones and rules above them too; none where other text follows them."""
    bare = [Line(0, line.strip()) for line in lines]
    full = dict(fittings(bare))
    page = page_width(list(full.values()))
    places: list[int] = []
    unlike = 0
    for note in notes:
        stop = note + 1
        while page and stop - 1 in full and full[stop - 1][1] > page and stop not in notes:
            stop += 1
        end = (
            stop == len(lines)
            or stop in notes
            or is_mark(bare[stop].text)
            or _RULE.fullmatch(bare[stop].text)
        )
        unlike += not end
        above = note - 1
        while above > 0 and not bare[above].text:
            above -= 1
        places += [above] if _RULE.fullmatch(bare[above].text) else []
        places += range(note, stop)
    return places if unlike <= (1 - _MATCHED) * len(notes) else []
