"""A build stops and starts where it is asked to, by the real command line on a small table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import canonicalize


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    options = {"path": str(ROOT / "data/samples/egyptian_idioms.jsonl"), "kind": "idiom", "language": "ar"}
    options |= {"licence": "CC-BY-4.0", "attribution": "x"}
    config = {"name": "toy", "title": "Toy", "sources": [{"use": "files", "options": options, "limit": 12}]}
    config |= {
        "tasks": [{"use": "meaning_choice"}],
        "embeddings": "none",
        "audit": {"limit": 0},
        "release": {"authors": ["Somebody"]},
    }
    (tmp_path / "toy.yaml").write_text(json.dumps(config), encoding="utf-8")

    def call(command: str, *arguments: str) -> tuple[int, str]:
        always = ["--lake", "lake", "--log", "text", "--workers", "1"]
        told = CliRunner().invoke(app, [command, "toy.yaml", *always, *arguments])
        return told.exit_code, told.output

    return call


def finished(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in (folder / "lake" / "toy").glob("*/manifest.json"))


def test_a_build_stops_after_the_stage_that_until_names_and_goes_on_from_it(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, said = run("build", "--from", "checked")
    assert code == 2
    assert "stage 4_generated has not finished" in said
    code, said = run("build", "--until", "curated")
    assert code == 0, said
    assert finished(tmp_path) == ["1_scraped", "2_normalized", "3_curated"]
    assert "Stopped after" in said
    code, said = run("build", "--from", "generated", "--until", "5_checked", "--json")
    assert code == 0, said
    assert finished(tmp_path)[-1] == "5_checked"
    code, said = run("build", "--from", "audited", "--until", "reviewed")
    assert code == 0, said
    assert finished(tmp_path)[-1] == "7_reviewed"
    assert not (tmp_path / "lake" / "toy" / "8_released").exists()


def test_a_build_that_asks_no_model_speaks_of_no_auditor(  # type: ignore[no-untyped-def]
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("mihakk.machinery.llm.weights.missing", lambda name: ["weights-of-nobody"])
    code, plan = run("build", "--dry-run")
    assert code == 0, plan
    assert "no model is asked about them (0 model calls)" in plan
    code, said = run("build", "--runs", "runs")
    assert code == 0, said
    assert "items by checks only: no model was asked (`audit.limit` is 0)" in said
    (page,) = (tmp_path / "runs").glob("toy/2*/report.html")
    assert [word for word in ("auditor", "weights", "judge") if word in plan + said] == []
    assert "not judges" not in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--until", "currated"), "did you mean 'curated'"),
        (("--from", "nowhere"), "stages are scraped"),
        (("--from", "audited", "--until", "curated"), "nothing would run"),
    ],
)
def test_a_stage_that_is_none_is_named(run, arguments: tuple[str, ...], says: str) -> None:  # type: ignore[no-untyped-def]
    code, said = run("build", *arguments)
    assert code == 2
    assert says in " ".join(said.split())


def test_hemistich_tasks_read_couplets_alone_and_never_over_a_removed_one(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seventy real poems, 17 of them free verse, one of whose couplets each is broken by markup."""
    monkeypatch.chdir(tmp_path)
    rows = json.loads((shared_data / "aldiwan" / "poems_dev.json").read_text(encoding="utf-8"))
    couplets: set[tuple[str, str]] = set()
    for place, row in enumerate(rows):
        row["number"] = place
        lines = row["poem_text"].split("\n")
        if "عدد" in row["num_lines"]:
            if len(lines) > 5:
                lines[2] = f"<b>{lines[2]}</b>"
            couplets |= set(zip(lines[::2], lines[1::2], strict=False))
        row["poem_text"] = "\n".join(lines)
    (tmp_path / "poems.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    options = {"path": "poems.json", "kind": "poem", "language": "ar", "licence": "public-domain"}
    columns = {"id": "number", "poet": "poet_name", "declared_couplets": "num_lines"}
    columns |= {"hemistichs": "poem_text", "url": "poem_url"}
    config = {
        "name": "verse",
        "title": "Verse",
        "sources": [{"use": "files", "options": options | {"columns": columns}}],
        "tasks": [{"use": "continuation"}, {"use": "continuation_choice"}],
        "embeddings": "none",
        "audit": {"limit": 0},
        "release": {"authors": ["Somebody"]},
    }
    (tmp_path / "verse.yaml").write_text(json.dumps(config), encoding="utf-8")
    always = ["--lake", "lake", "--log", "text", "--workers", "1", "--until", "generated"]
    told = CliRunner().invoke(app, ["build", "verse.yaml", *always])
    assert told.exit_code == 0, told.output
    shown = CliRunner().invoke(
        app, ["show", "4_generated/items", "-b", "verse.yaml", "--lake", "lake", "--limit", "9999", "--json"]
    )
    items = json.loads(shown.stdout)
    asked = [item for item in items if item["task"] == "continuation"]
    assert len(asked) > 150
    plain = {(canonicalize(a, "ar").text, canonicalize(b, "ar").text) for a, b in couplets}
    for item in asked:
        assert (item["fields"]["first"], item["answer"]) in plain, item["id"]
    free = {f"poems-{place}" for place in (*range(30, 40), *range(58, 65))}
    used = {record.partition(":")[0] for item in items for record in item["origin"]["records"]}
    assert used
    assert not used & free
