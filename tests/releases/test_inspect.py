"""Inspect runs a release by the release's own file, with nothing of ours installed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.releases.assemble import AssembledRelease, assemble
from tests.releases.release_material import hafez_items, only_read, release_arguments


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledRelease]:
    """Version 0.1.0 of eight ghazals and the idioms."""
    folder = tmp_path_factory.mktemp("inspected") / "release"
    yield from only_read(assemble(folder=folder, **release_arguments(hafez_items(8))))


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    return pq.read_table(folder / config / "test-00000-of-00001.parquet").to_pylist()


def test_every_config_is_a_task_that_inspect_finds_without_running_the_file(
    release: AssembledRelease,
) -> None:
    tree = ast.parse((release.folder / "eval" / "inspect" / "tasks.py").read_text(encoding="utf-8"))
    found = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "task" for mark in node.decorator_list)
    }
    assert found == set(release.rows)


def inspect_eval(folder: Path, task: str, logs: Path, url: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("inspect_ai")
    command = [sys.executable, "-m", "inspect_ai", "eval", f"eval/inspect/tasks.py{task}", "--model", "openai-api/loopback/m",
               "--log-dir", str(logs), "--log-format", "json", "--display", "none"]  # fmt: skip
    own = {"LOOPBACK_BASE_URL": url, "LOOPBACK_API_KEY": "none"}
    outer = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment = outer | own | {"PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def results(logs: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Task -> figure -> metric -> value."""
    found = {}
    for path in logs.glob("*.json"):
        log = json.loads(path.read_text(encoding="utf-8"))
        assert log["status"] == "success"
        assert log["eval"]["task_version"] == "0.1.0"
        found[log["eval"]["task"]] = {
            score["name"]: {name: one["value"] for name, one in score["metrics"].items()}
            for score in log["results"]["scores"]
        }
    return found


@pytest.mark.services
def test_inspect_scores_replies_as_they_are_counted_by_hand(
    release: AssembledRelease, tmp_path: Path
) -> None:
    folder = release.folder
    choices, words = rows(folder, "fa_continuation_choice"), rows(folder, "fa_continuation_completion")
    replies = {}
    for number, row in enumerate(choices):
        gold = row["gold"][0]
        replies[row["prompt"]] = row["labels"][gold if number % 3 else gold - 1]
    for number, row in enumerate(words):
        replies[row["prompt"]] = f"<answer>{row['answer']}</answer>" if number % 4 else ""

    def script(call: Call) -> Answer:
        assert call.body["temperature"] == 0
        return Answer(text=replies.get(call.said, "نسير"))

    with ScriptedServer(script) as server:
        done = inspect_eval(folder, "", tmp_path / "logs", server.url)
    assert done.returncode == 0, done.stderr[-3000:]
    found = results(tmp_path / "logs")
    assert set(found) == {f"touchstone_{config}" for config in release.rows}

    right = np.array([float(number % 3 != 0) for number in range(len(choices))])
    figures = found["touchstone_fa_continuation_choice"]["acc"]
    assert figures["mean"] == pytest.approx(right.mean())
    clusters, pairs = defaultdict(float), defaultdict(list)
    for row, value in zip(choices, right, strict=True):
        clusters[row["group"]] += value - right.mean()
        pairs[row["pair_id"]].append(value)
    # Liang and Zeger's sum over clusters, with the factor for few of them.
    few = len(clusters) / (len(clusters) - 1)
    by_cluster = np.sqrt(few * sum(one**2 for one in clusters.values())) / len(right)
    assert figures["stderr"] == pytest.approx(by_cluster)
    assert figures["both_orders"] == pytest.approx(np.mean([min(one) for one in pairs.values()]))
    assert found["touchstone_fa_continuation_choice"]["unparsed"]["mean"] == 0.0
    said = np.array([float(number % 4 != 0) for number in range(len(words))])
    assert found["touchstone_fa_continuation_completion"]["exact"]["mean"] == pytest.approx(said.mean())
    assert found["touchstone_fa_continuation_completion"]["empty"]["mean"] == pytest.approx(1 - said.mean())
    assert found["touchstone_ar_meaning_choice"]["unparsed"]["mean"] == 1.0
    assert 0 < found["touchstone_ar_verse_explanation"]["chrf"]["mean"] < 1


@pytest.mark.services
def test_inspect_refuses_data_of_another_version(release: AssembledRelease, tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(release.folder, tmp_path / "release"))
    part = folder / "ar_meaning_choice" / "test-00000-of-00001.parquet"
    part.write_bytes(part.read_bytes() + b"\0")
    with ScriptedServer(lambda _: Answer(text="أ")) as server:
        done = inspect_eval(folder, "@ar_meaning_choice", tmp_path / "l", server.url)
        assert not server.calls
    assert done.returncode != 0
    assert "is not the file of version 0.1.0" in " ".join((done.stderr + done.stdout).split())
