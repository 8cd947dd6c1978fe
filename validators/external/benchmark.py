"""An outside benchmark as items of the tasks `external_choice` and `external_answer`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from mihakk.errors import RecordRejected, UsageError
from mihakk.ids import item_id
from schemas.item import AnswerItem, ChoiceItem, Origin, Split
from schemas.record import Language
from schemas.rejection import Rejection
from validators.external.cells import blank, listed, shown
from validators.external.golds import Golds, infer
from validators.external.mapping import Mapping
from validators.external.table import FORMATS, Table, read_dataset, read_file

GENERATOR_VERSION = "1"
OPTIONAL_SHARE = 0.05
"""Share of rows that leave a column of options empty from which the column is one that questions may lack."""
_SPLITS = {"dev": "dev", "test": "test", "validation": "validation", "valid": "validation", "train": "train"}


@dataclass(slots=True)
class ExternalBenchmark:
    """Items, rejected rows and the tables they came from."""

    source: str
    tables: list[Table]
    items: list[ChoiceItem | AnswerItem] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    place: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Item id to its table and row number."""
    gold_as: str = ""
    """How the golds were read: `letter`, `index0`, `index1` or `text`; empty for questions in words."""


@dataclass(frozen=True, slots=True)
class _Row:
    table: int
    number: int
    cells: dict[str, Any]
    name: str
    """What messages and ids call it: `file.jsonl#12`."""
    language: Language
    options: tuple[str, ...]


def read_benchmark(
    source: str,
    mapping: Mapping,
    *,
    subsets: Sequence[str] = (),
    split: str = "",
    revision: str = "",
    language: Language = "ar",
    licence: str = "unknown",
    attribution: str = "",
) -> ExternalBenchmark:
    """The benchmark in a file, a folder or on the Hub.

    A row whose gold names no option becomes an item without a gold, or with one out of range, and the
    checks say so. Only rows that are no records are rejected.

    Args:
        source: Path of a jsonl, json, csv, tsv, parquet or xlsx file, a folder, or `owner/name` on the Hub.
        mapping: Which columns hold what.
        subsets: Hub configurations; none: all. Of files: values of the mapping's subset column to keep.
        split: One split; empty: all.
        revision: Commit or tag on the Hub.
        language: Language of rows that name none.
        licence: Licence of the benchmark, SPDX.
        attribution: Credit line.

    Raises:
        UsageError: A column is missing, the golds can't be read, or there is nothing there.
        ExternalFailure: The Hub can't be reached.
    """
    path = Path(source)
    named = path.is_file() or path.suffix.lower() in FORMATS
    tables = [read_file(path)] if named else []
    tables = tables or read_dataset(source, subsets, split, revision)
    for table in tables:
        _require(mapping, table)
    benchmark = ExternalBenchmark(source=source, tables=tables)
    rows = list(_rows(benchmark, mapping, language))
    if mapping.choices:
        golds = infer(
            [(row.cells.get(mapping.gold), row.options, row.language) for row in rows], mapping.gold_as
        )
        benchmark.gold_as = golds.scheme
    else:
        golds = None
    terms = {"licence": licence, "attribution": attribution}
    for row in rows:
        item = _item(row, benchmark.tables[row.table], mapping, golds, terms)
        wanted = {split, _SPLITS.get(split, split)} if split else set()
        if wanted and item.metadata.get("split", item.split) not in wanted:
            continue
        if subsets and item.subset not in subsets:
            continue
        benchmark.items.append(item)
        benchmark.place[item.id] = (row.table, row.number)
    if not benchmark.items:
        raise UsageError(f"{source}: no row is left; check the mapping, the subset and the split")
    return benchmark


def _require(mapping: Mapping, table: Table) -> None:
    for name in mapping.columns():
        if name not in table.columns:
            near = get_close_matches(name, table.columns, n=3, cutoff=0.3) or list(table.columns)
            raise UsageError(f"{table.name} has no column {name!r}; did you mean {', '.join(near)}?")


def _rows(benchmark: ExternalBenchmark, mapping: Mapping, language: Language) -> Iterator[_Row]:
    for place, table in enumerate(benchmark.tables):
        for bad in table.unreadable:
            name = f"{table.name}#{bad.number}"
            benchmark.rejected.append(
                Rejection(
                    record=name, source=benchmark.source, reason=bad.reason, detail=bad.detail, body=bad.body
                )
            )
        optional = _optional(mapping, table)
        for number, cells in table.rows.items():
            name = f"{table.name}#{number}"
            try:
                options = _options(cells, mapping, optional)
                spoken = _language(cells, mapping, language)
            except RecordRejected as error:
                body = json.dumps(cells, ensure_ascii=False, default=str)
                benchmark.rejected.append(
                    Rejection(
                        record=name,
                        source=benchmark.source,
                        reason=error.reason,
                        detail=error.detail,
                        body=body,
                    )
                )
                continue
            yield _Row(place, number, cells, name, spoken, options)


def _optional(mapping: Mapping, table: Table) -> frozenset[str]:
    """Option columns so often empty that a question may lack them; a rare gap is a defect and stays."""
    if len(mapping.choices) < 3 or not table.rows:
        return frozenset()
    return frozenset(
        name
        for name in mapping.choices[2:]
        if sum(blank(row.get(name)) for row in table.rows.values()) >= OPTIONAL_SHARE * len(table.rows)
    )


def _options(cells: dict[str, Any], mapping: Mapping, optional: frozenset[str]) -> tuple[str, ...]:
    if len(mapping.choices) == 1:
        found = listed(cells.get(mapping.choices[0]))
        if found is None:
            cell = shown(cells.get(mapping.choices[0]))[:60]
            raise RecordRejected(
                "choices_no_list", f"column {mapping.choices[0]!r} holds {cell!r}, not a list"
            )
        return tuple(shown(option) for option in found)
    columns = list(mapping.choices)
    while columns and columns[-1] in optional and blank(cells.get(columns[-1])):
        columns.pop()
    return tuple(shown(cells.get(name)) for name in columns)


def _language(cells: dict[str, Any], mapping: Mapping, language: Language) -> Language:
    if not mapping.language:
        return language
    named = shown(cells.get(mapping.language)).casefold()[:2]
    for known in get_args(Language):
        if named == known:
            return known  # type: ignore[no-any-return]
    raise RecordRejected("language_unknown", f"language {named!r} is none of {', '.join(get_args(Language))}")


def _item(
    row: _Row, table: Table, mapping: Mapping, golds: Golds | None, terms: dict[str, str]
) -> ChoiceItem | AnswerItem:
    cells = row.cells
    task = "external_choice" if golds else "external_answer"
    gold = cells.get(mapping.gold)
    split = shown(cells.get(mapping.split)) if mapping.split else table.split
    metadata = {"split": split} if split and split not in _SPLITS else {}
    if mapping.id:
        metadata["id"] = shown(cells.get(mapping.id))
    common: dict[str, Any] = {
        "id": item_id(task, row.language, (row.name,)),
        "task": task,
        "language": row.language,
        "question": "\n\n".join(shown(cells.get(name)) for name in mapping.question).strip("\n"),
        "context": "\n\n".join(filter(None, (shown(cells.get(name)) for name in mapping.context))),
        "subset": _subset(cells, mapping) if mapping.subset else table.subset,
        "split": _split(split),
        "origin": Origin(records=(row.name,), generator="external", generator_version=GENERATOR_VERSION),
        **terms,
    }
    if golds is None:
        accepted = listed(cells.get(mapping.accepted)) if mapping.accepted else None
        more = tuple(shown(one) for one in accepted or () if shown(one) != shown(gold))
        return AnswerItem(answer=shown(gold), accepted=more, metadata=metadata, **common)
    right = golds.read(gold, row.options, row.language)
    if right is None:
        metadata["gold"] = shown(gold)
    return ChoiceItem(options=row.options, gold=right or (), metadata=metadata, **common)


def _subset(cells: dict[str, Any], mapping: Mapping) -> str:
    named = shown(cells.get(mapping.subset))
    before, found, _ = named.rpartition(mapping.subset_until) if mapping.subset_until else (named, "", "")
    return before if found else named


def _split(name: str) -> Split:
    known: dict[str, Split] = {"dev": "dev", "test": "test", "validation": "validation", "train": "train"}
    return known.get(_SPLITS.get(name, ""), "")
