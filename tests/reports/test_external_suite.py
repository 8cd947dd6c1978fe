"""A suite of outside benchmarks: one command, one account, resumable, and copies between benchmarks are seen."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.external_suite import SuiteRun, SuiteSummary, load_suite
from mihakk.reports.external.suite import show_suite, suite_to_page
from mihakk.schemas.audit_suite import SuiteConfig
from mihakk.validators.external import parse_mapping


def write(path: Path, rows: list[tuple[str, str, str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["q", "A", "B", "gold"])
    frame.to_csv(path, index=False)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    cities = [(f"ما اسم المدينة رقم {n} في هذا الكتاب؟", f"مدينة {n}", f"قرية {n}", "A") for n in range(12)]
    write(
        tmp_path / "one.csv",
        [*cities, ("ما عاصمة الأردن؟", "عمان", "إربد", "A"), ("ما ضد النور\ufffd؟", "أ", "ب", "A")],
    )
    write(tmp_path / "two.csv", [("ما عاصمة الأردن؟", "عمان", "إربد", "A"), ("ما اسم المدينة رقم 3 في هذا الكتاب؟", "مدينة 3", "قرية 3", "B"), ("ما جمع قلم؟", "أقلام", "قلوم", "A"), ("ما جمع قلم؟", "أقلام", "قلوم", "A")])  # fmt: skip
    config = {
        "name": "pair",
        "title": "A pair of 50 % & more",
        "sources": [
            {"name": "one", "source": "one.csv", "mapping": "question=q,choices=A+B,gold=gold", "domain": "geo", "basis": "tried"},
            {"name": "two", "source": "two.csv", "domain": "geo"},
            {"name": "gone", "source": "gone.csv", "mapping": "question=q,gold=gold"},
        ],
    }  # fmt: skip
    path = tmp_path / "pair.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return path


def run(path: Path, out: Path) -> SuiteSummary:
    return suite_to_page(SuiteRun(load_suite(path), path.parent, out), lambda _: None)


def test_all_sources_come_into_one_account(suite: Path, tmp_path: Path) -> None:
    summary = run(suite, tmp_path / "out")
    assert [(one.name, one.status) for one in summary.states] == [
        ("one", "audited"),
        ("two", "audited"),
        ("gone", "failed"),
    ]
    figures = {row.name: (row.samples, row.blocked, row.merged, row.kept) for row in summary.sources}
    assert figures == {"one": (14, 1, 0, 13), "two": (4, 0, 1, 3)}
    assert {row.name: (row.task_type, row.subsets, row.domain) for row in summary.sources} == {
        "one": ("MCQ", 1, "geo"),
        "two": ("MCQ", 1, "geo"),
    }
    (domain,) = summary.domains
    assert (domain.name, domain.samples, domain.kept, domain.kept_unseen) == ("geo", 18, 16, 16)
    for table, count in (("sources", 2), ("domains", 1), ("subsets", 2), ("across", 2)):
        assert pq.read_table(summary.files[table]).num_rows == count
    page = Path(summary.files["page"]).read_text(encoding="utf-8")
    assert "gone.csv" in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    for file in re.findall(r'href="(?!data:|#)([^"]+)"', page):
        assert (tmp_path / "out" / file).exists(), file


def test_copies_between_benchmarks_are_told_with_their_answers(suite: Path, tmp_path: Path) -> None:
    across = run(suite, tmp_path / "out").across
    assert [(one.same_answer, one.rows) for one in across] == [
        (False, ("one: one.csv, row 4", "two: two.csv, row 2")),
        (True, ("one: one.csv, row 13", "two: two.csv, row 1")),
    ]


def test_what_has_not_changed_is_not_audited_again(suite: Path, tmp_path: Path) -> None:
    first = run(suite, tmp_path / "out")
    again = run(suite, tmp_path / "out")
    assert [one.status for one in again.states] == ["unchanged", "unchanged", "failed"]
    assert again.sources == first.sources
    write(suite.parent / "two.csv", [("ما جمع قلم؟", "أقلام", "قلوم", "A")])
    changed = run(suite, tmp_path / "out")
    assert [one.status for one in changed.states] == ["unchanged", "audited", "failed"]
    assert {row.name: row.samples for row in changed.sources} == {"one": 14, "two": 1}


def test_the_terminal_s_table_is_whole_at_80_columns(suite: Path, tmp_path: Path) -> None:
    said = io.StringIO()
    Console(width=80, file=said).print(show_suite(run(suite, tmp_path / "out")))
    table = said.getvalue().partition("Not audited")[0]
    assert "…" not in table
    assert "Waiting" in table


def test_latex_tables_escape_what_latex_reads_and_hold_every_subset(suite: Path, tmp_path: Path) -> None:
    text = Path(run(suite, tmp_path / "out").files["latex"]).read_text(encoding="utf-8")
    body = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {12, 14}
    assert not re.search(r"(?<!\\)%", "\n".join(body))
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 3


def test_the_command_names_what_failed_and_ends_with_1(suite: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["audit", str(suite), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "Not audited: gone" in done.output.replace("\n", " ")
    assert (tmp_path / "out" / "suite.html").is_file()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "configs" / "audits").glob("*.yaml")), ids=lambda path: path.stem
)
def test_ready_suites_are_sound(path: Path) -> None:
    config = load_config(path, SuiteConfig)
    for source in config.sources:
        if source.mapping != "auto":
            assert parse_mapping(source.mapping)
        assert source.basis == "tried" or source.note, f"{source.name}: an inferred mapping says from what"


def test_the_published_development_sets_go_through_in_one_command(shared_data: Path, tmp_path: Path) -> None:
    config = load_config(ROOT / "configs" / "audits" / "published.yaml", SuiteConfig)
    tried: list[Any] = [one for one in config.sources if one.basis == "tried"]
    assert len(tried) >= 6
    small = config.model_copy(
        update={"sources": tuple(one for one in tried if one.name in ("EXAMS", "ArabicMMLU"))}
    )
    summary = suite_to_page(SuiteRun(small, shared_data, tmp_path / "out"), lambda _: None)
    rows = {row.name: row for row in summary.sources}
    with (shared_data / "exams" / "exams_arabic_562.jsonl").open(encoding="utf-8") as lines:
        assert rows["EXAMS"].samples == sum(bool(json.loads(line)) for line in lines) == 562
    assert rows["ArabicMMLU"].samples == 825
    assert 0.05 < rows["ArabicMMLU"].rate < 0.2


def test_qimma_s_fourteen_sources_have_mappings_that_name_the_column_they_miss(tmp_path: Path) -> None:
    config = load_suite(ROOT / "configs" / "audits" / "qimma.yaml")
    names = " ".join(source.name for source in config.sources)
    some = "AraDiCE ArabCulture PalmX ArabicMMLU GAT 3LM-native 3LM-code ArabLegalQA MizanQA MedArabiQ"
    assert all(name in names for name in (*some.split(), "MedAraBench", "FannOrFlop", "AraTrust"))
    assert {source.basis for source in config.sources} == {"inferred"}
    path = tmp_path / "other.jsonl"
    path.write_text('{"nothing": "x"}\n', encoding="utf-8")
    sources = tuple(
        source.model_copy(update={"source": str(path) if source.mapping != "auto" else source.source})
        for source in config.sources
    )
    asked = SuiteRun(config.model_copy(update={"sources": sources}), tmp_path, tmp_path / "out")
    found = suite_to_page(asked, lambda _: None)
    for source, state in zip(sources, found.states, strict=True):
        assert state.status == "failed"
        wanted = "which columns" if source.mapping == "auto" else "has no column"
        assert wanted in state.problem, state


def test_a_suite_refuses_options_that_it_would_not_heed(tmp_path: Path) -> None:
    suite = tmp_path / "pair.yaml"
    suite.write_text("name: pair\n", "utf-8")
    done = CliRunner().invoke(app, ["audit", str(suite), "--max-cost", "4", "--fail-on", "block"])
    said = " ".join(done.output.split())
    assert (done.exit_code, "a suite does not take --fail-on, --max-cost: write" in said) == (2, True)
