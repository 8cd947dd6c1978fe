"""Rows of published tables with the columns an adapter needs, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mihakk.errors import SourceChanged
from scrapers.tables import FORMATS, read_rows


def tables_in(folder: Path, pattern: str = "**/*") -> list[Path]:
    """Tables below a folder whose paths fit the pattern, in a fixed order."""
    return sorted(path for path in folder.glob(pattern) if path.suffix.lower() in FORMATS and path.is_file())


def rows_with(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a table: where each stands, and its fields.

    Raises:
        SourceChanged: The table has no row or lacks a column, or a row can't be read.
    """
    empty = True
    for row in read_rows(path):
        where, empty = f"{path}, row {row.number}", False
        if row.problem:
            raise SourceChanged(f"{where}: {': '.join(row.problem)}")
        if missing := [name for name in needed if name not in row.fields]:
            raise SourceChanged(f"{where}: no column {missing[0]!r}; it has: {', '.join(row.fields)}")
        yield where, row.fields
    if empty:
        raise SourceChanged(f"{path} has no rows")
