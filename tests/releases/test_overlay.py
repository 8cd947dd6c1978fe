"""An overlay: the errata of a benchmark as a patch against its own files."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.external_audit import AuditJob, run_audit
from mihakk.pipeline.overlay import _cells, _evidence, _of_erratum, make_overlay
from mihakk.releases.cleaned.errata import RowErratum
from mihakk.releases.content.checksum import file_digest
from mihakk.releases.overlay import load, patching, tasks
from mihakk.releases.overlay.changes import (
    Overlay,
    PatchedTable,
    RowChange,
    read_overlay,
    row_digests,
    rows_digest,
    value_digest,
    write_overlay,
)
from mihakk.releases.overlay.patching import apply, verify
from mihakk.validators.external.table import Table
from tests.releases.hub_server import HubServer
from tests.releases.hub_state import Repository
from tests.reports.test_external_people import decide

MAPPING = "question=q,choices=A+B+C,gold=gold,id=name"
ROWS: list[dict[str, Any]] = [
    {"name": "r0", "q": "ما ضد كلمة النور؟", "A": "الظلام", "B": "الضوء", "C": "البرق", "gold": "A"},
    {"name": "r1", "q": "ما جمع كلمة قلم؟", "A": "أقلام", "B": "أقلام", "C": "قلمان", "gold": "A"},
    {"name": "r2", "q": "ما ضد كلمة األرض؟", "A": "السماء", "B": "البحر", "C": "الجبل\nو«التل»", "gold": "A"},
    {"name": "r3", "q": "ما مرادف كلمة ليث؟", "A": "ذئب", "B": "نمر", "C": "أسد", "gold": "E"},
    {"name": "r4", "q": "ما ضد كلمة الحر؟", "A": "البرد", "B": "الدفء", "C": "الصيف", "gold": "A"},
    {"name": "r5", "q": "ما ضد كلمة الحر؟", "A": "البرد", "B": "الدفء", "C": "الصيف", "gold": "A"},
]
"""The second has one option twice, the third a letter out of its place, the fourth a gold that is not there;
the last two are equal but for their ids."""
LINES = {"separators": (",", ": "), "ensure_ascii": False}


def lines(rows: list[dict[str, Any]], end: str = "\n", **style: Any) -> bytes:
    """Rows as JSON lines."""
    return "".join(json.dumps(row, **(LINES | style)) + end for row in rows).encode()


def table(rows: list[dict[str, Any]], end: str = "\n", delimiter: str = ",") -> str:
    """Rows as csv."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().replace("\r\n", end)


def audited(source: Path, out: Path, mapping: str = MAPPING, **more: Any) -> Path:
    """The folder of an audit by rules that repairs what is certain."""
    options: dict[str, Any] = {"licence": "CC-BY-4.0", "repair": True} | more
    run_audit(AuditJob(source=str(source), mapping=mapping, folder=out, **options), lambda _: None)
    return out


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A benchmark as JSON lines, its overlay and the cleaned copy of its audit."""
    source = tmp_path / "bench.jsonl"
    source.write_bytes(lines(ROWS))
    audit = audited(source, tmp_path / "audit")
    make_overlay(audit, tmp_path / "overlay", dataset="owner/bench", revision="1a2b")
    return source, tmp_path / "overlay", audit / "clean.jsonl"


def by_hand(folder: Path, table: Table, *changes: dict[str, Any], **head: Any) -> Path:
    """An overlay of one table; each change names its row."""
    digests = row_digests(table)
    rows = [
        RowChange(table=table.name, digest=digests[one["row"]], reason="corrected", **one) for one in changes
    ]
    gone = {one.row for one in rows if one.action == "exclude"}
    left = rows_digest(digest for number, digest in digests.items() if number not in gone)
    path, whole = table.name, rows_digest(digests.values())
    if table.file is None:
        path += ".parquet"
    elif table.file.is_file():
        whole = file_digest(table.file)
    one = PatchedTable(
        name=table.name, path=path, split="test", rows=len(digests), digest=whole, patched="", patched_rows=left
    )  # fmt: skip
    told = {"dataset": "owner/bench", "loaded": "files", "licence": "CC-BY-4.0", "mapping": MAPPING} | head
    overlay = Overlay(title="bench", version="0.1.0", tables=(one,), **({"name": "bench"} | told))
    write_overlay(overlay, rows, folder, columns=False)
    return folder


def kinds(overlay: Path, upstream: Path) -> list[tuple[str, int | None]]:
    return [(one.kind, one.row) for one in verify(overlay, str(upstream))]


def test_an_overlay_gives_the_cleaned_copy_and_holds_only_changed_cells(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, clean = made
    assert verify(overlay, str(source)) == []
    apply(overlay, tmp_path / "patched", str(source))
    patched = (tmp_path / "patched" / "bench.jsonl").read_bytes()
    assert patched == clean.read_bytes()
    kept = [*ROWS[:1], {**ROWS[2], "q": "ما ضد كلمة الأرض؟"}, ROWS[4]]
    assert patched == lines(kept)
    head, changes = read_overlay(overlay)
    assert head.changes == {"blocked": 2, "merged": 1, "repaired": 1}
    assert [(one.row, one.action, one.reason) for one in changes] == [
        (1, "exclude", "blocked"), (2, "set", "repaired"), (3, "exclude", "blocked"), (5, "exclude", "merged"),
    ]  # fmt: skip
    assert [one.evidence[0].name for one in changes] == ["CH03", "repair", "CH01", "r4"]
    assert changes[0].evidence[0].finding.startswith("CH03:bench.jsonl#1")
    told = b"".join(path.read_bytes() for path in overlay.glob("*.*")).decode()
    assert [cell.new for one in changes for cell in one.cells] == ["ما ضد كلمة الأرض؟"]
    for row in ROWS:
        assert all(row[name] not in told for name in "qABC"), row


def test_a_row_that_people_rescued_stays_as_it_is(tmp_path: Path) -> None:
    source, out = tmp_path / "bench.jsonl", tmp_path / "audit"
    source.write_bytes(lines(ROWS))
    first, _ = run_audit(AuditJob(source=str(source), mapping=MAPPING, folder=out), lambda _: None)
    decide(out, first, "r1", "keep")
    make_overlay(audited(source, out), tmp_path / "overlay", dataset="owner/bench", revision="1a2b")
    head, changes = read_overlay(tmp_path / "overlay")
    assert head.changes == {"blocked": 1, "merged": 1, "repaired": 1}
    assert 1 not in {one.row for one in changes}
    apply(tmp_path / "overlay", tmp_path / "patched", str(source))
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == (out / "clean.jsonl").read_bytes()


def test_rows_of_a_patched_benchmark_come_in_two_lines(made: tuple[Path, Path, Path]) -> None:
    source, overlay, _ = made
    assert [row["name"] for row in load(overlay, str(source))["test"]] == ["r0", "r2", "r4"]


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


def test_nothing_is_written_over_another_benchmark_and_each_difference_is_named(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, _ = made
    other = [*ROWS[3:], *ROWS[:3]]
    other[5] = {**other[5], "q": "ما ضد كلمة السهل؟"}
    del other[0]
    source.write_bytes(lines(other))
    assert kinds(overlay, source) == [
        ("file_changed", None), ("row_moved", 1), ("row_changed", 2), ("row_gone", 3), ("row_moved", 5),
    ]  # fmt: skip
    with pytest.raises(
        SourceChanged, match=r"row_changed: bench\.jsonl, row 3: q: the old value is not as stated"
    ):
        apply(overlay, tmp_path / "patched", str(source))
    assert not (tmp_path / "patched").exists()
    left = apply(overlay, tmp_path / "patched", str(source), moved=True)
    assert len(left) == 5
    kept = [row for row in other if row["name"] not in ("r1", "r5")]
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == lines(kept)


ATTACKS: dict[str, Callable[[], bytes]] = {
    "reordered": lambda: lines(ROWS[::-1]),
    "CRLF": lambda: lines(ROWS, "\r\n"),
    "BOM": lambda: b"\xef\xbb\xbf" + lines(ROWS),
    "UTF-16": lambda: lines(ROWS).decode().encode("utf-16"),
    "keys in another order": lambda: lines([dict(reversed(row.items())) for row in ROWS]),
    "escaped": lambda: lines(ROWS, ensure_ascii=True),
    "a blank line first": lambda: b"\n" + lines(ROWS),
    "rows between": lambda: lines(
        [one for row in ROWS for one in ({**ROWS[0], "name": "n", "q": row["A"]}, row)]
    ),
    "an id twice": lambda: lines([{**ROWS[4], "name": "r1"}, *ROWS]),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_rows_as_stated_are_patched_in_a_benchmark_that_was_written_anew(
    made: tuple[Path, Path, Path], tmp_path: Path, attack: str
) -> None:
    source, overlay, _ = made
    source.write_bytes(data := ATTACKS[attack]())
    found = verify(overlay, str(source))
    assert found[0].kind == "file_changed"
    assert {one.kind for one in found[1:]} <= {"row_moved"}
    apply(overlay, tmp_path / "patched", str(source), moved=True)
    patched = (tmp_path / "patched" / "bench.jsonl").read_bytes()
    codec = "utf-16" if attack == "UTF-16" else "utf-8-sig"
    before, after = (
        [json.loads(line) for line in raw.decode(codec).splitlines() if line.strip()]
        for raw in (data, patched)
    )
    gone = [row for row in before if row in (ROWS[1], ROWS[3], ROWS[5])]
    expected = [
        {**row, "q": "ما ضد كلمة الأرض؟"} if row == ROWS[2] else row for row in before if row not in gone
    ]
    assert (after, len(gone)) == (expected, 3)
    assert patched[:3] == data[:3] or attack not in ("BOM", "UTF-16")
    assert patched.count(b"\r") == data.count(b"\r") - (3 if attack == "CRLF" else 0) or attack == "UTF-16"


def test_equal_rows_are_told_apart_by_their_order(tmp_path: Path) -> None:
    """The second of two equal rows goes; wherever they stand, one is left."""
    source = tmp_path / "bench.jsonl"
    rows = [{**ROWS[4], "name": ""}, {**ROWS[4], "name": ""}, ROWS[0], {**ROWS[4], "name": ""}]
    source.write_bytes(lines(rows))
    make_overlay(audited(source, tmp_path / "audit"), tmp_path / "overlay")
    source.write_bytes(lines([rows[2], *rows[:2], rows[3]]))
    apply(tmp_path / "overlay", tmp_path / "patched", str(source), moved=True)
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == lines([ROWS[0], rows[0]])


CELL = st.text(st.sampled_from('بتث ab,;"\n\r\t؟'), min_size=1, max_size=5)
ROW = st.fixed_dictionaries(
    {name: CELL.map("".join) for name in ("q", "A", "B", "C")} | {"gold": st.sampled_from("ABCE")}
)


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=6),
    file=st.tuples(
        st.sampled_from(["jsonl", "json", "csv", "tsv", "parquet"]), st.sampled_from(["\n", "\r\n"])
    ),
    mark=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_applying_what_was_made_gives_the_bytes_of_the_cleaned_copy(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    file: tuple[str, str],
    mark: str,
) -> None:
    """The property: apply(make(audit), upstream) is the cleaned copy, and verify has nothing to say."""
    folder = tmp_path_factory.mktemp("property")
    ending, end = file
    source = folder / f"bench.{ending}"
    rows = [{"name": f"n{at}", **ROWS[0], **row} for at, row in enumerate(rows)] + ROWS
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), source)
    elif ending == "jsonl":
        source.write_bytes(lines(rows, end).decode().encode(mark))
    elif ending == "json":
        source.write_bytes(json.dumps({"data": rows}, indent=2).replace("\n", end).encode(mark))
    else:
        source.write_bytes(table(rows, end, "\t" if ending == "tsv" else ",").encode(mark))
    audit = audited(source, folder / "audit")
    make_overlay(audit, folder / "overlay")
    assert verify(folder / "overlay", str(source)) == []
    apply(folder / "overlay", folder / "patched", str(source))
    assert (folder / "patched" / source.name).read_bytes() == (audit / f"clean.{ending}").read_bytes()


def test_a_folder_keeps_its_paths_and_a_workbook_its_sheets(tmp_path: Path) -> None:
    import openpyxl
    import pandas as pd

    source = tmp_path / "bench"
    (source / "geo").mkdir(parents=True)
    (source / "geo" / "test.csv").write_bytes(table(ROWS, "\r\n").encode())
    with pd.ExcelWriter(source / "more.xlsx") as writer:
        pd.DataFrame([{**row, "q": f"{row['q']} {row['A']}"} for row in ROWS]).to_excel(
            writer, index=False, sheet_name="one"
        )
        pd.DataFrame([{"about": "notes"}]).to_excel(writer, index=False, sheet_name="notes")
    audit = audited(source, tmp_path / "audit")
    make_overlay(audit, tmp_path / "overlay")
    apply(tmp_path / "overlay", tmp_path / "patched", str(source))
    for path in ("geo/test.csv", "more.xlsx"):
        assert (tmp_path / "patched" / path).read_bytes() == (audit / "clean" / path).read_bytes()
    assert openpyxl.load_workbook(tmp_path / "patched" / "more.xlsx").sheetnames == ["one", "notes"]
    (source / "more.xlsx").unlink()
    assert ("file_missing", None) in kinds(tmp_path / "overlay", source)


@pytest.mark.parametrize(
    ("licence", "asked"), [("CC-BY-ND-4.0", False), ("unknown", False), ("CC-BY-4.0", True)]
)
def test_where_no_copy_is_allowed_an_overlay_only_leaves_rows_out(
    tmp_path: Path, licence: str, asked: bool
) -> None:
    source = tmp_path / "bench.csv"
    source.write_bytes(table(ROWS).encode())
    audit = audited(source, tmp_path / "audit", licence=licence)
    head = make_overlay(audit, tmp_path / "overlay", exclusions_only=asked)
    assert head.exclusions_only
    _, changes = read_overlay(tmp_path / "overlay")
    assert all(one.action == "exclude" and not one.cells for one in changes)
    told = b"".join(path.read_bytes() for path in (tmp_path / "overlay").glob("*.*")).decode()
    assert not any(row[name] in told for row in ROWS for name in "qABC")
    assert not any(letter in told for letter in "ابتثجحخدذرزسشصضطظعغفقكلمنهوي")
    apply(tmp_path / "overlay", tmp_path / "patched", str(source))
    kept = [ROWS[0], ROWS[4]]
    assert (tmp_path / "patched" / "bench.csv").read_text("utf-8") == table(kept)


def test_rows_that_the_audit_did_not_take_are_left_out_as_such(tmp_path: Path) -> None:
    source = tmp_path / "bench.csv"
    rows = [{**row, "part": "test" if at % 2 else "train"} for at, row in enumerate(ROWS)]
    source.write_bytes(table(rows).encode())
    audit = audited(source, tmp_path / "audit", f"{MAPPING},split=part", split="train")
    head = make_overlay(audit, tmp_path / "overlay")
    assert head.changes["outside"] == 3
    apply(tmp_path / "overlay", tmp_path / "patched", str(source))
    assert (tmp_path / "patched" / "bench.csv").read_bytes() == (audit / "clean.csv").read_bytes()


def test_one_option_of_a_list_is_changed_and_its_neighbours_are_not_told(tmp_path: Path) -> None:
    source = tmp_path / "bench.jsonl"
    rows = [
        {"q": row["q"], "options": [row["A"], row["B"], f"{row['C']} األول"], "gold": 0}
        for row in ROWS[:1] * 1
    ]
    source.write_bytes(lines(rows))
    audit = audited(source, tmp_path / "audit", "question=q,choices=options,gold=gold,gold_as=index0")
    make_overlay(audit, tmp_path / "overlay")
    _, (change,) = read_overlay(tmp_path / "overlay")
    assert [(cell.path, cell.new) for cell in change.cells] == [(("options", 2), "البرق الأول")]
    assert "الضوء" not in (tmp_path / "overlay" / "changes.jsonl").read_text("utf-8")
    apply(tmp_path / "overlay", tmp_path / "patched", str(source))
    assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == (audit / "clean.jsonl").read_bytes()


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


def test_changes_as_parquet_say_the_same(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, overlay, _ = made
    head, changes = read_overlay(overlay)
    write_overlay(head, changes, tmp_path / "other", columns=True)
    assert read_overlay(tmp_path / "other") == (head, changes)


def test_a_damaged_overlay_is_named_with_its_line(made: tuple[Path, Path, Path]) -> None:
    source, overlay, _ = made
    text = (overlay / "changes.jsonl").read_text("utf-8")
    (overlay / "changes.jsonl").write_text(text.replace('"exclude"', '"delete"', 1), "utf-8")
    with pytest.raises(UsageError, match=r"changes\.jsonl, line 1 is damaged"):
        verify(overlay, str(source))
    (overlay / "changes.jsonl").write_text(text.replace("bench.jsonl", "other.jsonl"), "utf-8")
    with pytest.raises(UsageError, match=r"has no table 'other\.jsonl'"):
        verify(overlay, str(source))
    told = json.loads((overlay / "overlay.json").read_bytes())
    (overlay / "overlay.json").write_text(json.dumps(told | {"format": 2}), "utf-8")
    with pytest.raises(UsageError, match="of format 2, this Mihakk reads 1"):
        verify(overlay, str(source))
    (overlay / "overlay.json").write_text(json.dumps(told), "utf-8")
    for line in ('{"cells": ' + "[" * 9999, text.splitlines()[1].replace('["q"]', "[]")):
        (overlay / "changes.jsonl").write_text(line, "utf-8")
        with pytest.raises(UsageError, match=r"changes\.jsonl, line 1 is damaged"):
            read_overlay(overlay)
    pq.write_table(pa.table({"row": [1]}), overlay / "changes.parquet")
    with pytest.raises(
        UsageError, match=r"changes\.parquet, row 1 is damaged \('cells'\): fetch the overlay again"
    ):
        read_overlay(overlay)


@pytest.mark.parametrize("path", ["../other.jsonl", "/etc/other.jsonl", "a/../../b.jsonl", "C:\\b.jsonl", ""])
def test_a_path_that_leaves_its_folder_is_refused(
    made: tuple[Path, Path, Path], tmp_path: Path, path: str
) -> None:
    source, overlay, _ = made
    told = json.loads((overlay / "overlay.json").read_bytes())
    told["tables"][0]["path"] = path
    (overlay / "overlay.json").write_text(json.dumps(told), "utf-8")
    with pytest.raises(UsageError, match="is no path below a folder"):
        apply(overlay, tmp_path / "out" / "patched", str(source))


@pytest.mark.parametrize(
    "altered",
    [{"row": 4}, {"row": 99}, {"digest": "0" * 64}, {"cells": [{"path": ["Q"], "old": "0", "new": "x"}]}],
)
def test_a_change_that_does_not_fit_the_very_file_is_named(
    made: tuple[Path, Path, Path], altered: dict[str, Any]
) -> None:
    source, overlay, _ = made
    rows = [json.loads(line) for line in (overlay / "changes.jsonl").read_text("utf-8").splitlines()]
    rows[1] |= altered
    (overlay / "changes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert kinds(overlay, source) == [("row_changed", altered.get("row", 2))]


def test_commands_end_with_one_where_the_benchmark_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path("bench.jsonl")
    source.write_bytes(lines(ROWS))
    audited(source, Path("audit"))
    run = CliRunner().invoke
    done = run(app, ["overlay", "make", "audit", "overlay", "--dataset", "owner/bench", "--json"])
    assert (done.exit_code, json.loads(done.output)["changes"]) == (
        0,
        {"blocked": 2, "merged": 1, "repaired": 1},
    )
    assert run(app, ["overlay", "verify", "overlay", "bench.jsonl"]).exit_code == 0
    done = run(app, ["overlay", "apply", "overlay", "patched", "bench.jsonl"])
    assert done.exit_code == 0, done.output
    again = run(app, ["overlay", "apply", "overlay", "patched", "bench.jsonl"])
    assert (again.exit_code, "is not empty" in again.output) == (2, True)
    source.write_bytes(lines(ROWS[1:]))
    done = run(app, ["overlay", "verify", "overlay", "bench.jsonl"])
    assert done.exit_code == 1
    assert "row_moved: bench.jsonl, row 2: it stands in row 1 now" in done.output
    assert run(app, ["overlay", "apply", "overlay", "other", "bench.jsonl"]).exit_code == 1
    assert run(app, ["overlay", "apply", "overlay", "other", "bench.jsonl", "--moved"]).exit_code == 1
    assert Path("other/bench.jsonl").is_file()
    done = run(app, ["overlay", "make", "audit", "overlay"])
    assert (done.exit_code, "no longer what was audited" in " ".join(done.output.split())) == (2, True)
    assert run(app, ["overlay", "verify", "overlay", "nowhere.jsonl"]).exit_code == 2


def test_an_overlay_is_not_written_over_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    for out in (tmp_path, Path(__file__)):
        with pytest.raises(UsageError, match="holds something else than an overlay: name a fresh folder"):
            make_overlay(tmp_path / "audit", out)
    assert (tmp_path / "eval").is_dir()


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


def test_the_benchmark_is_fetched_at_its_revision_from_a_hub(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, clean = made
    with HubServer().running() as hub:
        repository = hub.repositories["owner/bench"] = Repository()
        first = repository.commit({"bench.jsonl": source.read_bytes()})
        repository.commit({"bench.jsonl": lines(ROWS[::-1])})
        head, changes = read_overlay(overlay)
        write_overlay(head.model_copy(update={"revision": first}), changes, overlay, columns=False)
        apply(overlay, tmp_path / "patched", endpoint=hub.endpoint)
        assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == clean.read_bytes()
        write_overlay(head.model_copy(update={"revision": ""}), changes, overlay, columns=False)
        assert verify(overlay, endpoint=hub.endpoint)[0].kind == "file_changed"


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


@pytest.mark.services
def test_a_set_of_the_hub_is_audited_made_into_an_overlay_and_patched_there(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    with HubServer().running() as hub:
        repository = hub.repositories["owner/bench"] = Repository()
        repository.commit({"data/test-00000-of-00001.parquet": sink.getvalue()})
        own = {"HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "hf")}

        def mihakk(*arguments: str) -> None:
            done = subprocess.run(
                [sys.executable, "-m", "mihakk.flows.cli", *arguments],
                env={**os.environ, **own}, cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]

        options = ("--map", MAPPING, "--licence", "CC-BY-4.0", "--repair", "--out", "audit")
        mihakk("audit", "owner/bench", "--rules-only", *options)
        mihakk("overlay", "make", "audit", "overlay")
        mihakk("overlay", "verify", "overlay")
        mihakk("overlay", "apply", "overlay", "patched")
    assert read_overlay(tmp_path / "overlay")[0].loaded == "datasets"
    (made,), (clean,) = ([*(tmp_path / name).rglob("*.parquet")] for name in ("patched", "audit/clean"))
    assert made.read_bytes() == clean.read_bytes()
    assert [row["name"] for row in pq.read_table(made).to_pylist()] == ["r0", "r2", "r4"]


def environment(tmp_path: Path, source: Path) -> dict[str, str]:
    own = {"MIHAKK_UPSTREAM": str(source), "MIHAKK_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    return {
        **os.environ,
        **own,
        "HF_HOME": str(tmp_path / "hf"),
        "LOOPBACK_API_KEY": "none",
        "OPENAI_API_KEY": "none",
    }


HARNESS = """
import json, sys
import datasets
sys.path.insert(0, sys.argv[1])
import harness
loaded = harness.load("ar_external_choice")
# LightEval gives `datasets` this folder and this config.
same = datasets.load_dataset(str(harness.data_root()), "ar_external_choice")
print(json.dumps([[row["metadata"]["id"] for row in one["test"]] for one in (loaded, same)]))
"""


def test_harnesses_are_given_the_patched_rows_and_refuse_another_benchmark(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, _ = made

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", HARNESS, str(overlay / "eval" / "lm_eval")],
            env=environment(tmp_path, source), capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = run()
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [["r0", "r2", "r4"]] * 2
    source.write_bytes(lines(ROWS[1:]))
    done = run()
    assert done.returncode == 1
    assert "SourceChanged" in done.stderr


@pytest.mark.services
def test_lm_eval_and_inspect_score_the_patched_benchmark(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("lm_eval")
    pytest.importorskip("inspect_ai")
    source, overlay, _ = made
    asked: list[str] = []

    def script(call: Call) -> Answer:
        asked.append(call.said)
        return Answer(text="أ" if "النور" in call.said else "ب")

    with ScriptedServer(script) as server:
        address = f"{server.url}/chat/completions"
        command = [sys.executable, "-m", "lm_eval", "run", "--model", "local-chat-completions", "--apply_chat_template",
                   "--model_args", f"model=m,base_url={address},tokenizer_backend=None", "--tasks",
                   "audit-bench_ar_external_choice_written", "--include_path", str(overlay / "eval" / "lm_eval"),
                   "--output_path", str(tmp_path / "out")]  # fmt: skip
        own = environment(tmp_path, source) | {"LOOPBACK_BASE_URL": server.url}
        done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        told = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text(encoding="utf-8"))
        assert told["results"]["audit-bench_ar_external_choice_written"]["acc,none"] == pytest.approx(1 / 3)
        command = [sys.executable, "-m", "inspect_ai", "eval", "eval/inspect/tasks.py", "--model", "openai-api/loopback/m",
                   "--log-dir", str(tmp_path / "logs"), "--log-format", "json", "--display", "none"]  # fmt: skip
        done = subprocess.run(command, env=own, cwd=overlay, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    log = json.loads(next((tmp_path / "logs").glob("*.json")).read_text(encoding="utf-8"))
    assert log["status"] == "success"
    figures = {one["name"]: one["metrics"] for one in log["results"]["scores"]}
    assert figures["acc"]["mean"]["value"] == pytest.approx(1 / 3)
    assert len(asked) == 6
    assert any("ما ضد كلمة الأرض؟" in said for said in asked)
    assert isinstance(read_overlay(overlay)[0], Overlay)
