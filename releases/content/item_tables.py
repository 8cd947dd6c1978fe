"""Items as Arrow tables and Parquet files; the bytes depend only on the items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.generators import prompts
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import SCORED_FIELDS, content_hash, digest
from mihakk.machinery.lake.columns import arrow_type
from mihakk.machinery.parquet import read_parquet
from mihakk.schemas.audit import AUDIT_STATES, AuditState
from mihakk.schemas.item import ITEM, ChoiceItem, Item, Origin
from mihakk.schemas.record import Language

Render = Callable[[Item, Language], str]
"""(item, its language) -> the prompt a model is given."""


class Renders(NamedTuple):
    """How the prompts of a release are written."""

    prompt: Render
    further: Mapping[Language, Render] = MappingProxyType({})
    """By language, the prompts of the column `prompts`; none where the release asks in one language."""


T = TypeVar("T")
SHARD_ROWS = 50_000
"""Rows of one Parquet file."""
BATCH_ROWS = 5_000
"""Rows turned into Arrow at once, so that memory does not hold every row a second time as Python objects."""
GROUP_ROWS = 2 * BATCH_ROWS
"""Rows of one row group of a file."""
_WRITTEN = {"compression": "zstd", "compression_level": 6, "version": "2.6"}
CORE = "_core"
"""Ends the name of a config that holds the core of another."""
METADATA = ("poet", "era", "genre", "metre", "rhyme", "form")
"""Metadata columns that every config has, filled or not, so that configs can be read together."""

_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
_HEAD: tuple[tuple[str, Any], ...] = (
    *((name, _TEXT) for name in ("id", "version", "canary", "content_hash", "task", "kind")),
    *((name, _TEXT) for name in ("language", "dialect", "prompt", "question", "context")),
)
_BY_KIND: dict[str, tuple[tuple[str, Any], ...]] = {
    "choice": (
        ("options", _TEXTS),
        ("labels", _TEXTS),
        ("gold", pa.list_(pa.int32())),
        ("option_kinds", _TEXTS),
        ("pair_id", _TEXT),
        ("order", pa.int32()),
    ),
    "answer": (("answer", _TEXT), ("accepted", _TEXTS)),
    "explanation": (("verses", _TEXTS), ("explanations", _TEXTS), ("overall", _TEXT)),
}
_TAIL: tuple[tuple[str, Any], ...] = (
    ("subset", _TEXT),
    ("group", _TEXT),
    ("origin", arrow_type(Origin)),
    ("licence", _TEXT),
    ("attribution", _TEXT),
    ("verdict", _TEXT),
    ("audited", pa.bool_()),
    ("audit_state", _TEXT),
    ("sealed", pa.bool_()),
)

_STRUCTS = ("prompts", "fields", "metadata", "origin")
RELEASED = pa.schema(
    dict((*_HEAD, *(one for of_kind in _BY_KIND.values() for one in of_kind), *_TAIL)).items()
)
"""Columns of every config in one; `prompts`, `fields` and `metadata` have parts of their own in each."""
_ALWAYS = ("id", "version", "canary", "content_hash", "prompt", "language")
"""Columns that every release has had."""


@dataclass(frozen=True)
class Placed:
    """An item with its place in the release."""

    item: Item
    split: str
    group: str
    verdict: str
    """`pass`, or the people's outcome: `keep`, `fix`."""
    audit_state: AuditState | None
    """None where it is not told."""
    seal: str = ""
    """Digest by the secret that stands for the content of an item without its gold; else empty."""


def config_name(item: Item) -> str:
    """Name of the config an item belongs to: `<language>_<task>`."""
    return f"{item.language}_{item.task}"


def item_schema(config: str, items: Iterable[Item], languages: Iterable[Language] = ()) -> Any:
    """Arrow schema of one config, with `prompts` in the languages; all its items must be of one kind."""
    kinds, named, extra = set[str](), set[str](), set[str]()
    for item in items:
        kinds.add(item.kind)
        named.update(item.fields)
        extra.update(item.metadata)
    if len(kinds) != 1:
        raise UsageError(
            f"config {config} mixes items of the kinds {', '.join(sorted(kinds))}: give each kind its own "
            "task name"
        )
    fields = [("fields", pa.struct([(name, _TEXT) for name in sorted(named)]))] if named else []
    if asked := sorted(languages):
        fields = [("prompts", pa.struct([(name, _TEXT) for name in asked])), *fields]
    added = sorted(extra.difference(METADATA))
    metadata = ("metadata", pa.struct([(name, _TEXT) for name in (*METADATA, *added)]))
    return pa.schema([*_HEAD, *_BY_KIND[kinds.pop()], *fields, metadata, *_TAIL])


def placed_row(placed: Placed, canary: str, renders: Renders) -> dict[str, Any]:
    """The row of an item, with no version yet."""
    item = placed.item
    row = item.model_dump(mode="json")
    row |= {
        "version": "",
        "canary": canary,
        "content_hash": placed.seal or content_hash(item),
        "prompt": renders.prompt(item, item.language),
        "prompts": {name: render(item, item.language) for name, render in renders.further.items()},
        "group": placed.group,
        "verdict": placed.verdict,
        "audited": None if placed.audit_state is None else placed.audit_state == "both",
        "audit_state": None if placed.audit_state is None else AUDIT_STATES[placed.audit_state],
        "sealed": bool(placed.seal),
    }
    if isinstance(item, ChoiceItem):
        row["labels"] = prompts.bundled().labels(item.language, len(item.options))
    return row


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most so many rows."""
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part


def item_table(schema: Any, placed: Iterable[Placed], canary: str, renders: Renders) -> Any:
    """Arrow table of items in the order given, with no version yet."""
    batches = [
        pa.RecordBatch.from_pylist([placed_row(one, canary, renders) for one in part], schema=schema)
        for part in batched(placed, BATCH_ROWS)
    ]
    return pa.Table.from_batches(batches, schema=schema).combine_chunks()


def with_version(table: Any, version: str) -> Any:
    """The table with the version in every row."""
    column = table.schema.get_field_index("version")
    return table.set_column(column, table.schema.field(column), pa.repeat(version, table.num_rows))


def row_item(row: dict[str, Any]) -> Item:
    """The item behind a row of a release, as it was before it was placed."""
    kept = {name: row[name] for name in ("id", "task", "kind", "language", "dialect", "question", "context")}
    kept |= {name: row[name] for name in ("subset", "origin", "licence", "attribution")}
    # A release made before a column was added lacks it.
    kept |= {name: row[name] for name, _ in _BY_KIND[row["kind"]] if name != "labels" and name in row}
    for name in ("fields", "metadata"):
        kept[name] = {key: value for key, value in (row.get(name) or {}).items() if value is not None}
    kept["origin"] = {key: value for key, value in row["origin"].items() if value is not None}
    return ITEM.validate_python(kept)


def row_hash(row: dict[str, Any]) -> str:
    """`content_hash` of the item behind a row that is not sealed, straight from the row."""
    return digest({name: row[name] for name in SCORED_FIELDS if name in row})


def with_ability(
    tables: Mapping[str, Mapping[str, Any]], abilities: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """The tables with a last column that says what each config is ranked under."""
    return {
        config: {
            split: table.append_column(
                pa.field("ability", _TEXT), pa.repeat(abilities[config], table.num_rows).cast(_TEXT)
            )
            for split, table in splits.items()
        }
        for config, splits in tables.items()
    }


def write_parquet(table: Any, path: Path) -> None:
    """Write one file; equal tables give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=GROUP_ROWS, **_WRITTEN)


def write_batches(batches: Iterable[Any], schema: Any, path: Path) -> None:
    """The same bytes from batches of `BATCH_ROWS`, of which only a few are in memory together."""
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = batched(batches, GROUP_ROWS // BATCH_ROWS)
    with pq.ParquetWriter(path, schema, **_WRITTEN) as file:
        for group in chain([next(groups, [])], groups):  # of no rows there is one, too
            file.write_table(pa.Table.from_batches(group, schema), row_group_size=GROUP_ROWS)


def write_split(table: Any, folder: Path, split: str) -> list[Path]:
    """Write a split as `<split>-00000-of-0000N.parquet` and return the files."""
    count = max(1, -(-table.num_rows // SHARD_ROWS))
    written = []
    for number in range(count):
        path = folder / f"{split}-{number:05d}-of-{count:05d}.parquet"
        write_parquet(table.slice(number * SHARD_ROWS, SHARD_ROWS), path)
        written.append(path)
    return written


def core_file(folder: Path, config: str) -> Path:
    """Rows of a config that are in the core."""
    return folder / "core" / f"{config}.parquet"


def split_files(folder: Path, config: str, split: str) -> list[Path]:
    """Files behind one split of a config that the card names; `<config>_core` is the core of one."""
    of = config.removesuffix(CORE)
    if config != of and split == "test" and core_file(folder, of).is_file():
        return [core_file(folder, of)]
    return sorted((folder / of).glob(f"{split}-*.parquet"))


def data_files(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """(config, split, file) of every data file of a release folder, in order."""
    for path in sorted(folder.glob("*/*-of-*.parquet")):
        yield path.parent.name, path.name.split("-", 1)[0], path


def released_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Every row of a release folder, as published."""
    for _, _, path in data_files(folder):
        yield from read_items(path).to_pylist()


def read_items(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Arrow table of one data file of a release that may come from anywhere, or some of its columns.

    Raises:
        UsageError: It is none: damaged, without the columns that every release has, or with other types.
    """
    wanted = [name for name in _ALWAYS if columns is None or name in columns]
    table = read_parquet(path, RELEASED, columns, filled=wanted)
    for name in _STRUCTS:
        if name in table.column_names and not pa.types.is_struct(kind := table.schema.field(name).type):
            raise UsageError(f"{path}: column {name!r} holds {kind}, not one field per name")
    return table
