"""Signs that a table was made to be looked at: merged cells, markup, numbers before or behind heads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mihakk.errors import RecordRejected
from scrapers.book_doubts import markup_of_entries, page_marks
from scrapers.book_head_signs import FEW, marks_of_heads
from scrapers.book_shapes import Head
from scrapers.tables import Row

Sign = Literal["merged_cells", "marks_of_heads", "markup", "page_marks"]
"""What a config may `accept`, having looked at it."""


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
    heads: list[tuple[int, Head]] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)

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
            self.headless += [row.number] if self.heads else []
            return
        self.read += 1
        if isinstance(phrase, str) and "phrase" in columns:
            self.heads.append((row.number, Head(0, 1, phrase.strip())))
            self.explanations.append(explanation if isinstance(explanation, str) else "")

    def _merged(self, row: Row, columns: Mapping[str, str]) -> None:
        over = [row.merged[column] for column in columns.values() if column in row.merged]
        if not over:
            return
        if len(over) == len(columns) and len(set(over)) == 1 and not _over_rows(over[0]):
            text = next(iter(row.fields.values()), "")
            raise RecordRejected("heading", f"{over[0]} is one merged cell over all columns: {text!r}")
        self.merged.append((row.number, over[0]))
        raise RecordRejected(
            "merged_cells",
            f"{over[0]} is one merged cell: unmerge it and write its value into each of its cells",
        )

    def signs(self) -> dict[Sign, str]:
        """What speaks against the table, where, and what to do, by the sign's name."""
        total = self.read + len(self.merged) + len(self.headless)
        found: dict[Sign, str] = {
            "merged_cells": self._lost(total),
            "marks_of_heads": marks_of_heads(self.heads, numbers=FEW),
            "markup": markup_of_entries(self.heads, self.explanations),
            "page_marks": page_marks(self.heads, self.explanations),
        }
        return {name: text for name, text in found.items() if text}

    def _lost(self, total: int) -> str:
        if self.merged:
            row, cells = self.merged[0]
            return (
                f"{len(self.merged)} of {total} rows hold merged cells, row {row} first ({cells}), and "
                f"{self.read} were read: unmerge them and write the value into each of their cells"
            )
        if len(self.headless) > max(1, FEW * total):
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


def _over_rows(cells: str) -> bool:
    """Whether a range such as `A2:B2` reaches over more than one row."""
    first, _, last = cells.partition(":")
    return first.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != last.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
