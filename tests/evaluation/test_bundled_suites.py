"""Every suite and model that is shipped, from questions to the last table, and what is refused before the first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.evaluation.running.asking import OWN, Asked
from mihakk.evaluation.running.suites import SYSTEMS
from mihakk.evaluation.shape import shape_of
from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.schemas.evaluation import Question
from mihakk.schemas.suite import Part, Suite
from tests.evaluation.material import choice
from tests.evaluation.suite_rows import NAMES, REAL, bundled

RUNNER = CliRunner(env={"COLUMNS": "250"})
SYSTEM = {
    **{"name": "one", "family": "scripted", "model": "scripted-1", "revision": "r1"},
    **{"kind": "arabic", "open": True},
}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda _: Answer(text="ب")) as running:
        yield running


def run(
    suite: dict[str, Any],
    folder: Path,
    server: ScriptedServer,
    *extra: str,
    system: dict[str, Any] | None = None,
) -> Result:
    """The command over a suite and a scripted system."""
    serve = {"engine": "openai", "endpoints": [server.url]}
    written = (("suite.yaml", suite), ("one.yaml", (system or SYSTEM) | {"serve": serve}))
    for name, content in written:
        (folder / name).write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    names = (str(folder / "suite.yaml"), "--model", str(folder / "one.yaml"), "--out", str(folder / "out"))
    return RUNNER.invoke(app, ["evaluate", "run", *names, "--limit", "2", *extra])


@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_suite_runs_to_its_last_table(
    name: str, tmp_path: Path, server: ScriptedServer
) -> None:
    if name.startswith("ghazalbench") and not (REAL / "ghazalbench").is_dir():
        pytest.skip("needs the real data that is not part of the repository")
    suite = bundled(name, tmp_path)
    before = len(server.calls)
    done = run(suite, tmp_path, server, "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    (planned,) = json.loads(done.stdout)
    configs = [line.partition(":")[0].strip() for line in done.stderr.splitlines() if line.endswith(" calls")]
    assert configs
    assert len(server.calls) == before
    done = run(suite, tmp_path, server)
    assert done.exit_code == 0, done.output
    assert 0 < len(server.calls) - before <= planned["calls"]
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "overall" in table
    assert all(config.partition("/")[2] in table for config in configs)


@pytest.mark.parametrize("name", sorted(path.stem for path in SYSTEMS.glob("*.yaml")))
def test_every_bundled_model_answers_to_the_last_table(
    name: str, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = yaml.safe_load((SYSTEMS / f"{name}.yaml").read_text(encoding="utf-8"))
    if variable := system["serve"].get("api_key_env"):
        monkeypatch.setenv(variable, "sk-of-nobody")
    done = run(bundled("demo", tmp_path), tmp_path, server, system=system)
    assert done.exit_code == 0, done.output
    assert system["name"] in (tmp_path / "out" / "table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("kinayat", {"categories": {"use": ["pragmatic_use"]}}, "task 'completion' is in no category"),
        (
            "kinayat",
            {"categories": {"use": ["negation"], "b": ["negation"]}},
            "is in two categories: b and use",
        ),
        ("kinayat", {"main": {"completion": "cer"}}, "cer can't be averaged"),
        ("kinayat", {"main": {"completion": "accuracy"}}, "no scores of its main metric 'accuracy'"),
        ("kinayat", {"main": {"complete": "exact"}}, "`main` names 'complete', which no part asks"),
        ("kinayat", {"metrics": ["accuracy"]}, "none of its metrics (accuracy) scores what"),
        ("kinayat", {"metrics": ["acuracy", "exact"]}, "there is no metric 'acuracy'"),
        ("kinayat", {"main_by_kind": {"answers": "exact"}}, "main_by_kind"),
        ("kinayat", {"compare": [["ar_negation", "ar_nothing"]]}, "'ar_nothing', which no part asks"),
        ("kinayat", {"published": [{"column": ["kn_99", "X"], "beside": "overall"}]}, "no table 'kn_99'"),
        ("kinayat", {"published": [{"figures": {"a": 1}, "beside": "accuracy"}]}, "neither `overall` nor"),
        (
            "kinayat",
            {"judges": {"by": ["qwen-0.5b", "qwen-0.5b"], "rubrics": ["idiom"]}},
            "name two of different families",
        ),
        ("balsam", {"main_by_kind": {}}, "`main_by_kind: {answer: METRIC}`"),
        ("qimma", {"categories": {"legal": ["mizanqa"]}}, "task 'gat' is in no category"),
    ],
)
def test_what_can_give_no_table_is_refused_before_a_question_is_asked(
    name: str, change: dict[str, Any], said: str, tmp_path: Path, server: ScriptedServer
) -> None:
    for place in change.get("published", ()):
        place |= {"paper": "P", "table": "t", "differs": "d"}
    suite, before = bundled(name, tmp_path) | change, len(server.calls)
    for extra in ((), ("--dry-run",)):
        done = run(suite, tmp_path, server, *extra)
        assert done.exit_code == 2, done.output
        assert said in " ".join(done.output.split())
    assert len(server.calls) == before
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_published_set_is_an_error_of_the_config(
    tmp_path: Path, server: ScriptedServer
) -> None:
    suite = bundled("balsam", tmp_path)
    (Path(suite["parts"][0]["data"]) / "colours.json").write_text("{", encoding="utf-8")
    done = run(suite, tmp_path, server)
    assert done.exit_code == 2
    assert "colours.json" in done.output


def test_likelihoods_of_choices_need_no_answers_in_words(tmp_path: Path, server: ScriptedServer) -> None:
    system = SYSTEM | {"tokenizer": "somebody/tokenizer"}
    suite = bundled("kinayat", tmp_path)
    done = run(suite, tmp_path, server, "--method", "likelihood", "--dry-run", system=system)
    assert done.exit_code == 0, done.output
    assert "understanding (accuracy)" in done.output


def test_a_metric_named_twice_scores_once(tmp_path: Path, server: ScriptedServer) -> None:
    suite = bundled("kinayat", tmp_path) | {"metrics": ["accuracy", "accuracy", "exact", "chrf"]}
    done = run(suite, tmp_path, server)
    assert done.exit_code == 0, done.output


def test_no_system_is_asked_while_another_lacks_its_key(tmp_path: Path, server: ScriptedServer) -> None:
    serve = {"engine": "openai", "endpoints": [server.url], "api_key_env": "KEY_THAT_NOBODY_SET"}
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(SYSTEM | {"name": "two", "serve": serve}))
    before = len(server.calls)
    done = run(bundled("demo", tmp_path), tmp_path, server, "--model", str(tmp_path / "two.yaml"))
    assert done.exit_code == 2
    assert "KEY_THAT_NOBODY_SET" in done.output
    assert len(server.calls) == before


def test_data_sets_of_one_and_of_several_right_options_both_stand_in_the_average_of_their_task() -> None:
    asked = [
        asked_one(choice("i1", config="ar_meaning_choice")),
        asked_one(choice("i2", (0, 1), config="fa_meaning_choice", multiple=True)),
    ]
    found = shape_of(suite_of(), [], asked)
    chosen = {column.config: column.metric.name for column in found.averaged}
    assert chosen == {"ar_meaning_choice": "accuracy", "fa_meaning_choice": "exact_set"}


def test_questions_that_no_averaged_metric_scores_are_told_before_they_are_asked() -> None:
    asked = [asked_one(choice("i1")), asked_one(choice("i2", (0, 1), multiple=True))]
    found = shape_of(suite_of(), [], asked)
    assert found.notes == (
        "ar_meaning_choice: 1 of 2 questions stand in no average (accuracy has no figure of them)",
    )


def asked_one(question: Question) -> Asked:
    return Asked(question, "?", OWN, "1", 0, 1)


def suite_of() -> Suite:
    return Suite(name="s", title="S", parts=(Part(release="somebody/set@1.0.0"),), pinned=False)


def test_inspect_reads_the_logs_that_lie_beside_the_answers(tmp_path: Path, server: ScriptedServer) -> None:
    inspect_log = pytest.importorskip("inspect_ai.log")
    done = run(bundled("kinayat", tmp_path), tmp_path, server)
    assert done.exit_code == 0, done.output
    folder = tmp_path / "out" / "one"
    rows = pq.read_table(folder / "answers.parquet").to_pylist()
    logs = [inspect_log.read_eval_log(one) for one in inspect_log.list_eval_logs(str(folder / "inspect"))]
    assert {log.eval.task for log in logs} == {f"kinayat_{kind}" for kind in {row["kind"] for row in rows}}
    assert all(log.status == "success" for log in logs)
    samples = [sample for log in logs for sample in log.samples]
    assert sorted(sample.output.completion for sample in samples) == sorted(row["reply"] for row in rows)
    scores = pq.read_table(folder / "scores.parquet").to_pylist()
    assert sorted(value for sample in samples for value in sample.scores["mihakk"].value.values()) == sorted(
        row["value"] for row in scores if row["value"] is not None
    )
    means = {(one.name, one.metrics["mean"].value) for log in logs for one in log.results.scores}
    chosen = [row["value"] for row in scores if row["metric"] == "accuracy"]
    assert ("accuracy", sum(chosen) / len(chosen)) in means
    written = {path: path.stat().st_mtime_ns for path in (folder / "inspect").glob("*.eval")}
    assert run(bundled("kinayat", tmp_path), tmp_path, server).exit_code == 0
    assert written == {path: path.stat().st_mtime_ns for path in (folder / "inspect").glob("*.eval")}
