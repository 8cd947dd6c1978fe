"""Answers and scores as Parquet: written whole, read in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError

from mihakk.machinery.configs import misfits
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Attempt
from mihakk.schemas.record import Record

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
    from mihakk.machinery.lake.columns import to_table

    write_batches(path, to_table(rows, row).to_batches(max_chunksize=BATCH), row)


def write_batches(path: Path, batches: Iterable[Any], row: type[Record]) -> int:
    """Writes Arrow batches of a table as one file, whole or not at all; how many rows."""
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import arrow_schema

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

    from mihakk.machinery.lake.columns import from_table

    batches = list(read_batches(path, row))
    try:
        return from_table(pa.Table.from_batches(batches), row) if batches else []
    except ValidationError as error:
        raise UsageError(f"{path}: {misfits(error, row)}") from error


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

    from mihakk.machinery.lake.columns import arrow_schema
    from mihakk.machinery.parquet import as_declared, readable

    schema = arrow_schema(row)
    names = list(columns or schema.names)
    texts = [field.name for field in schema if encoded and pa.types.is_string(field.type)]
    coded = pa.dictionary(pa.int32(), pa.string())
    wanted = pa.schema([(name, coded if name in texts else schema.field(name).type) for name in names])
    filled = [name for name in names if not _may_lack(row.model_fields[name].annotation)]
    with readable(path), pq.ParquetFile(path, read_dictionary=texts) as file:
        missing = [name for name in names if name not in file.schema_arrow.names]
        if missing:
            raise UsageError(f"{path} is not a table of {row.__name__} rows: it has no column {missing[0]!r}")
        for batch in file.iter_batches(batch_size=BATCH, columns=names):
            batch.validate(full=True)
            table = as_declared(path, pa.Table.from_batches([batch]), wanted).select(names)
            if empty := [name for name in filled if table[name].null_count]:
                raise UsageError(f"{path}: {empty[0]!r} is empty in {table[empty[0]].null_count} rows")
            yield from table.combine_chunks().to_batches()


def _may_lack(annotation: Any) -> bool:
    return type(None) in get_args(annotation)
