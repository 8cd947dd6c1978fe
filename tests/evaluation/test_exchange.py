"""What a suite publishes, read back by those it is for: `datasets`, the Hub's own parser, a schema, a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.evaluation.exchange.hub_results import write_hub_results
from mihakk.evaluation.exchange.outputs import write_outputs
from mihakk.evaluation.imports import import_results
from mihakk.evaluation.questions import question_of_row, questions_of_release
from mihakk.evaluation.rows import read_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.running.logs import write_logs
from mihakk.evaluation.table import Results
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import assemble
from mihakk.releases.content.blind import find_answers, opened_rows, read_answers
from mihakk.schemas.evaluation import Answer, Question, Score
from tests.releases.release_material import hafez_items, release_arguments
from tests.reports.leaderboard.material import SKILL, SYSTEMS, answered, on_disk, suite


def publish(folder: Path, release: Path, **facts: Any) -> Result:
    chosen = suite(release, published=[]).model_copy(update=facts)
    file, models = on_disk(folder, chosen, SYSTEMS[:2])
    arguments = ["evaluate", "publish", file, "--out", str(folder / "out"), "--folder", str(folder / "runs")]
    arguments += ["--model", models, "--source", "https://example.org/board"]
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(12)))
    return folder


@pytest.fixture(scope="module")
def published(release: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Question]]:
    folder = tmp_path_factory.mktemp("suite")
    questions = {
        name: one.model_copy(update={"release": "owner/touchstone"})
        for name, one in questions_of_release(release).items()
    }
    answered(folder / "runs", questions, SYSTEMS[:2], SKILL[:2])
    done = publish(folder, release)
    assert done.exit_code == 0, done.output
    assert f"{2 * len(questions)} answers in" in done.stdout
    return folder, questions


def test_the_outputs_load_as_a_data_set_with_a_split_a_system(
    published: tuple[Path, dict[str, Question]],
) -> None:
    import datasets

    folder, questions = published
    place = str(folder / "out" / "outputs")
    assert set(datasets.get_dataset_config_names(place)) == {one.config for one in questions.values()}
    loaded = datasets.load_dataset(place, "fa_continuation_choice", cache_dir=str(folder / "cache"))
    assert set(loaded) == {"jais_2_8b", "qwen_3_32b"}
    answers = {
        one.item: one
        for one in read_rows(folder / "runs" / "jais-2-8b" / "answers.parquet", Answer)
        if one.config == "fa_continuation_choice"
    }
    scores = {
        one.item: one.value
        for one in read_rows(folder / "runs" / "jais-2-8b" / "scores.parquet", Score)
        if one.metric == "accuracy"
    }
    assert len(loaded["jais_2_8b"]) == len(answers)
    for row in loaded["jais_2_8b"]:
        assert row["reply"] == answers[row["item"]].reply
        assert row["score_accuracy"] == scores[row["item"]]


def test_the_result_files_are_read_by_the_hubs_own_parser(
    published: tuple[Path, dict[str, Question]],
) -> None:
    from huggingface_hub._eval_results import parse_eval_result_entries

    file = published[0] / "out" / "hub" / "jais-2-8b" / ".eval_results" / "touchstone.yaml"
    entries = parse_eval_result_entries(yaml.safe_load(file.read_text("utf-8")))
    assert {one.dataset_id for one in entries} == {"owner/touchstone"}
    assert {one.source_url for one in entries} == {"https://example.org/board"}
    choice = next(one for one in entries if one.task_id == "fa_continuation_choice")
    assert 0 < choice.value < 1
    assert re.search(r"accuracy, written, \d+ items, 95 % interval", choice.notes or "")


def test_no_result_file_holds_a_figure_that_nobody_is_ranked_by(release: Path, tmp_path: Path) -> None:
    row = {"model": SYSTEMS[0].name, "release": "owner/name", "config": "c", "method": "written", "items": 3}
    metrics = ("exact", "similarity", "judged_answer", "judged_answer_not_vouched_for")
    cells = pd.DataFrame(
        [row | {"metric": one, "figure": 0.5, "ci_low": 0.4, "ci_high": 0.6} for one in metrics]
    )
    none = pd.DataFrame()
    found = Results(cells, none, none, none, none, ())
    assert (
        write_hub_results(suite(release, published=[]), SYSTEMS[:1], found, tmp_path, day=date(2026, 1, 1))
        == 1
    )
    (file,) = tmp_path.rglob("*.yaml")
    told = [entry["notes"].partition(",")[0] for entry in yaml.safe_load(file.read_text("utf-8"))]
    assert told == ["exact", "judged_answer"]


def test_the_shared_records_agree_with_each_other(
    published: tuple[Path, dict[str, Question]],
) -> None:
    root = published[0] / "out" / "every_eval_ever"
    aggregates = sorted(path for path in root.rglob("*.json"))
    assert len(aggregates) == 2
    for path in aggregates:
        told = json.loads(path.read_bytes())
        detail = told["detailed_evaluation_results"]
        lines = [json.loads(line) for line in (root / detail["file_path"]).read_bytes().splitlines()]
        assert len(lines) == detail["total_rows"]
        for line in lines:
            assert line["evaluation_id"] == told["evaluation_id"]
        results = {one["evaluation_result_id"]: one["score_details"] for one in told["evaluation_results"]}
        own = [
            line
            for line in lines
            if line["evaluation_result_id"] == "fa_continuation_choice.accuracy.written"
        ]
        share = sum(line["evaluation"]["is_correct"] for line in own) / len(own)
        assert results["fa_continuation_choice.accuracy.written"]["score"] == pytest.approx(share, abs=1e-6)
        gold = {one.item: one.options[one.gold[0]] for one in published[1].values() if one.options}
        assert all(line["input"]["reference"] == [gold[line["sample_id"]]] for line in own)


@pytest.mark.services
def test_the_formats_own_validator_passes_the_shared_records(
    published: tuple[Path, dict[str, Question]], tmp_path: Path
) -> None:
    program = os.environ.get("MIHAKK_EVERY_EVAL_EVER")
    if program is None:
        pytest.skip(
            "needs every_eval_ever 0.3 in an environment of its own: set MIHAKK_EVERY_EVAL_EVER to it"
        )

    def validate(root: Path) -> tuple[int, list[dict[str, Any]]]:
        paths = sorted(str(path.relative_to(root)) for path in root.rglob("*.json*"))
        done = subprocess.run(
            [program, "validate", "--format", "json", *paths],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, json.loads(done.stdout)

    root = published[0] / "out" / "every_eval_ever"
    code, told = validate(root)
    assert (code, [one["valid"] for one in told]) == (0, [True] * 4), told
    spoilt = shutil.copytree(root, tmp_path / "spoilt")
    path = next(spoilt.rglob("*_samples.jsonl"))
    path.write_text(
        path.read_text("utf-8").replace('"is_correct": false', '"is_correct": "maybe"', 1), "utf-8"
    )
    assert validate(spoilt)[0] != 0


def test_of_a_blind_split_no_reply_and_no_score_of_an_item_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "a secret of enough characters")
    settings.cache_clear()
    blind = tmp_path / "release"
    assemble(folder=blind, **release_arguments(hafez_items(12), blind="repository"))
    golds = read_answers(find_answers(tmp_path / "release.answers"))
    questions = {
        row["id"]: question_of_row(row, release="touchstone", digest="d" * 64, config=config)
        for config, split, row in opened_rows(blind, golds)
        if split == "test"
    }
    answered(tmp_path / "runs", questions, SYSTEMS[:2], SKILL[:2])
    done = publish(tmp_path, blind)
    assert done.exit_code == 0, done.output
    assert f"{len(golds)} items of blind splits" in done.stdout
    assert "0 answers in" in done.stdout
    everything = b"".join(
        path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    ).decode()
    answers = [one.answer for one in questions.values() if one.answer]
    assert answers
    assert not [text for text in (*golds, *answers) if text in everything]
    assert not list((tmp_path / "out").rglob("*.jsonl")) + list((tmp_path / "out").rglob("*.parquet"))


def test_a_folder_that_holds_something_is_left_alone(release: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("", encoding="utf-8")
    done = publish(tmp_path, release)
    assert done.exit_code == 2
    assert "is not an empty folder" in done.output


def test_what_is_published_comes_in_again_as_it_was(
    published: tuple[Path, dict[str, Question]], release: Path, tmp_path: Path
) -> None:
    """Shared records, the data set of outputs, and logs for Inspect: our writers, then our readers."""
    folder, questions = published
    system = SYSTEMS[0]
    own = folder / "runs" / system.name
    answers = read_rows(own / "answers.parquet", Answer)
    asked = [(Asked(questions[one.item], "?", "own", "1", one.variant, 1), one) for one in answers]
    shutil.copytree(own, tmp_path / "logs")
    write_logs(suite(release, published=[]), system, asked, tmp_path / "logs")
    next((tmp_path / "logs" / "inspect").glob("*.eval")).unlink()
    write_logs(suite(release, published=[]), system, asked, tmp_path / "logs")  # what is missing comes back
    records = next((folder / "out" / "every_eval_ever").rglob(f"{system.name}/*_samples.jsonl"))
    for paths in (
        sorted((tmp_path / "logs" / "inspect").glob("*.eval")),
        [records],
        [records.with_name(records.name.replace("_samples.jsonl", ".json"))],
        sorted((folder / "out" / "outputs").glob("*/jais_2_8b.parquet")),
    ):
        taken, rejected = import_results(paths, questions).one_system()
        assert rejected == []
        assert {(one.item, one.repeat, one.reply) for one in taken} == {
            (one.item, one.repeat, one.reply) for one in answers
        }, paths
        assert {one.model for one in taken} <= {system.name, f"{system.family}/{system.name}"}


def test_two_systems_do_not_overwrite_each_others_outputs(release: Path, tmp_path: Path) -> None:
    systems = [SYSTEMS[0].model_copy(update={"name": name}) for name in ("jais-2", "jais_2")]
    with pytest.raises(UsageError, match="jais-2 and jais_2 would be one split"):
        write_outputs(suite(release), systems, tmp_path, frozenset(), tmp_path / "out")
