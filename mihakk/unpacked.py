"""What files hold, for a search that no packing hides anything from."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_PARQUET, _ARROW, _GZIP, _ZIP = b"PAR1", b"ARROW1", b"\x1f\x8b", b"PK\x03\x04"


def unpacked(data: bytes) -> Iterator[bytes]:
    """A file's bytes, and behind them what is packed in them: the texts of tables, members of archives.

    A file that is damaged or encrypted gives its bytes alone.
    """
    yield data
    try:
        if data.startswith(_PARQUET):
            for batch in pq.ParquetFile(io.BytesIO(data)).iter_batches():
                yield from _texts(batch)
        elif data.startswith(_ARROW):
            with pa.ipc.open_file(data) as table:
                for number in range(table.num_record_batches):
                    yield from _texts(table.get_batch(number))
        elif data.startswith(_GZIP):
            yield from unpacked(gzip.decompress(data))
        elif data.startswith(_ZIP):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    yield from unpacked(archive.read(name))
    except (pa.ArrowException, zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError):
        return


def _texts(batch: pa.RecordBatch) -> Iterator[bytes]:
    for row in batch.to_pylist():
        yield "\n".join(_strings(row)).encode()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
