"""Rows of a benchmark from a file, a folder or the Hub, with what is needed to write them back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mihakk.errors import ExternalFailure, UsageError
from mihakk.text.encoding import decode
from mihakk.workbook import open_workbook
from validators.external.cells import plain

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx"]
FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that holds no record."""

    number: int
    reason: str
    detail: str
    body: str


@dataclass(slots=True)
class Table:
    """One file, or one subset and split of a dataset."""

    name: str
    """File name, or `<subset>/<split>`."""
    format: Format
    columns: tuple[str, ...]
    rows: dict[int, dict[str, Any]]
    """Readable rows by their number, counted from 0."""
    unreadable: list[Unreadable] = field(default_factory=list)
    subset: str = ""
    split: str = ""
    raw: dict[int, str] = field(default_factory=dict)
    """Lines of a jsonl file as they stood."""
    arrow: Any = None
    """The Arrow table of a parquet file or dataset, for its types."""
    encoding: str = "utf-8"
    delimiter: str = ","


def read_file(path: Path) -> Table:
    """The table in one file.

    Raises:
        UsageError: Unknown ending, no such file, or not what its ending says.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path.name}: can't read {path.suffix or 'no ending'}; give {', '.join(FORMATS)}")
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    kind = FORMATS[path.suffix.lower()]
    reader = {
        "jsonl": _jsonl,
        "json": _json,
        "csv": _delimited,
        "tsv": _delimited,
        "parquet": _parquet,
        "xlsx": _xlsx,
    }[kind]
    table = reader(path)
    if not table.rows and not table.unreadable:
        raise UsageError(f"{path.name} holds no rows")
    return table


def read_dataset(name: str, subsets: Sequence[str], split: str, revision: str) -> list[Table]:
    """One table per subset and split of a dataset on the Hub or in a local folder.

    Args:
        name: `owner/name`, or a folder that `datasets` can load.
        subsets: Configuration names; none: all of them.
        split: One split; empty: all of them.
        revision: Commit or tag on the Hub; empty: the newest.

    Raises:
        UsageError: No such subset or split; the message names those there are.
        ExternalFailure: The Hub can't be reached.
    """
    import datasets

    revision_or_none = revision or None
    try:
        known = datasets.get_dataset_config_names(name, revision=revision_or_none)
        tables: list[Table] = []
        for subset in subsets or known:
            if subset not in known:
                raise UsageError(f"{name} has no subset {subset!r}; it has {', '.join(known)}")
            loaded = datasets.load_dataset(name, subset, revision=revision_or_none)
            if split and split not in loaded:
                raise UsageError(f"{name} {subset} has no split {split!r}; it has {', '.join(loaded)}")
            tables.extend(
                _dataset(subset, part, loaded[part]) for part in loaded if not split or part == split
            )
    except ConnectionError as error:
        raise ExternalFailure(f"the Hub can't be reached for {name}: {error}") from error
    except (datasets.exceptions.DatasetNotFoundError, FileNotFoundError) as error:
        raise UsageError(f"there is no file, folder or dataset {name!r}: {error}") from error
    return tables


def _dataset(subset: str, split: str, data: Any) -> Table:
    arrow = data.with_format("arrow")[:]
    table = _of_arrow(f"{subset}/{split}", arrow)
    table.subset, table.split = "" if subset == "default" else subset, split
    return table


def _jsonl(path: Path) -> Table:
    rows: dict[int, dict[str, Any]] = {}
    table = Table(path.name, "jsonl", (), rows)
    text = _decoded(path, table)
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        table.raw[number] = line
        try:
            row = json.loads(line)
        except ValueError as error:
            table.unreadable.append(Unreadable(number, "not_json", f"line {number + 1}: {error}", line))
            continue
        if isinstance(row, dict):
            rows[number] = row
        else:
            what = type(row).__name__
            table.unreadable.append(
                Unreadable(number, "not_an_object", f"line {number + 1} is a {what}", line)
            )
    table.columns = tuple(dict.fromkeys(name for row in rows.values() for name in row))
    return table


def _json(path: Path) -> Table:
    table = Table(path.name, "json", (), {})
    try:
        value = json.loads(_decoded(path, table))
    except ValueError as error:
        raise UsageError(f"{path.name} is not JSON: {error}") from error
    if isinstance(value, dict):
        lists = [rows for rows in value.values() if isinstance(rows, list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise UsageError(f"{path.name} is no list of objects: give one object per row, or a .jsonl file")
    table.rows = dict(enumerate(value))
    table.columns = tuple(dict.fromkeys(name for row in value for name in row))
    return table


def _delimited(path: Path) -> Table:
    kind = FORMATS[path.suffix.lower()]
    table = Table(path.name, kind, (), {}, delimiter="\t" if kind == "tsv" else ",")
    text = _decoded(path, table)
    header_line = text.partition("\n")[0]
    if kind == "csv" and table.delimiter not in header_line and ";" in header_line:
        table.delimiter = ";"
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter)
    table.columns = tuple(next(lines, ()))
    for number, cells in enumerate(_full(lines)):
        if len(cells) != len(table.columns):
            detail = f"row {number + 1} has {len(cells)} cells, the header {len(table.columns)}"
            body = json.dumps(cells, ensure_ascii=False)
            table.unreadable.append(Unreadable(number, "cells_missing_or_extra", detail, body))
        else:
            table.rows[number] = dict(zip(table.columns, cells, strict=True))
    return table


def _full(lines: Iterator[list[str]]) -> Iterator[list[str]]:
    return (cells for cells in lines if any(cell.strip() for cell in cells))


def _parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return _of_arrow(path.name, pq.read_table(path))
    except pa.ArrowInvalid as error:
        raise UsageError(f"{path.name} is no parquet file: {error}") from error


def _of_arrow(name: str, arrow: Any) -> Table:
    rows = dict(enumerate(arrow.to_pylist()))
    return Table(name, "parquet", tuple(arrow.column_names), rows, arrow=arrow)


def _xlsx(path: Path) -> Table:
    sheet = open_workbook(path).active
    lines = sheet.iter_rows(values_only=True)
    header = next(lines, ())
    columns = tuple("" if cell is None else str(cell) for cell in header)
    rows = {
        number: {name: plain(cell) for name, cell in zip(columns, cells, strict=False) if name}
        for number, cells in enumerate(lines)
        if any(cell is not None for cell in cells)
    }
    return Table(path.name, "xlsx", tuple(filter(None, columns)), rows)


def _decoded(path: Path, table: Table) -> str:
    decoded = decode(path.read_bytes())
    marked = decoded.reason == "bom" and decoded.encoding == "utf-8"
    table.encoding = "utf-8-sig" if marked else decoded.encoding
    return decoded.text
