"""A table kept as a text: its rows as lines of two columns, so that it is read like any book."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from mihakk.errors import SourceChanged
from scrapers.mapping import field_of

_MARKS = {"\t": "tabs", "|": "bars", ";": "semicolons", ",": "commas"}
_ROWS = 0.6
"""Share of lines that hold a table's mark as often as its header does; prose holds any number of them."""
_FEWEST_ROWS = 3


class Table(NamedTuple):
    """A book's text, each row as `head<TAB>explanation` on its own line, and what was left aside."""

    text: str
    unread: tuple[tuple[int, str, str], ...] = ()
    """Place, text and why: columns that are neither head nor explanation, rows without an explanation."""
    counted: bool = False
    """A header or labels tell heads from explanations, and so count the entries."""
    doubt: str = ""
    """What speaks against the labels."""


class _Row(NamedTuple):
    place: int
    cells: list[str]


def as_columns(text: str) -> Table:
    """A text in which most lines are rows of one table, with head and explanation alone; any other as it is.

    The header tells the columns, by the names that the source `files` knows too.

    Raises:
        SourceChanged: The header doesn't tell them, or a row has other cells than it.
    """
    lines = text.split("\n")
    for mark, name in _MARKS.items():
        rows = [_Row(place, cells) for place, line in enumerate(lines) if (cells := _cells(line, mark))]
        widths = Counter(len(row.cells) for row in rows)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        header = next((row.cells for row in rows[:3] if _columns(row.cells)), None)
        if header or (width > 2 and mark == "\t"):
            count = len(rows) if header else count
            if count >= max(_FEWEST_ROWS, _ROWS * sum(bool(line.strip()) for line in lines)):
                return _rewritten(lines, rows, len(header or range(width)), name)
    return Table(text)


def _cells(line: str, mark: str) -> list[str]:
    """Of one row; none for a line without the mark, and for a rule (`|---|---|`) one of nothing."""
    bare = line.strip()
    if mark not in bare or (mark == "|" and not (bare.startswith("|") and bare.endswith("|"))):
        return []
    if mark in ";,":
        return [" ".join(cell.split()) for cell in next(csv.reader([bare], delimiter=mark))]
    inner = bare[1:-1] if mark == "|" else line.strip(" \r\n")
    return [" ".join(cell.split()) for cell in inner.split(mark)]


def _columns(cells: Sequence[str]) -> tuple[int, int] | None:
    """Places of head and explanation in a header; nothing where it doesn't name each once."""
    fields = [field_of("idiom", cell.strip("*")) for cell in cells]
    if fields.count("phrase") != 1 or fields.count("explanation") != 1:
        return None
    return fields.index("phrase"), fields.index("explanation")


def _rewritten(lines: list[str], rows: Sequence[_Row], width: int, name: str) -> Table:
    found: tuple[int, int] | None = None
    unread: list[tuple[int, str, str]] = []
    said: set[str] = set()
    for place, cells in rows:
        lines[place] = ""
        if header := _columns(cells):
            found = header
            others = ", ".join(cell for number, cell in enumerate(cells) if number not in header)
            if others not in {"", *said}:
                unread.append((place, others, "columns that are not read"))
            said.add(others)
        elif found is None:
            raise SourceChanged(
                f"the book is a table of {width} columns between {name}, and line {place + 1} does not name "
                f"them ({', '.join(cells)[:80]!r}): write `phrase` and `explanation` above the two that hold "
                "entries, or read it with `use: files`"
            )
        elif len(cells) == width and any(cell.strip("-: ") for cell in cells):
            head, explanation = cells[found[0]].strip("*"), cells[found[1]]
            if head and not explanation:
                unread.append((place, head, "a row without an explanation"))
            elif head:
                lines[place] = f"{head}\t{explanation}"
    broken = list(_broken(rows, width, found, lines))
    if broken:
        raise SourceChanged(
            f"{len(broken)} of {len(rows)} rows of the table have other cells than its header's {width}, "
            f"line {broken[0] + 1} first: cells were merged or broken over lines; write each row on one "
            "line with all its cells, the merged ones again in each"
        )
    return Table("\n".join(lines), tuple(unread), counted=True)


def _broken(
    rows: Sequence[_Row], width: int, found: tuple[int, int] | None, lines: Sequence[str]
) -> Iterator[int]:
    """Lines of rows with another number of cells or without a head, and lines between rows that are none."""
    for (place, cells), following in zip_longest(rows, rows[1:]):
        empty = found is not None and len(cells) == width and not cells[found[0]] and any(cells)
        if len(cells) != width or empty:
            yield place
        between = lines[place + 1 : following.place if following else place + 1]
        if between and all(line.strip() and not line.startswith("#") for line in between):
            yield place + 1
