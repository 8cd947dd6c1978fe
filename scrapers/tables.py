"""Rows of jsonl, csv, tsv, xlsx and parquet files, each with its place, none lost."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mihakk.machinery.errors import UsageError
from mihakk.machinery.workbook import open_workbook

_SNIFF = 1 << 20
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]*?\bref="([A-Z]+\d+:[A-Z]+\d+)"')
DELIMITERS = (",", ";", "\t", "|", "؛")
"""What may part the cells of a .csv or .tsv file; the header tells which."""
csv.field_size_limit(1 << 27)


@dataclass(frozen=True)
class Row:
    """One row of a table: its fields, or why it can't be read."""

    number: int
    """Line of a text file, row of a sheet or table, counted from 1."""
    fields: dict[str, Any]
    problem: tuple[str, str] | None = None
    """Reason and detail of a row that can't be read; `fields` is empty then."""
    merged: dict[str, str] = field(default_factory=dict)
    """Of a sheet: columns whose cell is part of a merged one that reaches over rows or columns, and its
    range."""
    gap: bool = False
    """Whether an empty row of a .csv, .tsv or sheet stands above it."""


class Layout(NamedTuple):
    """How a table lies in its file."""

    encoding: str = "auto"
    """Of a text file: a codec's name, or `auto` (UTF-8 where the bytes allow it, else cp1256)."""
    sheet: str = ""
    """Of a workbook; the first when empty."""
    header_row: int = 0
    """Line or row with the names of the columns, counted from 1; 0: the first that is not empty."""


def read_rows(path: Path, layout: Layout = Layout()) -> Iterator[Row]:
    """Rows of a file; its format is told by its suffix.

    Args:
        path: A file with one of the suffixes in `FORMATS`.
        layout: Where in the file they stand.

    Raises:
        UsageError: The format is not known, or the file as a whole can't be read.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(
            f"{path}: formats are {', '.join(FORMATS)}; name the file with one of these suffixes"
        )
    return FORMATS[path.suffix.lower()](path, layout)


def guess_encoding(data: bytes) -> str:
    """`utf-8-sig` when most lines that are not plain ASCII are strict UTF-8, else `cp1256`.

    Line by line, so that one damaged row does not turn a whole file into mojibake.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    good = bad = 0
    for line in data.split(b"\n"):
        if not line.isascii():
            try:
                line.decode("utf-8")
                good += 1
            except UnicodeDecodeError:
                bad += 1
    return "utf-8-sig" if good >= bad else "cp1256"


def text_lines(path: Path, encoding: str) -> Iterator[str]:
    """Lines with their ends; bytes that do not decode become lone surrogates, which `damage` finds."""
    if encoding == "auto":
        with path.open("rb") as file:
            # The line that the sniffed part cuts in two would count as damaged.
            encoding = guess_encoding(file.read(_SNIFF).rpartition(b"\n")[0] or path.read_bytes())
    try:
        with path.open(encoding=encoding, errors="surrogateescape", newline="") as text:
            yield from text
    except LookupError as error:
        raise UsageError(f"{path}: {error}; use a codec's name such as utf-8 or cp1256") from error
    except UnicodeError as error:
        raise UsageError(f"{path} is not {encoding}: {error}") from error


def damage(text: str) -> tuple[str, str] | None:
    """Reason and detail when a text holds bytes that did not decode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return "undecodable", f"byte {ord(text[error.start]) - 0xDC00:#x} at character {error.start + 1}"
    return None


def _jsonl(path: Path, layout: Layout) -> Iterator[Row]:
    for number, line in enumerate(text_lines(path, layout.encoding), start=1):
        if not line.strip():
            continue
        if problem := damage(line):
            yield Row(number, {}, problem)
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Row(number, {}, ("not_json", str(error)))
            continue
        if isinstance(value, dict):
            yield Row(number, value)
        else:
            yield Row(number, {}, ("not_an_object", f"the line is a {type(value).__name__}, not an object"))


def _json(path: Path, layout: Layout) -> Iterator[Row]:
    text = "".join(text_lines(path, layout.encoding))
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}; one object a line is called .jsonl") from error
    if not isinstance(rows, list):
        keys = f" with {', '.join(rows)}" if isinstance(rows, dict) else ""
        raise UsageError(
            f"{path} holds one {type(rows).__name__}{keys}; a list of objects was expected: take the "
            "list out, or save one object a line as .jsonl"
        )
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield Row(number, row)
        else:
            yield Row(number, {}, ("not_an_object", f"entry {number} is a {type(row).__name__}"))


def _delimiter(header: str, usual: str) -> str:
    """What parts the cells of a header: in lands with decimal commas Excel writes semicolons."""

    def cells(delimiter: str) -> int:
        return max((len(row) for row in csv.reader([header], delimiter=delimiter)), default=0)

    return max((usual, *DELIMITERS), key=cells)


def _separated(usual: str) -> Callable[[Path, Layout], Iterator[Row]]:
    def rows(path: Path, layout: Layout) -> Iterator[Row]:
        above = max(layout.header_row - 1, 0)
        text = islice(text_lines(path, layout.encoding), above, None)
        delimiter = _delimiter(next((line for line in text if line.strip()), ""), usual)
        text = islice(text_lines(path, layout.encoding), above, None)
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        header: list[str] | None = None
        gap, named = False, 0
        while True:
            number = above + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                detail = str(error)
                if "end of data" in detail:
                    detail = (
                        'a cell that begins with " on or below this line never ends: close or remove the mark'
                    )
                # The mark may have swallowed further rows: each of their lines is named.
                for line in range(number, max(number, above + reader.line_num) + 1):
                    yield Row(line, {}, ("not_csv", detail))
                continue
            if not any(cell.strip() for cell in cells):
                gap = True
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                named = max(at for at, name in enumerate(header, start=1) if name)
                _check_header(path, header)
                continue
            if not any(cell.strip() for cell in cells[named:]) and len(cells) >= named:
                cells = cells[:named]  # Excel leaves empty cells behind the last column
            before, gap = gap, False
            if problem := damage(delimiter.join(cells)):
                yield Row(number, {}, problem)
            elif len(cells) not in (named, len(header)):
                detail = f"{len(cells)} cells under {len(header)} columns"
                yield Row(number, {}, ("columns_mismatch", detail))
            else:
                yield Row(number, dict(zip(header, cells, strict=False)), gap=before)

    return rows


def _check_header(path: Path | str, header: list[str], merged: Sequence[_Merged] = ()) -> None:
    if merged:
        raise UsageError(
            f"{path}: its first row has merged cells ({', '.join(cell.ref for cell in merged)}; it says "
            f"{', '.join(filter(None, header))[:80]!r}), so that no row was read: unmerge them, give each "
            "column a name in this one row; below a title, name the header's row in `header_row`"
        )
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise UsageError(f"{path}: two columns are named {', '.join(twice)}; give each its own name")


def _unnamed(header: list[str], cells: Sequence[Any]) -> str:
    """Letters of the columns that hold a value and have no name, as under a header of merged cells."""
    places = [n for n, cell in enumerate(cells) if cell is not None and (n >= len(header) or not header[n])]
    return ", ".join(chr(ord("A") + place) if place < 26 else str(place + 1) for place in places)


class _Merged(NamedTuple):
    """A merged cell of a sheet: first row, last row, first column, last column, counted from 1."""

    top: int
    bottom: int
    left: int
    right: int
    ref: str


def _merged(sheet: Any) -> list[_Merged]:
    """Merged cells from the top; openpyxl gives them only with the whole sheet in memory."""
    from openpyxl.utils import range_boundaries

    refs: set[str] = set()
    with sheet.parent._archive.open(sheet._worksheet_path) as part:
        before = b""
        while chunk := part.read(_SNIFF):
            refs.update(found.decode() for found in _MERGE.findall(before + chunk))
            before = chunk[-200:]
    bounds = [(range_boundaries(ref), ref) for ref in refs]
    return sorted(_Merged(top, bottom, left, right, ref) for (left, top, right, bottom), ref in bounds)


def _merged_columns(header: Sequence[str], cells: Sequence[_Merged]) -> dict[str, str]:
    """Names of the columns that these cells of one row take up, where rows or other columns share them."""
    found = {}
    for cell in cells:
        names = [name for name in header[cell.left - 1 : cell.right] if name]
        if cell.bottom > cell.top or len(names) > 1:
            found.update(dict.fromkeys(names, cell.ref))
    return found


def sheets_of(path: Path) -> list[str]:
    """Names of the sheets of a workbook, in its order.

    Raises:
        UsageError: It can't be read as one.
    """
    book = open_workbook(path)
    try:
        return list(book.sheetnames)
    finally:
        book.close()


def _xlsx(path: Path, layout: Layout) -> Iterator[Row]:
    book = open_workbook(path)
    sheet = layout.sheet
    try:
        if sheet and sheet not in book.sheetnames:
            raise UsageError(f"{path} has no sheet {sheet!r}; it has {', '.join(book.sheetnames)}")
        header: list[str] | None = None
        empty, gap = True, False
        sheet = sheet or book.sheetnames[0]
        below = _merged(book[sheet])[::-1]
        here: list[_Merged] = []
        for number, cells in enumerate(book[sheet].iter_rows(values_only=True), start=1):
            while below and below[-1].top <= number:
                here.append(below.pop())
            here = [cell for cell in here if cell.bottom >= number]
            if number < layout.header_row or all(cell is None for cell in cells):
                gap = True
                continue
            if header is None:
                header = [str(cell or "").strip() for cell in cells]
                several = len(book.sheetnames) > 1
                _check_header(f"{path}, sheet {sheet!r}" if several else path, header, here)
                continue
            empty, before, gap = False, gap, False
            if lost := _unnamed(header, cells):
                detail = f"cells in column {lost} stand under no name: unmerge the header and name them"
                yield Row(number, {}, ("columns_mismatch", detail))
            else:
                fields = {name: cell for name, cell in zip(header, cells, strict=False) if name}
                yield Row(number, fields, merged=_merged_columns(header, here), gap=before)
        others = [name for name in book.sheetnames if name != sheet]
        if empty and others:
            raise UsageError(
                f"{path}: the sheet {sheet!r} has no rows; name another with `sheet`: {', '.join(others)}"
            )
    except UsageError:
        raise
    except Exception as error:  # openpyxl reads rows as they are asked for, and raises what it comes across
        raise UsageError(f"{path} can't be read as a workbook: {error}") from error
    finally:
        book.close()


def _parquet(path: Path, _layout: Layout) -> Iterator[Row]:
    import pyarrow.parquet as pq

    from mihakk.machinery.parquet import readable

    with readable(path), pq.ParquetFile(path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                yield Row(number, row)


FORMATS: dict[str, Callable[[Path, Layout], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".xlsx": _xlsx,
    ".parquet": _parquet,
}
"""Readers by suffix."""
