"""Every adapter of a published benchmark refuses a file that lacks a column it needs, and says which."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from mihakk.evaluation.adapters.adapter import ADAPTERS
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.machinery.errors import MihakkError, SourceChanged, UsageError
from mihakk.schemas.suite import Suite
from tests.evaluation.suite_rows import balsam_set, json_lines, parquet

Row = Mapping[str, Any]


def trial(folder: Path, row: Row) -> None:
    parquet(folder / "MCQ_Trial" / "test.parquet", dict(row))


def dev_set(folder: Path, row: Row) -> None:
    balsam_set(folder, "trial", "t", dict(row))


def list_of(folder: Path, row: Row) -> None:
    (folder / "trial.json").write_text(json.dumps([row]), encoding="utf-8")


def lines(folder: Path, row: Row) -> None:
    json_lines(folder / "trial.jsonl", dict(row))


def comma_separated(folder: Path, row: Row) -> None:
    with (folder / "dev.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)


def workbook(folder: Path, row: Row) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(list(row))
    book.worksheets[0].append(list(row.values()))
    book.save(folder / "completionQsHafez.xlsx")


CONDITIONS = ("Name", "Name + Prose", "Name + Para", "Name + Salient", "Name + Shuffle")
SETS: dict[str, tuple[Callable[[Path, Row], None], dict[str, Any]]] = {
    "arabicmmlu": (
        comma_separated,
        {"ID": "1", "Question": "س", "Answer Key": "A"} | {f"Option {place}": "نص" for place in range(1, 6)},
    ),
    "balsam": (dev_set, {"input": "س", "output": "ج"}),
    "fannorflop": (
        list_of,
        {"id": "1", "title": "t", "verse_explanations": [{"verse": "أ\nب", "explanation": "شرح"}]},
    ),
    "ghazalbench": (
        workbook,
        {"Ghazal Number": 1, "Couplet Number": 1, "Couplet Text": "one / two"}
        | {f"Question ({name})": "complete: one" for name in CONDITIONS},
    ),
    "ghazalbench_prose": (
        workbook,
        {"Ghazal Number": 1, "Couplet Number": 1, "Couplet Text": "one / two", "Prose": "one, then two"},
    ),
    "kinayat": (lines, {"idiom": "إيده خفيفة", "explanation": "يسرق"}),
    "qimma": (trial, {"prompt": "س", "choices": ["الحجر", "الطير"], "index": 1}),
}


def test_every_adapter_is_tried() -> None:
    # `audited` reads what `mihakk audit` wrote, no file of other people.
    assert {*SETS, "code_problems", "audited"} == set(ADAPTERS.names())


@pytest.mark.parametrize("column", ["prompt", "canonical_solution", "test"])
def test_problems_without_a_column_are_refused(tmp_path: Path, column: str) -> None:
    row = {"prompt": "def f(x):\n    return", "canonical_solution": " x", "test": "assert f(1) == 1"}
    lines(tmp_path, {name: row[name] for name in row if name != column})
    with pytest.raises(MihakkError, match=f"no column for {column.removeprefix('canonical_')}"):
        list(ADAPTERS.get("code_problems").read(tmp_path, "d" * 64))


@pytest.mark.parametrize(
    ("adapter", "column"), [(name, column) for name, (_, row) in SETS.items() for column in row]
)
def test_a_file_without_a_column_is_refused_by_its_name(tmp_path: Path, adapter: str, column: str) -> None:
    write, row = SETS[adapter]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder, fields in ((whole, row), (cut, {name: row[name] for name in row if name != column})):
        folder.mkdir()
        write(folder, fields)
    assert list(ADAPTERS.get(adapter).read(whole, "d" * 64)), "the whole row is read"
    with pytest.raises(SourceChanged) as refused:
        list(ADAPTERS.get(adapter).read(cut, "d" * 64))
    assert column in str(refused.value)
    assert str(cut) in str(refused.value), "and where"


def test_files_that_hold_no_question_are_no_benchmark(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("[]", encoding="utf-8")
    part = {"adapter": "fannorflop", "data": str(tmp_path)}
    suite = Suite.model_validate({"name": "s", "title": "S", "pinned": False, "parts": [part]})
    with pytest.raises(UsageError, match="hold no question"):
        asked_of_suite(suite, lambda _: (Path(), ""))
