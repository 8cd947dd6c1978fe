"""What files hold, for a search that no packing hides anything from."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import UsageError

PARQUET, ARROW, _GZIP, _ZIP = b"PAR1", b"ARROW1", b"\x1f\x8b", b"PK\x03\x04"
ROOM = 2**30
"""Bytes that a file may unpack to."""


DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError)
"""What reading a member of a damaged or encrypted archive raises."""


@contextmanager
def archive_at(path: Path, *, room: int = ROOM) -> Iterator[zipfile.ZipFile]:
    """An archive whose members unpack to `room` bytes at most each.

    Raises:
        UsageError: It is damaged, or a member is larger.
    """
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path} is a damaged archive ({error}): get it again") from error
    with archive:
        if large := next((one for one in archive.infolist() if one.file_size > room), None):
            raise UsageError(
                f"{path}: {large.filename} unpacks to {large.file_size:,} bytes, more than {room:,}"
            )
        yield archive


def unpacked(data: bytes, *, room: int = ROOM) -> Iterator[bytes]:
    """A file's bytes, and behind them what is packed in them: the texts of tables, members of archives.

    A file that is damaged or encrypted gives its bytes and what of it can be read; one that would unpack to
    more than `room` gives its bytes alone.
    """
    yield data
    try:
        if data.startswith(PARQUET):
            for batch in pq.ParquetFile(io.BytesIO(data)).iter_batches():
                yield from _texts(batch)
        elif data.startswith(ARROW):
            with pa.ipc.open_file(data) as table:
                for number in range(table.num_record_batches):
                    yield from _texts(table.get_batch(number))
        else:
            for _, inner in members(data, room=room):
                room -= len(inner)
                yield from unpacked(inner, room=room)
    except (pa.ArrowException, OSError, UsageError):
        return


def members(data: bytes, *, room: int = ROOM) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each member of a zip archive or gzip file; nothing where `data` is neither.

    Raises:
        UsageError: It is damaged or encrypted, or unpacks to more than `room` bytes.
    """
    try:
        if data.startswith(_GZIP):
            while data:  # a file may be several, one behind the other
                whole = zlib.decompressobj(wbits=31)
                inner = whole.decompress(data, max(room, 1))
                if whole.unconsumed_tail:
                    raise UsageError(f"a gzip file unpacks to more than {room:,} bytes")
                yield "unpacked", inner
                if not whole.eof:
                    raise UsageError("a gzip file is cut off")
                room -= len(inner)
                data = whole.unused_data.lstrip(b"\0")
        elif data.startswith(_ZIP):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                every = archive.infolist()
                if sum(member.file_size for member in every) > room:
                    raise UsageError(f"an archive unpacks to more than {room:,} bytes")
                for member in every:
                    yield member.filename, archive.read(member)
                yield "comment", archive.comment
    except DAMAGED as error:
        raise UsageError(f"a packed file is damaged or encrypted ({error})") from error


def _texts(batch: pa.RecordBatch) -> Iterator[bytes]:
    for row in batch.to_pylist():
        yield "\n".join(strings(row)).encode()


def strings(value: Any, decoded: Callable[[bytes], Iterable[str]] | None = None) -> Iterator[str]:
    """Every text in nested lists and dicts, in their order; of bytes those that `decoded` gives."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes) and decoded is not None:
        yield from decoded(value)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from strings(one, decoded)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one, decoded)
