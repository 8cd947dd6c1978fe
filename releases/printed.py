"""Everything that a release prints, as rows: what a build made, and what came from anybody's benchmark."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text.encoding import decode
from mihakk.machinery.unpacked import strings, unpacked
from mihakk.releases.cleaned_record import FILE as CLEANED
from mihakk.releases.cleaned_record import read_cleaned
from mihakk.releases.content.checksum import release_files
from mihakk.releases.content.fingerprints import readings
from mihakk.releases.content.item_tables import BATCH_ROWS, data_files, read_items
from mihakk.releases.versions.diff import REFINED
from mihakk.validators.external.table import FORMATS, Table, read_tables

_TAG = re.compile(r"<[^<>]*>")


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of any release; those with columns of their own as if every text were a field.

    Of a release that no build made, every file is read: tables cell by cell, and the others line by line.

    Raises:
        UsageError: A table that should hold rows can't be read.
    """
    tables = _item_tables(folder)
    yield from _items(folder, tables) if tables else _files(folder, tables)


def printed_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """The same, and what else a build's release prints: papers, errata, the audit's tables, tasks."""
    tables = _item_tables(folder)
    yield from _items(folder, tables)
    yield from _files(folder, tables)


def _items(folder: Path, tables: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in tables:
        try:
            table = read_items(path)
        except UsageError:
            for number, row in enumerate(pq.read_table(path).to_pylist(), 1):
                yield as_row(strings(row), f"{path.relative_to(folder)}, row {number}")
        else:
            for batch in table.to_batches(BATCH_ROWS):
                yield from batch.to_pylist()


def _item_tables(folder: Path) -> list[Path]:
    if any((folder / mark).is_file() for mark in (CLEANED, REFINED)):
        return []
    return [path for _, _, path in data_files(folder)]


def _files(folder: Path, tables: Collection[Path]) -> Iterator[dict[str, Any]]:
    """Every file but these tables."""
    record = read_cleaned(folder)
    told = {one.path for one in record.tables if one.rows} if record is not None else set()
    for path in release_files(folder):
        if path not in tables:
            yield from _file(path, path.relative_to(folder).as_posix(), told, folder.name)


def _file(path: Path, name: str, told: Collection[str], release: str) -> Iterator[dict[str, Any]]:
    found = _tables(path)
    if name in told and not any(table.rows for table in found):
        raise UsageError(
            f"{release}: the rows of {name} can't be read, so nobody can tell what it prints: "
            "audit the benchmark again"
        )
    for table in found:
        texts: list[Any] = [*table.columns, *(bad.body for bad in table.unreadable)]
        yield as_row(_cells([texts, table.around or ()]), name)
        for number, row in table.rows.items():
            yield as_row(_cells(row), f"{name}, row {number + 1}")
    if path.suffix.lower() == ".parquet":
        yield as_row(_schema(path), f"{name}, schema")
    else:  # a table in its own words as well: a parser drops what is said twice
        for number, line in enumerate(_lines(path), 1):
            yield as_row([line], f"{name}, line {number}")


def _schema(path: Path) -> Iterator[str]:
    """Names, at any depth, and metadata of a parquet file."""
    with suppress(OSError, ValueError):
        schema = pq.read_schema(path)
        yield from schema.to_string(show_field_metadata=False, show_schema_metadata=False).splitlines()
        for one in (schema, *schema):
            for name, value in (one.metadata or {}).items():
                yield from (part.decode("utf-8", "replace") for part in (name, value))


def _tables(path: Path) -> list[Table]:
    with suppress(UsageError):
        return read_tables(path) if path.suffix.lower() in FORMATS else []
    return []


def _lines(path: Path) -> Iterator[str]:
    """Lines of a text; of a workbook, every text in it, be it in no column or behind a cell."""
    packed = list(unpacked(path.read_bytes()))
    for data in packed[1:] or packed:
        for line in decode(data).text.splitlines():
            yield from (html.unescape(part) for part in _TAG.split(line) if part.strip())


def _cells(value: Any) -> Iterator[str]:
    """Every text, and those within a text that is JSON; bytes as the text that they are."""
    value = _read(value)
    for text in strings(value):
        yield text
        if text[:1] in ("{", "["):
            with suppress(ValueError):
                yield from strings(orjson.loads(text))


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _read(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_read(one) for one in value]
    return decode(value).text if isinstance(value, bytes) else value


def as_row(texts: Iterable[str], place: str) -> dict[str, Any]:
    """A row with these texts, each also as it reads with entities, escapes or a wrong encoding undone."""
    told = (form for text in texts for form in readings(text))
    return {"id": place, "fields": {str(number): text for number, text in enumerate(told)}}
