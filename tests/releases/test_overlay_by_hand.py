"""Overlays made by hand: what no audit would write, and what a benchmark that moved does to them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.external_people import AuditedSet
from mihakk.pipeline.overlay import _cells, _evidence, _of_erratum, _tables
from mihakk.releases.cleaned.errata import RowErratum
from mihakk.releases.overlay import load, patching, tasks
from mihakk.releases.overlay.changes import value_digest
from mihakk.releases.overlay.patching import apply, verify
from mihakk.validators.external.table import Table
from tests.releases.hub_server import HubServer
from tests.releases.hub_state import Repository
from tests.releases.overlay_sets import MAPPING, ROWS, by_hand, lines


def test_rows_of_a_patched_set_of_the_hub_come_in_two_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patched copy calls its file `default/test.parquet`, the Hub the split `default/test`; the digests of the
    file are those of another writer."""
    arrow = pa.Table.from_pylist(ROWS)
    rows = dict(enumerate(ROWS))
    table = Table("default/test", "parquet", tuple(ROWS[0]), rows, split="test", arrow=arrow)
    monkeypatch.setattr(patching, "read_dataset", lambda *_: [table])
    overlay = by_hand(tmp_path / "overlay", table, {"row": 1, "action": "exclude"}, loaded="datasets")
    assert [row["name"] for row in load(overlay)["test"]] == ["r0", "r2", "r3", "r4", "r5"]


@pytest.mark.parametrize(
    ("mapping", "key", "patched"),
    [
        ("question=q,choices=A+B+C,gold=gold", "", None),
        ("question=q,choices=A+B+C,gold=gold,id=about.id", "n0", 1),
    ],
)
def test_a_row_that_differs_is_patched_only_where_its_id_says_that_it_is_the_one(
    tmp_path: Path, mapping: str, key: str, patched: int | None
) -> None:
    """Another row may stand at its number now, and hold the old value too: golds are equal in every fourth."""
    rows = [{**ROWS[at], "about": {"id": f"n{at}"}} for at in (0, 4)]
    table = Table(
        "bench.jsonl", "jsonl", tuple(rows[0]), dict(enumerate(rows)), file=tmp_path / "bench.jsonl"
    )
    gold = {"path": ("gold",), "old": value_digest("A"), "new": "B"}
    change = {"row": 0, "key": key, "action": "set", "cells": (gold,)}
    overlay = by_hand(tmp_path / "overlay", table, change, mapping=mapping)
    now = [rows[1], {**rows[0], "C": "الليل"}]
    (tmp_path / "bench.jsonl").write_bytes(lines(now))
    apply(overlay, tmp_path / "patched", str(tmp_path / "bench.jsonl"), moved=True)
    expected = [{**row, "gold": "B"} if at == patched else row for at, row in enumerate(now)]
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == lines(expected)


@pytest.mark.parametrize(
    ("change", "said", "evidence"),
    [
        ("repaired", "q: 'a' became 'b'", [("rule", "repair")]),
        ("waits", "people: conflict by , 2 votes", [("people", "conflict")]),
        ("waits", "first answered without seeing the gold: B", []),
        ("unreadable", "not_json: line 3", [("reader", "not_json")]),
    ],
)
def test_nobody_is_named_as_evidence_who_said_nothing(
    change: str, said: str, evidence: list[tuple[str, str]]
) -> None:
    erratum = RowErratum(
        **dict.fromkeys(("table", "own_id", "subset", "split", "before", "after"), ""),
        row=0, line=0, change=change, evidence=(said,),
    )  # fmt: skip
    assert [(one.by, one.name) for one in _of_erratum(erratum)] == evidence


def test_an_auditor_that_answers_otherwise_is_evidence(tmp_path: Path) -> None:
    at = {"table": ["b.csv"], "row": [0]}
    none = {"table": pa.array([], pa.string()), "row": pa.array([], pa.int64())}
    told = {"auditor": ["first"], "status": ["valid"], "issues": [[]], "blind_differs": [True]}
    pq.write_table(pa.table({**at, "people": [""], "merged_into": [""]}), tmp_path / "verdicts.parquet")
    pq.write_table(
        pa.table(none | {name: pa.array([], pa.string()) for name in ("check", "severity", "where")}),
        tmp_path / "findings.parquet",
    )
    pq.write_table(pa.table(at | told), tmp_path / "audits.parquet")
    ((one,),) = _evidence(tmp_path).values()
    assert (one.by, one.name, one.finding) == ("auditor", "first", "another answer without seeing the gold")


def test_what_is_no_number_and_dates_beside_a_change_are_no_change() -> None:
    day, none = datetime(2026, 11, 25, tzinfo=UTC), float("nan")
    row = {"q": {"text": "a", "at": day, "marks": [1, none]}, "score": none, "right": True}
    after = {"q": {"text": "b", "at": str(day), "marks": [1, none]}, "score": none, "right": 1}
    erratum = RowErratum(
        **dict.fromkeys(("table", "own_id", "subset", "split", "before"), ""),
        row=0, line=0, change="repaired", evidence=(), after=json.dumps(after),
    )  # fmt: skip
    found = _cells(Table("bench.parquet", "parquet", tuple(row), {0: row}), erratum)
    assert [(one.path, one.new) for one in found] == [(("q", "text"), "b"), (("right",), 1)]


def test_patched_tables_are_kept_in_the_cache_whatever_an_overlay_calls_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "bench.jsonl"
    source.write_bytes(lines(ROWS))
    table = Table("bench.jsonl", "jsonl", tuple(ROWS[0]), dict(enumerate(ROWS)), file=source)
    overlay = by_hand(tmp_path / "overlay", table, {"row": 1, "action": "exclude"}, name="../../../out")
    (overlay / "cache.d").mkdir()
    monkeypatch.setenv("MIHAKK_UPSTREAM", str(source))
    monkeypatch.setattr(tasks, "settings", lambda: SimpleNamespace(cache=tmp_path / "cache"))
    first = tasks.patched_folder(overlay)
    assert first.parent == tmp_path / "cache" / "overlays"
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    monkeypatch.delenv("MIHAKK_UPSTREAM")
    assert tasks.patched_folder(overlay) == first


def test_of_equal_rows_the_one_that_is_left_stays(tmp_path: Path) -> None:
    source = tmp_path / "bench.jsonl"
    table = Table("bench.jsonl", "jsonl", tuple(ROWS[0]), {0: ROWS[0], 1: ROWS[0]}, file=source)
    change = {"row": 1, "equal": 1, "key": "r0", "action": "exclude"}
    overlay = by_hand(tmp_path / "overlay", table, change)
    source.write_bytes(lines(ROWS[:1]))
    gone = apply(overlay, tmp_path / "patched", str(source), moved=True)[1]
    assert (gone.kind, gone.detail) == ("row_gone", "of the rows equal to it 1 are left, which stay")
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == lines(ROWS[:1])


def test_splits_whose_names_begin_alike_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{**row, "part": part} for row, part in zip(ROWS, ["test", "test-hard", "test"], strict=False)]
    source = tmp_path / "bench.jsonl"
    source.write_bytes(lines(rows))
    table = Table("bench.jsonl", "jsonl", tuple(rows[0]), dict(enumerate(rows)), file=source)
    overlay = by_hand(tmp_path / "overlay", table, mapping=f"{MAPPING},split=part")
    monkeypatch.setenv("MIHAKK_UPSTREAM", str(source))
    monkeypatch.setattr(tasks, "settings", lambda: SimpleNamespace(cache=tmp_path / "cache"))
    folder = tasks.patched_folder(overlay) / "ar_external_choice"
    assert [pq.read_table(path).num_rows for path in sorted(folder.glob("test-*"))] == [2]
    assert [pq.read_table(path).num_rows for path in sorted(folder.glob("test_hard-*"))] == [1]


def test_a_path_that_is_not_there_is_no_dataset_of_the_hub(tmp_path: Path) -> None:
    table = Table("bench.jsonl", "jsonl", tuple(ROWS[0]), dict(enumerate(ROWS)), file=tmp_path)
    overlay = by_hand(tmp_path / "overlay", table, {"row": 1, "action": "exclude"})
    with pytest.raises(UsageError, match=r"there is no file or folder 'data/bench\.jsonl'"):
        verify(overlay, "data/bench.jsonl", endpoint="http://127.0.0.1:1")
    by_hand(overlay, table, {"row": 1, "action": "exclude"}, loaded="datasets")
    with pytest.raises(UsageError, match="set HF_ENDPOINT to"):
        verify(overlay, endpoint="http://127.0.0.1:1")


def test_a_file_that_the_hub_holds_no_more_is_named(tmp_path: Path) -> None:
    table = Table("bench.jsonl", "jsonl", tuple(ROWS[0]), dict(enumerate(ROWS)), file=tmp_path)
    overlay = by_hand(tmp_path / "overlay", table, {"row": 1, "action": "exclude"})
    with HubServer().running() as hub:
        hub.repositories["owner/bench"] = Repository()
        hub.repositories["owner/bench"].commit({"other.jsonl": b"{}"})
        (found,) = verify(overlay, endpoint=hub.endpoint)
    assert (found.kind, found.detail) == ("file_missing", "there is no bench.jsonl")


def test_a_benchmark_that_is_gone_is_no_dataset_of_the_hub() -> None:
    unread: Any = None
    with pytest.raises(UsageError, match="which was audited, is gone: say with --upstream where it lies now"):
        _tables(AuditedSet(name="audit-bench", source="gone/bench.jsonl"), unread, unread, "gone/bench.jsonl")
