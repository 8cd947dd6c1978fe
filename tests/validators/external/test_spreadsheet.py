"""Tables of an external audit in a spreadsheet, and files outside the folder that was named."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app

MAPPING = "question=question,choices=A+B+C,gold=answer"
ROWS = [
    ["ما معنى «قلبه أبيض»؟", "لا يحمل ضغينة", '=HYPERLINK("http://x","y")', "شاحب من المرض", "A"],
    ["ما معنى «بلع لسانه»؟", "سكت", " ＠SUM(1)", "-تكلم كثيرا", "A"],
    ["ما عاصمة مصر اليوم؟", "القاهرة", "تونس", "دمشق", "A"],
]


def table(path: Path, rows: list[list[str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([["question", "A", "B", "C", "answer"], *rows])
    return path


def audit(source: Path, out: Path, *more: str) -> str:
    words = ["audit", str(source), "--map", MAPPING, "--rules-only", "--out", str(out), *more]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    return " ".join(found.output.split())


@pytest.mark.parametrize(("rows", "cells"), [(ROWS, 3), (ROWS[2:], 0)])
def test_a_cleaned_csv_with_formulas_says_that_it_is_not_safe_to_open(
    tmp_path: Path, rows: list[list[str]], cells: int
) -> None:
    said = audit(table(tmp_path / "quiz.csv", rows), tmp_path / "out")
    assert (f"Do not open the cleaned copy in a spreadsheet: {cells} of its cells" in said) == bool(cells)
    assert json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["formulas"] == cells
    clean = (tmp_path / "out" / "clean.csv").read_text("utf-8")
    assert list(csv.reader(clean.splitlines()))[1:] == rows, "the benchmark's own texts, unchanged"


def test_no_cell_of_the_findings_runs(tmp_path: Path) -> None:
    rows = [["=1+1", "سكت", "سكت", "أكل", "A"], *ROWS]
    words = ["audit", str(table(tmp_path / "-x.csv", rows)), "--map", MAPPING, "--rules-only"]
    found = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out"), "--format", "csv"])
    cells = [cell for row in csv.reader(found.stdout.splitlines()) for cell in row]
    assert len(cells) > 13
    assert not [cell for cell in cells if cell.lstrip()[:1] in set("=+-@＝＋－＠")]


def test_links_and_patterns_do_not_leave_the_folder(tmp_path: Path) -> None:
    secret = table(tmp_path / "outside" / "secret.csv", [["سري؟", "سر", "جهر", "علن", "A"]])
    folder = table(tmp_path / "mine" / "quiz.csv", ROWS).parent
    (folder / "linked.csv").symlink_to(secret)
    (folder / "folder").symlink_to(secret.parent, target_is_directory=True)
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: a\n  data_files: ['../outside/*.csv', quiz.csv]\n---\n", "utf-8"
    )
    audit(folder, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or "سري" not in path.read_bytes().decode("utf-8", "replace"), path
