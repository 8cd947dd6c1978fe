"""The first stage: what a source that fails leaves behind, and licences that the last gate refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import SourceChanged
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.local import local_engine
from mihakk.pipeline.losses import PARTS
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.scrape import STEP
from mihakk.reports.log_lines import LogObserver
from mihakk.reports.plan_table import show_plan
from mihakk.schemas.benchmark import BenchmarkConfig

GOOD = {"phrase": "قلبه أبيض", "explanation": "طيب النية لا يضمر لأحد شرا"}


def write(path: Path, empty: int) -> None:
    rows = [GOOD, *({"phrase": f"مثل {n}", "explanation": ""} for n in range(empty))]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def toy(folder: Path, licence: str = "CC0-1.0", least: int = 1) -> dict[str, object]:
    options = {"path": str(folder / "t.jsonl"), "kind": "idiom", "language": "ar", "licence": licence}
    return {
        "name": "toy",
        "title": "Toy",
        "sources": [{"use": "files", "options": options | {"least_yield": least}}],
        "tasks": [{"use": "meaning_choice"}],
        "embeddings": "none",
        "audit": {"limit": 0},
        "release": {"authors": ["Mihakk contributors"]},
    }


def test_a_source_that_fails_leaves_its_rejections(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", empty=5)
    config = tmp_path / "toy.yaml"
    config.write_text(json.dumps(toy(tmp_path, least=4)), encoding="utf-8")
    build = Build(
        BenchmarkConfig.model_validate(toy(tmp_path, least=4)), str(tmp_path / "lake"), tmp_path / "runs"
    )
    with local_engine(1) as engine, pytest.raises(SourceChanged) as told:
        run_step(STEP, build, engine, Silent())
    text = str(told.value)
    assert "gave 1 records and 5 rejections" in text
    assert "5 explanation_missing" in text
    assert text.count("explanation is empty") == 3
    shown = CliRunner().invoke(
        app, ["show", "1_scraped/rejected", "-b", str(config), "--lake", str(tmp_path / "lake"), "--json"]
    )
    assert shown.exit_code == 0, shown.output
    rows = json.loads(shown.stdout)
    assert [row["reason"] for row in rows] == ["explanation_missing"] * 5
    assert json.loads(rows[0]["body"])["phrase"] == "مثل 0"
    # A run that ends well shows its own.
    write(tmp_path / "t.jsonl", empty=1)
    build = Build(BenchmarkConfig.model_validate(toy(tmp_path)), str(tmp_path / "lake"), tmp_path / "runs")
    with local_engine(1) as engine:
        run_step(STEP, build, engine, Silent())
    assert build.stage("1_scraped").failed_rejections() is None
    assert len(build.stage("1_scraped").rejections()) == 1


def test_licences_that_no_release_may_carry_are_said_after_the_first_stage(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", empty=0)
    said: list[str] = []
    for licence in ("unknown", "CC0-1.0"):
        config = BenchmarkConfig.model_validate(toy(tmp_path, licence))
        build = Build(config, str(tmp_path / licence), tmp_path / "runs")
        with local_engine(1) as engine, LogObserver("text", said.append) as observer:
            run_step(STEP, build, engine, observer)
    (warning,) = [line for line in said if "refuses" in line]
    assert "1 records carry a licence that a release refuses (unknown: 1)" in warning


def test_a_dry_run_says_what_the_licence_gate_will_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mihakk.pipeline import plan as planning
    from mihakk.validators.audit.auditing import Estimate

    nothing = Estimate(calls=0, cached=0, prompt_tokens=0, basis="tokenised")
    monkeypatch.setattr(planning, "_estimate", lambda *_: nothing)
    write(tmp_path / "t.jsonl", empty=0)
    config = BenchmarkConfig.model_validate(toy(tmp_path, "unknown"))
    found = planning.plan(Build(config, str(tmp_path / "lake"), tmp_path / "runs"))
    assert found.refused_licences == {"unknown": 1}
    console = Console(width=200, record=True)
    console.print(show_plan(found))
    assert "1 records carry a licence that a release refuses" in console.export_text()


def test_a_rejected_couplet_is_no_lost_record(tmp_path: Path) -> None:
    couplets = [["قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل"], ["يوم", ""], ["", "ليل"]]
    rows = [{"id": n, "poet": "امرؤ القيس", "couplets": couplets} for n in range(3)]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    config = toy(tmp_path)
    options = {"path": str(path), "kind": "poem", "language": "ar", "licence": "CC0-1.0"}
    config["sources"] = [{"use": "files", "options": options}]
    build = Build(BenchmarkConfig.model_validate(config), str(tmp_path / "lake"), tmp_path / "runs")
    with local_engine(1) as engine:
        counts = run_step(STEP, build, engine, Silent()).counts
    assert (counts.read, counts.kept, counts.rejected) == (9, 3, 6)
    assert counts.notes[PARTS] == 6
