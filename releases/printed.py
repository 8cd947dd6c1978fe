"""Everything that a release prints: what its files hold as they are published, and its rows."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text.encoding import decode, decodings
from mihakk.machinery.unpacked import ARROW, PARQUET, ROOM, members, strings
from mihakk.releases.cleaned_record import FILE as CLEANED
from mihakk.releases.content.checksum import release_files
from mihakk.releases.content.digests import DigestSorter, SortedDigests
from mihakk.releases.content.fingerprints import consecutive, readings, shown_marks
from mihakk.releases.content.item_tables import BATCH_ROWS, data_files, read_items
from mihakk.releases.content.seals import open_digest
from mihakk.releases.versions.diff import REFINED
from mihakk.validators.external.table import FORMATS, read_tables

_LONG, _OVERLAP = 1 << 16, 1 << 10
"""Characters of a line that are read at once, and how many of them are read with the next ones again."""
_ARROW_STREAM = b"\xff\xff\xff\xff"


class Printed(NamedTuple):
    """A row or line of a file of a release, or whatever else of it stands by itself."""

    place: str
    """Where it stands, for who has to find it: an item's id, or a file and a row or line."""
    marks: set[str]
    """Fingerprints of all its texts, and of those that it makes with what stands before it."""
    is_sealed: bool = False
    """Whether it is a question of a blind release: the golds of its texts are elsewhere."""
    is_unread: bool = False
    """Whether it is a packed file or a table of which nobody can tell what it holds."""


def printed(folder: Path) -> Iterator[Printed]:
    """All that the files of a release print; what this reads is what is registered and what is refused.

    A table gives every text in any column, whatever it is nested in, and the texts of its schema. Any other
    file is read line by line as every text that its bytes may be, as it stands and with entities, escapes and
    tags undone. What is packed is unpacked. A file's name is a text of it.
    """
    items = set(_item_tables(folder))
    for path in release_files(folder):
        name = path.relative_to(folder).as_posix()
        yield Printed(f"the name of {name}", shown_marks({"": name}))
        yield from _printed(path.read_bytes(), name, of_items=path in items)


def printed_digests(folders: Iterable[Path], before: Iterable[bytes] = ()) -> SortedDigests:
    """Digests of what releases print, with those known before."""
    return digests_of((one for folder in folders for one in printed(folder)), before)


def digests_of(read: Iterable[Printed], before: Iterable[bytes] = ()) -> SortedDigests:
    """Digests of what was read, with those known before; a sealed question prints nothing."""
    with DigestSorter() as found:
        found.add(before)
        for one in read:
            if not one.is_sealed:
                found.add(map(open_digest, one.marks))
        return found.sorted()


def _printed(data: bytes, name: str, *, of_items: bool = False, room: int = ROOM) -> Iterator[Printed]:
    try:
        if data.startswith(PARQUET):
            table = pq.ParquetFile(io.BytesIO(data))
            # Names of columns at any depth, and what is said of the table and of each column.
            schema = table.schema_arrow.serialize().to_pybytes() + table.metadata.created_by.encode()
            yield from _lines(schema, f"{name}, schema")
            yield from _rows(table.iter_batches(BATCH_ROWS), name, of_items=of_items)
            return
        if data.startswith((ARROW, _ARROW_STREAM)):
            opened = pa.ipc.open_file if data.startswith(ARROW) else pa.ipc.open_stream
            yield from _rows(opened(data).read_all().to_batches(BATCH_ROWS), name)
        packed = False
        for member, inner in members(data, room=room):
            packed, room = True, room - len(inner)
            yield Printed(f"{name}, {member}", shown_marks({"": member}))
            yield from _printed(inner, f"{name}, {member}", room=room)
        if packed:
            return
    except (pa.ArrowException, OSError, ValueError, UsageError):
        yield Printed(name, set(), is_unread=True)
    yield from _lines(data, name)


def _rows(batches: Iterable[pa.RecordBatch], name: str, *, of_items: bool = False) -> Iterator[Printed]:
    number = 0
    for batch in batches:
        # Column by column: two may have one name.
        columns = [column.to_pylist() for column in batch.columns]
        for cells in zip(*columns, strict=True):
            number += 1
            if of_items:
                row = dict(zip(batch.schema.names, cells, strict=True))
                place = str(row.get("id") or f"{name}, row {number}")
                yield Printed(place, shown_marks(row), is_sealed=row.get("sealed") is True)
            else:
                yield Printed(f"{name}, row {number}", shown_marks({"": cells}))


def _lines(data: bytes, name: str) -> Iterator[Printed]:
    seen: set[tuple[str, str]] = set()
    for text in decodings(data):
        for reading in readings(text):
            lines = [
                (number, line[start : start + _LONG + _OVERLAP])
                for number, line in enumerate(reading.splitlines(), 1)
                for start in range(0, len(line), _LONG)
            ]
            found = consecutive((line for _, line in lines), seen)
            for (number, _), marks in zip(lines, found, strict=True):
                if marks:
                    yield Printed(f"{name}, line {number}", marks)


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of any release; those with columns of their own as if every text were a field.

    Of a release that no build made, every file is read: tables cell by cell, and the others line by line.
    """
    tables = _item_tables(folder)
    for path in tables or release_files(folder):
        name = path.relative_to(folder).as_posix()
        if tables:
            yield from _items(path, name)
        else:
            yield from _cells_of(path, name)


def _item_tables(folder: Path) -> list[Path]:
    if any((folder / mark).is_file() for mark in (CLEANED, REFINED)):
        return []
    return [path for _, _, path in data_files(folder)]


def _items(path: Path, name: str) -> Iterator[dict[str, Any]]:
    try:
        table = read_items(path)
    except UsageError:
        for number, row in enumerate(pq.read_table(path).to_pylist(), 1):
            yield as_row(strings(row), f"{name}, row {number}")
    else:
        for batch in table.to_batches(BATCH_ROWS):
            yield from batch.to_pylist()


def _cells_of(path: Path, name: str) -> Iterator[dict[str, Any]]:
    with suppress(UsageError):
        if path.suffix.lower() in FORMATS:
            for table in read_tables(path):
                for number, row in table.rows.items():
                    yield as_row(_cells(row), f"{name}, row {number + 1}")
            return
    for number, line in enumerate(decode(path.read_bytes()).text.splitlines(), 1):
        yield as_row([line], f"{name}, line {number}")


def _cells(row: Mapping[str, Any]) -> Iterator[str]:
    """Every text, and those within a text that is JSON."""
    for text in strings(row):
        yield text
        if text[:1] in ("{", "["):
            with suppress(ValueError):
                yield from strings(orjson.loads(text))


def as_row(texts: Iterable[str], place: str) -> dict[str, Any]:
    """A row with these texts, each also as it reads with entities, escapes or a wrong encoding undone."""
    told = (form for text in texts for form in readings(text))
    return {"id": place, "fields": {str(number): text for number, text in enumerate(told)}}
