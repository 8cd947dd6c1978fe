"""Signs that a table was made to be looked at: merged cells, markup, numbers before or behind heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.text.corruption import PATTERNS
from mihakk.scrapers.tables import Row

Sign = Literal["merged_cells", "marks_of_heads", "markup", "page_marks", "long_table"]
"""What a config may `accept`, having looked at it."""
NUMBER = re.compile(r"\A\W{0,2}\d{1,5}(?: ?[).\]:–-]\s*|\s+)(?=\D)|\s{0,3}[(\[]\d{1,5}[)\]]\s{0,3}\Z")
"""A number before or behind a phrase, as lists have it."""
_FEW = 0.02
"""Share of the rows, three at least, from which on a sign is no accident."""
_LONG = 0.2
"""Share of the rows from which on verses under one title are a poem in many rows."""
_VERSE = ("first", "hemistichs", "lines")
_SIGNS: dict[Sign, tuple[Callable[[str], re.Match[str] | None], str, str]] = {
    "marks_of_heads": (
        re.compile(
            r"\A\W{0,2}\d{1,5} ?[).–-] ?(?=\D)|\A[•▪●◦*–—-] |[(\[]\d{1,5}[)\]]\s{0,3}\Z"
            r"|\b(?:ص|p\.) ?\d{1,4}\Z"
        ).search,
        "phrases begin with a number or a bullet, or end in a number",
        "take it out of the column",
    ),
    "markup": (
        PATTERNS["markup"].search,
        "entries hold markup",
        "save the text without it, as `pandoc --to plain` does",
    ),
    "page_marks": (
        re.compile(r"[(\[](?:ص|صفحة|[Pp]age|p\.) ?:? ?\d{1,4}[)\]]").search,
        "explanations hold a page's mark",
        "take the marks out of the column",
    ),
}


@dataclass
class TableSigns:
    """What the rows of one table have shown so far."""

    name: str
    """Of its file."""
    read: int = 0
    """Rows that gave what was asked of them."""
    merged: list[tuple[int, str]] = field(default_factory=list)
    """Number and range of the rows that hold part of a merged cell, headings aside."""
    headless: list[int] = field(default_factory=list)
    """Rows with an explanation and no phrase, which stood in a merged cell above."""
    rows: list[tuple[int, str, str]] = field(default_factory=list)
    """Number, phrase and explanation of those that have a phrase."""
    again: list[int] = field(default_factory=list)
    """Rows with one couplet or line, under the title and poet of the row above."""
    above: tuple[Any, ...] = ()

    def look(self, row: Row, columns: Mapping[str, str]) -> None:
        """Notes what one row shows.

        Args:
            row: One that could be read.
            columns: Field to column.

        Raises:
            RecordRejected: `merged_cells` or, where one cell takes up all columns, `heading`.
        """
        self._merged(row, columns)
        phrase, explanation = (row.fields.get(columns.get(name, "")) for name in ("phrase", "explanation"))
        if "phrase" in columns and not phrase and explanation:
            self.headless += [row.number] if self.rows else []
            return
        self.read += 1
        self._long(row, columns)
        if isinstance(phrase, str) and "phrase" in columns:
            said = explanation if isinstance(explanation, str) else ""
            self.rows.append((row.number, phrase.strip(), said))

    def _merged(self, row: Row, columns: Mapping[str, str]) -> None:
        over = [row.merged[column] for column in columns.values() if column in row.merged]
        if not over:
            return
        if len(over) == len(columns) and len(set(over)) == 1 and not over_rows(over[0]):
            text = next(iter(row.fields.values()), "")
            raise RecordRejected("heading", f"{over[0]} is one merged cell over all columns: {text!r}")
        self.merged.append((row.number, over[0]))
        raise RecordRejected(
            "merged_cells",
            f"{over[0]} is one merged cell: unmerge it and write its value into each of its cells",
        )

    def _long(self, row: Row, columns: Mapping[str, str]) -> None:
        shared = tuple(row.fields.get(columns[name]) for name in ("title", "poet") if name in columns)
        verse = next((row.fields.get(columns[name]) for name in _VERSE if name in columns), None)
        if "title" in columns and shared[0] and isinstance(verse, str) and "\n" not in verse.strip():
            self.again += [row.number] if shared == self.above else []
            self.above = shared

    def signs(self) -> dict[Sign, str]:
        """What speaks against the table, where, and what to do, by the sign's name."""
        total = self.read + len(self.merged) + len(self.headless)
        found: dict[Sign, str] = {"merged_cells": self._lost(total)}
        if len(self.again) >= max(3, _LONG * total):
            found["long_table"] = (
                f"{len(self.again)} of {total} rows hold one verse under the title of the row above, row "
                f"{self.again[0]} first: where a poem is many rows, name the columns that its rows share in "
                "`group_by`"
            )
        for name, (search, what, fix) in _SIGNS.items():
            held = []
            for number, phrase, said in self.rows:
                text = {"marks_of_heads": phrase, "page_marks": said}.get(name, f"{phrase} {said}")
                if match := search(text):
                    held.append((number, match[0]))
            if len(held) >= max(3, _FEW * len(self.rows)):
                number, mark = held[0]
                found[name] = f"{len(held)} {what}, that of line {number} first, {mark!r}: {fix}"
        return {name: text for name, text in found.items() if text}

    def _lost(self, total: int) -> str:
        if self.merged:
            row, cells = self.merged[0]
            return (
                f"{len(self.merged)} of {total} rows hold merged cells, row {row} first ({cells}), and "
                f"{self.read} were read: unmerge them and write the value into each of their cells"
            )
        if len(self.headless) > max(1, _FEW * total):
            return (
                f"{len(self.headless)} of {total} rows have an explanation and no phrase, row "
                f"{self.headless[0]} first, and {self.read} were read: where cells were merged over rows, "
                "write the phrase again in each row, or join its explanations into one"
            )
        return ""


def problems(tables: Sequence[TableSigns], accept: Collection[Sign]) -> list[str]:
    """Why the rows can't be taken as they were read; what people have looked at is left out."""
    told = []
    for table in tables:
        found = {name: text for name, text in table.signs().items() if name not in accept}
        if found:
            signs = "; ".join(f"{text} ({name})" for name, text in found.items())
            told.append(
                f"{table.name}: {signs}; what of this is right, an option such as "
                f"`accept: [{', '.join(found)}]` says"
            )
    return told


def over_rows(cells: str) -> bool:
    """Whether a range such as `A2:B2` reaches over more than one row."""
    first, _, last = cells.partition(":")
    return first.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != last.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
