"""Records to Arrow columns and back, with a schema taken from the model and never guessed from the rows."""

from __future__ import annotations

import io
import types
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from mihakk.schemas.record import Record

Row = type[Record] | tuple[type[Record], ...]
"""What a table holds: one model, or several told apart by their `kind` field."""

_AT_ONCE = 10_000
"""Records made into columns at once."""
_SCALARS: dict[type, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", tz="UTC"),
}


def arrow_type(annotation: Any) -> pa.DataType:
    """Arrow type of a field annotation; None is allowed everywhere and adds nothing."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"a column can't hold {annotation}")
        return arrow_type(inner[0])
    if origin is Literal:
        return arrow_type(type(args[0]))
    if origin is tuple:
        return pa.list_(arrow_type(args[0]))
    if origin is dict:
        return pa.map_(arrow_type(args[0]), arrow_type(args[1]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return pa.struct([(name, arrow_type(f.annotation)) for name, f in annotation.model_fields.items()])
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    raise TypeError(f"a column can't hold {annotation}")


@cache
def arrow_schema(row: Row) -> pa.Schema:
    """Schema of a table; for several models, the union of their fields."""
    fields: dict[str, pa.DataType] = {}
    for model in _models(row):
        for name, field in model.model_fields.items():
            kind = arrow_type(field.annotation)
            if fields.setdefault(name, kind) != kind:
                raise TypeError(f"field {name!r} has two types in one table: {fields[name]} and {kind}")
    return pa.schema(list(fields.items()))


def to_table(records: Sequence[Record], row: Row) -> pa.Table:
    """Rows in the given order; equal records give equal bytes."""
    schema = arrow_schema(row)
    return pa.Table.from_arrays([_column(records, field) for field in schema], schema=schema)


def _column(records: Sequence[Record], field: pa.Field) -> pa.ChunkedArray:
    """One field of all records; its parts and the whole are held together for one column at a time."""
    change, holds_records = _at_maps(field.type, _as_pairs), _holds_records(field.type)
    parts = []
    # Part by part: the values of all rows as Python objects take many times the room of their columns.
    for start in range(0, max(len(records), 1), _AT_ONCE):
        values = [record.__dict__.get(field.name) for record in records[start : start + _AT_ONCE]]
        if holds_records:
            values = [_plain(value) for value in values]
        if change:
            values = [change(value) for value in values]
        parts.append(pa.array(values, field.type))
    return pa.table([pa.chunked_array(parts, field.type)], names=[field.name]).combine_chunks().column(0)


def _holds_records(kind: pa.DataType) -> bool:
    """Whether a value of that type is a record, or holds any."""
    inner = kind.item_type if pa.types.is_map(kind) else kind.value_type if pa.types.is_list(kind) else None
    return pa.types.is_struct(kind) or (inner is not None and _holds_records(inner))


def _plain(value: Any) -> Any:
    """A value with plain mappings for records, at any depth."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value


def to_parquet(records: Sequence[Record], row: Row) -> bytes:
    """Records as the bytes of one Parquet file; equal records give equal bytes."""
    sink = io.BytesIO()
    pq.write_table(to_table(records, row), sink, compression="zstd")
    if len(records) > _AT_ONCE:
        # Arrow keeps what a large table took for the next one.
        pa.default_memory_pool().release_unused()
    return sink.getvalue()


def write_table(path: Path, records: Sequence[Record], row: Row) -> None:
    """Writes records as one Parquet file."""
    path.write_bytes(to_parquet(records, row))


def read_parquet(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table of one Parquet file, or some columns of it.

    Without `pyarrow.parquet.read_table`, which imports pandas to look at one file.
    """
    with pq.ParquetFile(io.BytesIO(data)) as file:
        return file.read(columns=columns)


def from_table(table: pa.Table, row: Row) -> list[Any]:
    """Records of a table, validated.

    Raises:
        pydantic.ValidationError: The table does not hold what the models say.
    """
    models = _models(row)
    # Arrow's own `maps_as_pydicts` takes four times as long.
    rows = _changed(table.to_pylist(), table.schema, _as_dict)
    if len(models) == 1:
        return [models[0].model_validate(entry) for entry in rows]
    by_kind = {model.model_fields["kind"].default: (model, list(model.model_fields)) for model in models}
    return [_of_kind(*by_kind[entry["kind"]], entry) for entry in rows]


def _of_kind(model: type[Record], names: Sequence[str], entry: dict[str, Any]) -> Record:
    return model.model_validate({name: entry[name] for name in names if name in entry})


def _models(row: Row) -> tuple[type[Record], ...]:
    return row if isinstance(row, tuple) else (row,)


Inner = Callable[[Any], Any] | None
"""What to make of the values of a map; None where nothing is."""


def _as_pairs(value: dict[Any, Any], inner: Inner) -> list[tuple[Any, Any]]:
    """A map sorted by key, so that the order of insertion never reaches a file."""
    return [(name, inner(value[name]) if inner else value[name]) for name in sorted(value)]


def _as_dict(value: list[tuple[Any, Any]], inner: Inner) -> dict[Any, Any]:
    return {name: inner(entry) if inner else entry for name, entry in value}


def _changed(
    rows: list[dict[str, Any]], schema: pa.Schema, change: Callable[[Any, Inner], Any]
) -> list[dict[str, Any]]:
    """The rows, with every map in them changed."""
    changes = {field.name: at for field in schema if (at := _at_maps(field.type, change))}
    for row in rows:
        for name, at in changes.items():
            if name in row:
                row[name] = at(row[name])
    return rows


def _at_maps(kind: pa.DataType, change: Callable[[Any, Inner], Any]) -> Inner:
    """Changes the maps in a value of that type, at any depth; None where it can hold none."""
    if pa.types.is_map(kind):
        inner = _at_maps(kind.item_type, change)
        return _unless_none(lambda value: change(value, inner))
    if pa.types.is_list(kind) and (element := _at_maps(kind.value_type, change)):
        return _unless_none(lambda values: [element(value) for value in values])
    if pa.types.is_struct(kind) and (parts := {f.name: at for f in kind if (at := _at_maps(f.type, change))}):
        return _unless_none(lambda entry: {**entry, **{name: parts[name](entry[name]) for name in parts}})
    return None


def _unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else change(value)
