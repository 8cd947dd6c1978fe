"""Records to Arrow columns and back, with a schema taken from the model and never guessed from the rows."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from schemas.record import Record

Row = type[Record] | tuple[type[Record], ...]
"""What a table holds: one model, or several told apart by their `kind` field."""

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
    if origin is Annotated:
        return arrow_type(args[0])
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
    return pa.Table.from_pylist([_sorted_maps(record.model_dump()) for record in records], schema=schema)


def write_table(path: Path, records: Sequence[Record], row: Row) -> None:
    """Writes records as one Parquet file; equal records give equal bytes."""
    pq.write_table(to_table(records, row), path, compression="zstd")


def from_table(table: pa.Table, row: Row) -> list[Any]:
    """Records of a table, validated.

    Raises:
        pydantic.ValidationError: The table does not hold what the models say.
    """
    models = _models(row)
    rows = table.to_pylist(maps_as_pydicts="strict")
    if len(models) == 1:
        return [models[0].model_validate(entry) for entry in rows]
    by_kind = {model.model_fields["kind"].default: model for model in models}
    return [_of_kind(by_kind, entry) for entry in rows]


def _of_kind(by_kind: Mapping[str, type[Record]], entry: dict[str, Any]) -> Record:
    model = by_kind[entry["kind"]]
    return model.model_validate({name: value for name, value in entry.items() if name in model.model_fields})


def _models(row: Row) -> tuple[type[Record], ...]:
    return row if isinstance(row, tuple) else (row,)


def _sorted_maps(value: Any) -> Any:
    """Maps sorted by key at every depth, so that the order of insertion never reaches a file."""
    if isinstance(value, dict):
        return dict(sorted((name, _sorted_maps(inner)) for name, inner in value.items()))
    if isinstance(value, list | tuple):
        return [_sorted_maps(inner) for inner in value]
    return value
