"""Parquet files that somebody else may have written or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import UsageError, no_file

_QUOTED = 200


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Makes whatever Arrow comes across in a file a UsageError that names it.

    Damaged pages and values that Python can't hold show only when rows are read: `to_pylist` belongs inside.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise no_file(path) from error
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        # Arrow's messages may quote raw bytes of the file.
        said = "".join(char if char.isprintable() else "?" for char in str(error))[:_QUOTED]
        raise UsageError(f"{path} can't be read as Parquet: {said}; name another file") from error


def read_parquet(
    path: Path, schema: pa.Schema, columns: Sequence[str] | None = None, *, filled: Sequence[str] = ()
) -> pa.Table:
    """A file's table, with the columns that are known in the types they have.

    Args:
        path: The file.
        schema: Names and types of the columns that are known; others stay as they are.
        columns: Only these, each of which the file must have; all it has when None.
        filled: Columns that it must have, with a value in every row.

    Raises:
        UsageError: It is no such table; the message names the file and the column.
    """
    with readable(path):
        table = pq.ParquetFile(path).read()
        table.validate(full=True)
        names = table.column_names
        if missing := [name for name in (*(columns or ()), *filled) if names.count(name) != 1]:
            raise UsageError(f"{path} has {names.count(missing[0])} columns {missing[0]!r}; one is needed")
        table = as_declared(path, table.select(columns) if columns else table, schema)
        if empty := [name for name in filled if name in table.column_names and table[name].null_count]:
            raise UsageError(f"{path}: {empty[0]!r} is empty in {table[empty[0]].null_count} rows")
    return table


def as_declared(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with each column that a schema knows cast to its type; `UsageError` where one can't be."""
    if len(set(table.column_names)) < table.num_columns:
        raise UsageError(f"{path} has two columns of one name; leave one of them")
    for place, field in enumerate(table.schema):
        wanted = schema.field(field.name).type if field.name in schema.names else field.type
        if field.type == wanted:
            continue
        try:
            if pa.types.is_boolean(field.type):
                raise pa.ArrowTypeError("a truth value")  # Arrow would make 1.0 or "true" of it
            table = table.set_column(place, field.name, table.column(place).cast(wanted))
        except pa.ArrowException as error:
            raise UsageError(f"{path}: column {field.name!r} holds {field.type}, not {wanted}") from error
    return table
