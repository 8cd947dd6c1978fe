"""Every benchmark, audit suite and pair of auditors that is shipped, to the last table, over a few real rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import ROOT, settings
from tests.end_to_end.conftest import opinion
from tests.evaluation.suite_rows import REAL

pytestmark = pytest.mark.slow
RUNNER = CliRunner(env={"COLUMNS": "200"})
SOURCES = ROOT / "tests" / "fixtures" / "sources"
FEW = 6
IN_PLACE_OF = {
    "$MIHAKK_SHARED_DATA/kinayat/taymur_kinayat_hindawi_93047907.txt": SOURCES / "openiti" / "kinayat.txt",
    "$MIHAKK_SHARED_DATA/ganjoor/hafez_ghazals_raw.tar.gz": SOURCES / "ganjoor" / "export",
    "$MIHAKK_SHARED_DATA/fannorflop/sample_generated_explanation.json": SOURCES / "fannorflop" / "poems.json",
}
"""Excerpts that stand for the real data where the checkout has none beside it."""


def names(folder: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / "configs" / folder).glob("*.yaml"))


def shipped(folder: str, name: str) -> Any:
    return yaml.safe_load((ROOT / "configs" / folder / f"{name}.yaml").read_text(encoding="utf-8"))


def written(path: Path, content: Any) -> Path:
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


def answered(call: Call) -> Answer:
    """No objection, in the form that the auditor's config asks for; writers get the same, which no rule passes."""
    short = '"scores"' not in json.dumps(call.body["response_format"])
    return Answer(text='{"issues": []}') if short else opinion(call)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answered) as running:
        yield running


def served(models: list[dict[str, Any]], server: ScriptedServer) -> list[dict[str, Any]]:
    """The models as they are shipped, at a server of the test's own."""
    return [one | {"serve": {"engine": "openai", "endpoints": [server.url]}} for one in models]


def few(source: dict[str, Any]) -> dict[str, Any]:
    """The source as it is shipped, cut to its first records."""
    options = dict(source.get("options", {}))
    for key in ("path", "export"):
        if not REAL.is_dir() and options.get(key) in IN_PLACE_OF:
            options |= {key: str(IN_PLACE_OF[options[key]]), "least_yield": 1}
            # What is declared of the whole book or export does not hold of an excerpt.
            for whole in ("entries", "start"):
                options.pop(whole, None)
            options |= {"lettered": True} if source["use"] == "openiti" else {}
    return source | {"options": options, "limit": FEW}


@pytest.mark.parametrize("name", names("benchmarks"))
def test_every_bundled_benchmark_is_built_to_its_release(
    name: str, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(REAL))
    config = shipped("benchmarks", name)
    config["sources"] = [few(one) for one in config["sources"]]
    config["audit"]["limit"] = FEW
    # Six poems have few endings: a learner knows most of them after the first questions.
    config["release"]["baseline_margin"] = 0.5
    if "generator" in config:
        (config["generator"],) = served([config["generator"]], server)
    judges = served(shipped("auditors", config["audit"]["auditors"])["auditors"], server)
    config["audit"]["auditors"] = str(written(tmp_path / "judges.yaml", {"auditors": judges}))
    path, before = written(tmp_path / f"{name}.yaml", config), len(server.calls)
    done = RUNNER.invoke(app, ["build", str(path), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert len(server.calls) == before
    done = RUNNER.invoke(app, ["build", str(path), "--runs", str(tmp_path / "runs")])
    assert done.exit_code in (0, 1), done.output
    assert len(server.calls) > before
    released = list(settings().hub.rglob("*-of-*.parquet"))
    assert sum(pq.read_metadata(file).num_rows for file in released) >= FEW, done.output
    # What so few records give nothing for is told by name; no task is missing unsaid.
    told = " ".join(done.output.split())
    made = {file.parent.name.partition("_")[2] for file in released}
    missing = {task["use"] for task in config["tasks"] if "lost" not in task.get("accept", {})} - made
    waiting = {
        record.split("-")[1]
        for file in (tmp_path / "lake").rglob("7_reviewed/rejected/*.parquet")
        for record in pq.read_table(file, columns=["record"])["record"].to_pylist()
    }
    assert [task for task in missing - waiting if f"task {task} gives nothing" not in told] == []
    assert done.exit_code == bool(missing), done.output


def of_columns(source: dict[str, Any], folder: Path) -> Path:
    """Rows of our own in the columns that a source's mapping names."""
    said = dict(
        part.split("=", 1) for part in source.get("mapping", "question=question,gold=answer").split(",")
    )
    rows = []
    for number in range(FEW):
        row: dict[str, Any] = {}
        for role, columns in said.items():
            if role == "gold_as":
                continue
            for place, column in enumerate(columns.partition("~")[0].split("+")):
                row[column] = {
                    "question": f"ما المدينة التي تقع في الإقليم رقم {number}؟",
                    "context": f"نص قصير رقم {number}.",
                    "choices": f"مدينة {number} {place}",
                    # A mapping that is proposed takes no letter for the answer where there are no options.
                    "gold": "A" if "mapping" in source else f"مدينة {number}",
                }.get(role, f"{source['name']}-{number}")
        if "choices" in said and "+" not in said["choices"]:
            row[said["choices"]] = [f"مدينة {number} {place}" for place in range(4)]
        if said.get("gold_as") == "index0":
            row[said["gold"]] = 1
        if said.get("gold_as") == "text":
            row[said["gold"]] = row[said["choices"].split("+")[0]]
        rows.append(row)
    path = folder / f"{source['name']}.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


def first_rows(path: Path, folder: Path) -> Path:
    """The first rows of a published file, in its format."""
    made = folder / path.name
    if path.suffix == ".xlsx":
        pd.read_excel(path, dtype=str).head(FEW).to_excel(made, index=False)
    elif path.suffix == ".json":
        made.write_bytes(path.read_bytes())
    else:
        made.write_text("".join(path.open(encoding="utf-8").readlines()[: FEW + 1]), encoding="utf-8")
    return made


@pytest.mark.parametrize("name", names("audits"))
def test_every_bundled_audit_comes_to_its_last_table(
    name: str, tmp_path: Path, server: ScriptedServer
) -> None:
    suite = shipped("audits", name)
    for source in suite["sources"]:
        real = REAL / source["source"]
        source["source"] = str(first_rows(real, tmp_path) if real.is_file() else of_columns(source, tmp_path))
        for key in ("subsets", "split"):
            source.pop(key, None)
    judges = served(shipped("auditors", "embedded")["auditors"], server)
    suite |= {"auditors": str(written(tmp_path / "judges.yaml", {"auditors": judges})), "limit": 3}
    path, out = written(tmp_path / "suite.yaml", suite), tmp_path / "out"
    done = RUNNER.invoke(app, ["audit", str(path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "suite.json").read_bytes())
    assert {state["name"]: state["problem"] for state in summary["states"] if state["problem"]} == {}
    assert [row["name"] for row in summary["sources"]] == [one["name"] for one in suite["sources"]]
    assert all(row["samples"] for row in summary["sources"])


@pytest.mark.parametrize("name", names("auditors"))
def test_every_bundled_pair_of_auditors_scores_a_table(
    name: str, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges = shipped("auditors", name)["auditors"]
    for one in judges:
        if variable := one["serve"].get("api_key_env"):
            monkeypatch.setenv(variable, "sk-of-nobody")
    config = written(tmp_path / "judges.yaml", {"auditors": served(judges, server)})
    table = of_columns({"name": "own", "mapping": "question=q,choices=A+B+C+D,gold=gold"}, tmp_path)
    words = ("--map", "question=q,choices=A+B+C+D,gold=gold", "--auditors", str(config))
    done = RUNNER.invoke(app, ["audit", str(table), *words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    scored = pq.read_table(tmp_path / "out" / "audits.parquet").to_pylist()
    assert {row["auditor"] for row in scored} == {one["name"] for one in judges}
    assert len(scored) == len(judges) * FEW
