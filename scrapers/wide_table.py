"""Wide tables: the verse of a poem stands in many columns of its row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from mihakk.scrapers.tables import Row

_NUMBER = re.compile(r"\d+")
ANY = "*"
"""Stands for the number in the names of such columns: `misra *`, of two kinds `sadr * + ajuz *`."""


def pattern_of(name: str) -> str:
    """A column's name with `*` for its last number; empty where it holds none."""
    numbers = list(_NUMBER.finditer(name))
    return f"{name[: numbers[-1].start()]}{ANY}{name[numbers[-1].end() :]}" if numbers else ""


def joined(rows: Iterable[Row], columns: Collection[str]) -> Iterator[Row]:
    """Rows with one column of lines, named by its pattern, in place of the columns that each pattern means.

    Args:
        rows: Of the table.
        columns: Names of columns, some of them patterns.
    """
    patterns = {name: {one.strip() for one in name.split("+")} for name in columns if ANY in name}
    for row in rows:
        whole = row
        for name, wanted in patterns.items():
            if whole.problem is None and name not in whole.fields:
                whole = _joined(whole, name, [one for one in whole.fields if pattern_of(one) in wanted])
        yield whole


def _joined(row: Row, name: str, parts: list[str]) -> Row:
    lines = ["" if (cell := row.fields[one]) is None else str(cell).strip() for one in parts]
    while lines and not lines[-1]:
        lines.pop()
    if "" in lines:
        empty = parts[lines.index("")]
        return replace(
            row, fields={}, problem=("hemistich_empty", f"{empty!r} is empty, and columns behind it are not")
        )
    others = {one: cell for one, cell in row.fields.items() if one not in parts}
    return replace(row, fields=others | ({name: "\n".join(lines)} if parts else {}))


def series(names: Collection[str], fields: Mapping[str, str]) -> str:
    """The pattern of columns of verse that are numbered through; empty where there are none.

    Args:
        names: Of the table's columns.
        fields: Pattern to the field that it speaks for.
    """
    counts = {pattern: sum(pattern_of(name) == pattern for name in names) for pattern in fields}
    several = [pattern for pattern, count in counts.items() if count > 2]
    halves = [next((one for one in several if fields[one] == half), "") for half in ("first", "second")]
    if all(halves):
        return " + ".join(halves)
    return next((one for one in several if fields[one] in ("hemistichs", "lines", "couplets")), "")
