"""Answers and scores as Parquet: written whole, read in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from mihakk.errors import UsageError, no_file
from schemas.evaluation import Attempt
from schemas.record import Record

RecordT = TypeVar("RecordT", bound=Record)
BATCH: Final = 20_000
"""Rows in memory at once."""
ANSWER_KEY: Final = (
    *("release", "version", "config", "item", "content_hash"),
    *("model", "revision", "method", "prompt", "prompt_version", "variant", "repeat"),
)
"""What tells one answer from all others."""


def folders_of(folder: Path, system: str) -> list[Path]:
    """A system's folders inside a suite's: of written replies, and of likelihoods."""
    return [folder / f"{system}{end}" for end in ("", ".likelihood")]


def answer_key(attempt: Attempt) -> str:
    """Names an answer in judgements: 32 hexadecimal digits over what tells it from all others."""
    parts = "\x1f".join(str(getattr(attempt, name)) for name in ANSWER_KEY)
    return hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()


def write_rows(path: Path, rows: Sequence[RecordT], row: type[RecordT]) -> None:
    """Writes one file, whole or not at all; equal rows give equal bytes."""
    from mihakk.lake.columns import to_table

    write_batches(path, to_table(rows, row).to_batches(max_chunksize=BATCH), row)


def write_batches(path: Path, batches: Iterable[Any], row: type[Record]) -> int:
    """Writes Arrow batches of a table as one file, whole or not at all; how many rows."""
    import pyarrow.parquet as pq

    from mihakk.lake.columns import arrow_schema

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.tmp")
    count = 0
    try:
        with pq.ParquetWriter(unfinished, arrow_schema(row), compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
                count += batch.num_rows
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def read_rows(path: Path, row: type[RecordT]) -> list[RecordT]:
    """All rows of a file, validated.

    Raises:
        UsageError: The file is missing or holds something else.
    """
    import pyarrow as pa

    from mihakk.lake.columns import from_table

    batches = list(read_batches(path, row))
    return from_table(pa.Table.from_batches(batches), row) if batches else []


def read_batches(
    path: Path, row: type[Record], columns: Sequence[str] | None = None, *, encoded: bool = False
) -> Iterator[Any]:
    """Arrow batches of a file.

    Args:
        path: The file.
        row: What it holds.
        columns: Only these.
        encoded: Give texts as dictionaries: columns of few different ones then take little memory.

    Raises:
        UsageError: The file is missing or holds something else.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mihakk.lake.columns import arrow_schema

    wanted = arrow_schema(row)
    texts = [field.name for field in wanted if encoded and pa.types.is_string(field.type)]
    try:
        file = pq.ParquetFile(path, read_dictionary=texts)
    except FileNotFoundError as error:
        raise no_file(path) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise UsageError(f"{path} can't be read as Parquet: {error}") from error
    with file:
        missing = [name for name in columns or wanted.names if name not in file.schema_arrow.names]
        if missing:
            raise UsageError(f"{path} is not a table of {row.__name__} rows: it has no column {missing[0]!r}")
        yield from file.iter_batches(batch_size=BATCH, columns=list(columns or wanted.names))
