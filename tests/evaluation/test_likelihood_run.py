"""`--method likelihood`: lm-eval over what a suite asks against a server with a real, small model."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mihakk.evaluation.adapters.qimma import LABELS as QIMMA_LABELS
from mihakk.evaluation.questions import MANIFEST
from mihakk.flows.cli import app
from mihakk.machinery.ids import sha256
from mihakk.releases.assemble import assemble
from tests.evaluation.suite_rows import parquet
from tests.releases.completion_server import CompletionServer, Trigrams, save_byte_tokenizer
from tests.releases.release_material import hafez_items, release_arguments

RUNNER = CliRunner(env={"COLUMNS": "250"})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(4)))
    return folder


def command(folder: Path, release: Path, endpoint: str, more: str = "") -> list[str]:
    digest = sha256((release / MANIFEST).read_bytes())
    (folder / "suite.yaml").write_text(
        f"name: trial\ntitle: Trial\nparts:\n  - release: {release}\n    digest: {digest}\n    sample: 5\n"
    )
    (folder / "one.yaml").write_text(
        "name: one\nfamily: trigrams\nmodel: m\nrevision: r1\nkind: arabic\nopen: true\n"
        f"serve: {endpoint}\n{more}"
    )
    return ["evaluate", "run", str(folder / "suite.yaml"), "--model", str(folder / "one.yaml"),
            "--out", str(folder / "out"), "--method", "likelihood"]  # fmt: skip


@pytest.mark.parametrize(
    ("serve", "message"),
    [
        ("{engine: embedded, weights: smollm2-135m}", "the embedded server gives no likelihoods"),
        ("{engine: openai, endpoints: ['http://127.0.0.1:9/v1']}", "use `--method written`"),
    ],
)
def test_a_system_without_likelihoods_is_told_before_anything_is_asked(
    release: Path, tmp_path: Path, serve: str, message: str
) -> None:
    done = RUNNER.invoke(app, command(tmp_path, release, serve))
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


@pytest.mark.services
def test_likelihoods_are_the_models_own_and_a_finished_config_is_not_run_again(
    release: Path, tmp_path: Path
) -> None:
    rows: dict[str, dict[str, Any]] = {
        row["id"]: row
        for path in release.glob("*_choice/test-*.parquet")
        for row in pq.read_table(path).to_pylist()
    }
    read = "\n".join(row["prompt"] + row["labels"][row["gold"][0]] for row in list(rows.values())[::2])
    model = Trigrams(read)
    tokenizer = save_byte_tokenizer(tmp_path / "tokenizer")
    with CompletionServer(model).running() as server:
        serve = f"{{engine: openai, endpoints: ['{server.url.removesuffix('/completions')}']}}"
        call = command(tmp_path, release, serve, f"tokenizer: {tokenizer}\n")
        done = RUNNER.invoke(app, call)
        assert done.exit_code == 0, done.output
        assert [one["max_tokens"] for one in (server.asked[0], server.asked[-1])] == [1, 1]
        asked = len(server.asked)
        out = tmp_path / "out" / "one.likelihood"
        answers = pq.read_table(out / "answers.parquet").to_pylist()
        before = (out / "scores.parquet").read_bytes()
        assert RUNNER.invoke(app, call).exit_code == 0
        assert len(server.asked) == asked
        assert (out / "scores.parquet").read_bytes() == before
    assert {one["config"] for one in answers} == {"ar_meaning_choice", "fa_continuation_choice"}
    who = json.loads((out / "run.json").read_text(encoding="utf-8"))["answered_by"]
    assert who == [{"model": "m", "system_fingerprint": "", "replies": 15}]
    # Five idioms, and five pairs with both orders.
    assert len(answers) == 15
    right = {}
    for one in answers:
        row = rows[one["item"]]
        own = [model.loglikelihood(row["prompt"], label) for label in row["labels"]]
        assert one["likelihoods"] == pytest.approx(own, abs=1e-6)
        right[one["item"]] = float(own.index(max(own)) in row["gold"])
    scores = pq.read_table(out / "scores.parquet").to_pylist()
    found = {one["item"]: one["value"] for one in scores if one["metric"] == "accuracy"}
    assert found == right
    assert "accuracy · likelihood" in done.stdout


def test_likelihoods_of_another_model_are_not_asked_for(release: Path, tmp_path: Path) -> None:
    tokenizer = save_byte_tokenizer(tmp_path / "tokenizer")
    with CompletionServer(Trigrams("ab")).running() as server:
        serve = f"{{engine: openai, endpoints: ['{server.url.removesuffix('/completions')}']}}"
        call = command(tmp_path, release, serve, f"tokenizer: {tokenizer}\n")
        server.served = "other"
        done = RUNNER.invoke(app, call)
        assert done.exit_code == 75
        assert "'other' answered" in done.output
        assert len(server.asked) == 1
        assert not list(tmp_path.rglob("samples_*.jsonl"))


def test_likelihoods_are_dropped_where_the_model_changed_meanwhile(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = save_byte_tokenizer(tmp_path / "tokenizer")
    with CompletionServer(Trigrams("ab")).running() as server:

        def swapped(_: object, __: object, ___: str, folder: Path) -> None:
            (folder / "samples_x.jsonl").write_text("{}")
            server.served = "other"

        monkeypatch.setattr("mihakk.evaluation.running.likelihood._run", swapped)
        serve = f"{{engine: openai, endpoints: ['{server.url.removesuffix('/completions')}']}}"
        done = RUNNER.invoke(app, command(tmp_path, release, serve, f"tokenizer: {tokenizer}\n"))
        assert done.exit_code == 75
        assert "'other' answered" in done.output
        # Kept for whoever looks, under a name that no later run reads.
        assert {one.parent.suffix for one in tmp_path.rglob("samples_*.jsonl")} <= {".part"}
        assert not list(tmp_path.rglob("answers.parquet"))


@pytest.mark.services
def test_published_choices_have_likelihoods_as_their_leaderboard_compares_them(
    release: Path, tmp_path: Path
) -> None:
    data = tmp_path / "qimma"
    five = ["حجر", "طير", "شجر", "ماء", "نار"]
    rows = [
        {"prompt": f"سؤال {number}: أيها يطير؟\nالإجابة:", "choices": five, "index": number % 5}
        for number in range(6)
    ]
    several = [{**row, "index": [0, 1 + row["index"] % 4]} for row in rows] + [{**rows[0], "index": [0]}]
    parquet(data / "MCQ_PALMX-2025" / "data" / "test-00000-of-00001.parquet", *rows)
    parquet(data / "MCQ_MizanQA" / "data" / "test-00000-of-00001.parquet", *several)
    model = Trigrams("الإجابة:هـ\nالإجابة:أ\nالإجابة:ب هـ سؤال أيها")
    tokenizer = save_byte_tokenizer(tmp_path / "tokenizer")
    metrics = ["accuracy", "accuracy_by_characters"]
    metrics += [f"{name}{ending}" for name in ("exact_set", "gold_mass") for ending in ("", "_by_characters")]
    suite = {"name": "q", "title": "Q", "pinned": False, "metrics": metrics}
    suite |= {"parts": [{"adapter": "qimma", "data": str(data)}]}
    with CompletionServer(model).running() as server:
        serve = f"{{engine: openai, endpoints: ['{server.url.removesuffix('/completions')}']}}"
        call = command(tmp_path, release, serve, f"tokenizer: {tokenizer}\n")
        (tmp_path / "suite.yaml").write_text(json.dumps(suite, ensure_ascii=False), encoding="utf-8")
        done = RUNNER.invoke(app, call)
    assert done.exit_code == 0, done.output
    labels, found = QIMMA_LABELS[:5], {}
    for one in pq.read_table(tmp_path / "out" / "one.likelihood" / "scores.parquet").to_pylist():
        found[one["config"], int(one["item"].rpartition("-")[2]), one["metric"]] = one["value"]
    for config, asked in (("ar_mcq_palmx_2025", rows), ("ar_mcq_mizanqa", several)):
        for number, row in enumerate(asked, 1):
            gold = row["index"] if isinstance(row["index"], list) else [row["index"]]
            plain = [model.loglikelihood(row["prompt"], label) for label in labels]
            shares = [one / len(label) for one, label in zip(plain, labels, strict=True)]
            for ending, own in (("", plain), ("_by_characters", shares)):
                best = sorted(range(5), key=lambda place: own[place])[5 - len(gold) :]
                if config == "ar_mcq_palmx_2025":
                    assert found[config, number, f"accuracy{ending}"] == float(best == gold)
                else:
                    mass = sum(exp(own[place]) for place in gold) / sum(map(exp, own))
                    assert found[config, number, f"exact_set{ending}"] == float(sorted(best) == gold)
                    assert found[config, number, f"gold_mass{ending}"] == pytest.approx(mass, abs=1e-6)
