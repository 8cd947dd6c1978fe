"""An overlay: the errata of a benchmark as a patch against its own files."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.pipeline.external_audit import AuditJob, run_audit
from mihakk.pipeline.overlay import make_overlay
from mihakk.releases.overlay import load
from mihakk.releases.overlay.changes import HEAD, read_overlay, write_overlay
from mihakk.releases.overlay.patching import apply, verify
from tests.releases.hub_server import HubServer
from tests.releases.hub_state import Repository
from tests.releases.overlay_sets import MAPPING, ROWS, audited, kinds, lines
from tests.reports.test_external_people import decide


def table(rows: list[dict[str, Any]], end: str = "\n", delimiter: str = ",") -> str:
    """Rows as csv."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().replace("\r\n", end)


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


@pytest.mark.parametrize("licence", ["CC-BY-ND-4.0", "unknown"])
def test_where_no_copy_is_allowed_an_overlay_only_leaves_rows_out(tmp_path: Path, licence: str) -> None:
    source = tmp_path / "bench.csv"
    source.write_bytes(table(ROWS).encode())
    audit = audited(source, tmp_path / "audit", licence=licence)
    head = make_overlay(audit, tmp_path / "overlay")
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
    assert (head.changes["outside"], head.tables[0].rows) == (3, 6)
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


def test_what_does_not_come_out_as_stated_is_not_written(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, _ = made
    head = json.loads((overlay / HEAD).read_bytes())
    head["tables"][0] |= {"patched": "0" * 64, "patched_rows": "0" * 64}
    (overlay / HEAD).write_text(json.dumps(head))
    with pytest.raises(ExternalFailure, match=r"holds other rows than .* states; nothing was written"):
        apply(overlay, tmp_path / "patched", str(source))
    assert not (tmp_path / "patched").exists()


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


def test_the_benchmark_is_fetched_at_its_revision_from_a_hub(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, clean = made
    with HubServer().running() as hub:
        repository = hub.repositories["owner/bench"] = Repository()
        first = repository.commit({"bench.jsonl": source.read_bytes()})
        repository.commit({"bench.jsonl": lines(ROWS[::-1])})
        head, changes = read_overlay(overlay)
        write_overlay(head.model_copy(update={"revision": first}), changes, overlay)
        apply(overlay, tmp_path / "patched", endpoint=hub.endpoint)
        assert (tmp_path / "patched" / "bench.jsonl").read_bytes() == clean.read_bytes()
        write_overlay(head.model_copy(update={"revision": ""}), changes, overlay)
        assert verify(overlay, endpoint=hub.endpoint)[0].kind == "file_changed"


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
