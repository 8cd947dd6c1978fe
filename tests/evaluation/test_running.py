"""`mihakk evaluate run` against scripted servers: what it asks, what it keeps, where it stops."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.evaluation.questions import MANIFEST
from mihakk.flows.cli import app
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.releases.assemble import assemble
from tests.prefect_server import PrefectServer
from tests.releases.release_material import hafez_items, release_arguments

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[2]
RUNNER = CliRunner(env={"COLUMNS": "250"})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(4)))
    return folder


class Suite:
    """A suite and a system in a folder, run by the command."""

    def __init__(self, folder: Path, release: Path, **part: Any) -> None:
        self.folder = folder
        pin = sha256((release / MANIFEST).read_bytes())
        self.suite: dict[str, Any] = {
            "name": "trial",
            "title": "Trial",
            "parts": [{"release": str(release), "digest": pin, **part}],
        }
        self.system: dict[str, Any] = {
            "name": "one",
            "family": "scripted",
            "model": "scripted-1",
            "revision": "r1",
            "limits": {"concurrency": 4, "timeout_seconds": 5, "attempts": 3},
            "kind": "arabic",
            "open": True,
        }

    def command(self, *servers: ScriptedServer) -> list[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        if servers:
            self.system["serve"] = {"engine": "openai", "endpoints": [server.url for server in servers]}
        for name, content in (("suite.yaml", self.suite), ("one.yaml", self.system)):
            (self.folder / name).write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
        suite, one = self.folder / "suite.yaml", self.folder / "one.yaml"
        return [sys.executable, "-m", "mihakk.flows.cli", "evaluate", "run", str(suite), "--model", str(one),
                "--out", str(self.folder / "out")]  # fmt: skip

    def run(self, *servers: ScriptedServer, extra: tuple[str, ...] = ()) -> Result:
        """The command in this process, which has imported already what it needs."""
        return RUNNER.invoke(app, [*self.command(*servers)[3:], *extra])

    def answers(self) -> list[dict[str, Any]]:
        return pq.read_table(self.folder / "out" / "one" / "answers.parquet").to_pylist()

    def tables(self) -> dict[str, str]:
        files = [*(self.folder / "out" / "one").glob("*.parquet"), self.folder / "out" / "table.md"]
        return {path.name: sha256(path.read_bytes()) for path in files}

    def journaled(self) -> int:
        path = self.folder / "out" / "journal" / "one.jsonl"
        return path.read_bytes().count(b"}\n") if path.exists() else 0


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "250"}


def labelled(call: Call) -> Answer:
    """One label for each prompt, the same whenever it is asked."""
    return Answer(text="أبج"[len(call.said) % 3], delay=0.03)


def test_each_question_is_asked_once_in_each_wording_and_repeat(release: Path, tmp_path: Path) -> None:
    suite = Suite(tmp_path, release, only=["ar_meaning_choice"], wordings=3, repeats=2)
    with ScriptedServer(labelled) as server:
        done = suite.run(server)
        assert done.exit_code == 0, done.stderr[-2000:] + done.stdout[-2000:]
        bodies = [call.body for call in server.calls]
        again = suite.run(server, extra=("--json",))
        assert again.exit_code == 0
        assert len(server.calls) == len(bodies), "a second run asks nothing"
        (told,) = json.loads(again.stdout)["systems"]
        assert (told["system"], told["answers"], told["calls"]) == ("one", len(bodies), 0)
    rows = pq.read_table(release / "ar_meaning_choice" / "test-00000-of-00001.parquet").to_pylist()
    assert len(bodies) == len(rows) * 3 * 2
    assert {body["seed"] for body in bodies} == {0, 1}
    assert {body["max_tokens"] for body in bodies} == {16}
    said = {body["messages"][0]["content"] for body in bodies}
    assert len(said) == len(rows) * 3
    assert {row["prompt"] for row in rows} < said
    for row in rows:
        assert sum(all(option in text for option in row["options"]) for text in said) >= 3
    answers = suite.answers()
    assert {(one["variant"], one["prompt"]) for one in answers} == {
        (0, "release"),
        (1, "wordings"),
        (2, "wordings"),
    }
    assert [one["reply"] for one in answers] == [
        labelled_text(one, bodies) for one in answers
    ]  # fmt: skip
    assert "wordings" in done.stdout


def labelled_text(answer: dict[str, Any], bodies: list[dict[str, Any]]) -> str:
    """The reply that the server gave to the prompt of an answer."""
    (prompt,) = {
        body["messages"][0]["content"]
        for body in bodies
        if sha256(body["messages"][0]["content"].encode()) == answer["prompt_digest"]
    }
    return "أبج"[len(prompt) % 3]


def killed_and_run_again(suite: Suite, moments: list[int], calls: int) -> None:
    """Kills a run when so many replies are journaled, goes on, and looks at what was asked twice."""
    journal = suite.folder / "out" / "journal" / "one.jsonl"
    with ScriptedServer(labelled) as server:
        for moment in moments:
            running = subprocess.Popen(
                suite.command(server), cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )  # fmt: skip
            while suite.journaled() < moment and running.poll() is None:
                time.sleep(0.002)
            running.send_signal(signal.SIGKILL)
            running.wait()
            kept = {
                json.loads(line)["key"] for line in journal.read_text().splitlines() if line.endswith("}")
            }
            before = len(server.calls)
            again = suite.run(server, extra=("--dry-run",))
            assert f"{calls:,} calls, {len(kept):,} answered before" in again.stdout
            assert len(server.calls) == before
        done = suite.run(server)
        assert done.exit_code == 0, done.stderr[-2000:] + done.stdout[-2000:]
    lines = [json.loads(line)["key"] for line in journal.read_text().splitlines() if line.endswith("}")]
    assert len(lines) == len(set(lines)) == calls, "a call that was answered is never asked again"


def test_a_killed_run_repeats_no_answered_call_and_changes_no_table(release: Path, tmp_path: Path) -> None:
    whole = Suite(tmp_path / "whole", release)
    with ScriptedServer(labelled) as server:
        assert whole.run(server).exit_code == 0
        calls = len(server.calls)
    suite = Suite(tmp_path / "killed", release)
    killed_and_run_again(suite, [1, calls // 2], calls)
    assert suite.tables() == whole.tables()


@pytest.mark.drill
def test_killed_at_twenty_moments(release: Path, tmp_path: Path) -> None:
    whole = Suite(tmp_path / "whole", release)
    with ScriptedServer(labelled) as server:
        assert whole.run(server).exit_code == 0
        calls = len(server.calls)
    draw = random.Random(18)
    for number in range(20):
        suite = Suite(tmp_path / f"killed{number}", release)
        killed_and_run_again(suite, [draw.randrange(0, calls)], calls)
        assert suite.tables() == whole.tables()


def dying(after: int, then: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
    """Answers so many calls, then does something else."""
    lock, seen = threading.Lock(), [0]

    def script(call: Call) -> Answer:
        with lock:
            seen[0] += 1
            return labelled(call) if seen[0] <= after else then(call)

    return script


def test_a_server_that_goes_ends_the_run_with_75_and_the_next_goes_on(release: Path, tmp_path: Path) -> None:
    suite = Suite(tmp_path, release, only=["fa_continuation_choice"])
    with ScriptedServer(dying(10, lambda _: Answer(drop=True))) as server:
        done = suite.run(server)
        assert done.exit_code == 75
        assert "run again when the server is healthy" in " ".join(done.stderr.split())
    kept = suite.journaled()
    assert kept >= 10
    with ScriptedServer(labelled) as server:
        assert suite.run(server).exit_code == 0
        assert len(server.calls) == len(suite.answers()) - kept


def test_what_a_server_refuses_filters_cuts_or_garbles_counts_as_wrong_and_is_told_apart(
    release: Path, tmp_path: Path
) -> None:
    ways = {
        0: Answer(text="too long", status=400),
        1: Answer(text="content_filter: not allowed", status=400),
        2: Answer(text="", finish_reason="content_filter"),
        3: Answer(text="", finish_reason="length"),
        4: Answer(text="\ufffd\x00 ���� <|im_end|>"),
        5: Answer(text="I would rather talk about the weather."),
        6: Answer(text="B"),
    }
    suite = Suite(tmp_path, release, only=["fa_continuation_choice"])
    prompts = sorted(
        row["prompt"]
        for row in pq.read_table(
            release / "fa_continuation_choice" / "test-00000-of-00001.parquet"
        ).to_pylist()
    )
    kinds = {prompt: ways.get(number) for number, prompt in enumerate(prompts)}
    with ScriptedServer(lambda call: kinds[call.said] or labelled(call)) as server:
        done = suite.run(server)
    assert done.exit_code == 0, done.stderr[-2000:]
    scores = pq.read_table(suite.folder / "out" / "one" / "scores.parquet").to_pylist()
    digests = {sha256(prompt.encode()): number for number, prompt in enumerate(prompts)}
    place = {one["item"]: digests[one["prompt_digest"]] for one in suite.answers()}
    told = {place[one["item"]]: one for one in scores if one["metric"] == "accuracy"}
    assert len(told) == len(prompts), "every question stays in the mean"
    assert [told[number]["status"] for number in range(7)] == [
        "error", "refused", "refused", "empty", "unparsed", "unparsed", "read",
    ]  # fmt: skip
    assert [told[number]["value"] for number in range(6)] == [0.0] * 6
    assert told[3]["cut"]
    assert told[6]["rule"].startswith("other_alphabet")
    before = suite.tables()
    with ScriptedServer(labelled) as server:
        assert suite.run(server).exit_code == 0
    assert suite.tables() == before, "a refusal stands until somebody asks again"


def test_a_refused_key_is_the_users_to_mend(release: Path, tmp_path: Path) -> None:
    suite = Suite(tmp_path, release, only=["ar_meaning_choice"])
    with ScriptedServer(lambda _: Answer(text="no", status=401)) as server:
        done = suite.run(server)
    assert done.exit_code == 2
    assert "Correct the model's config" in " ".join(done.stderr.split())


def test_a_limit_stops_before_the_call_that_would_pass_it(release: Path, tmp_path: Path) -> None:
    suite = Suite(tmp_path, release, only=["fa_continuation_choice"])
    suite.system["price"] = {"prompt": 0, "completion": 1000}
    suite.suite["limits"] = {"cost": 0.1}
    with ScriptedServer(lambda call: Answer(text="ب" * 64, delay=0.01)) as server:
        done = suite.run(server)
        assert done.exit_code == 75
        assert "`limits.cost`" in done.stderr
        # A call of at most 16 tokens at 0.001 each is reserved as 0.016.
        assert 0 < len(server.calls) <= 6
        # Of the month, so that running again does not begin anew.
        asked = len(server.calls)
        suite.suite["limits"] = {"requests": asked + 3}
        assert suite.run(server).exit_code == 75
        assert len(server.calls) == asked + 3
        assert suite.run(server).exit_code == 75
        assert len(server.calls) == asked + 3


def test_the_flow_asks_part_by_part_and_ends_with_the_commands_tables(
    release: Path, tmp_path: Path, prefect_server: PrefectServer
) -> None:
    plain, flow = Suite(tmp_path / "plain", release), Suite(tmp_path / "flow", release)
    for suite in (plain, flow):
        (part,) = suite.suite["parts"]
        suite.suite["parts"] = [
            part | {"only": ["ar_meaning_choice"]},
            part | {"only": ["fa_continuation_choice"]},
        ]
    with ScriptedServer(labelled) as server:
        assert plain.run(server).exit_code == 0
        asked = len(server.calls)
        flow.command(server)
        arguments = {"suite": str(flow.folder / "suite.yaml"), "models": (str(flow.folder / "one.yaml"),),
                     "out": str(flow.folder / "out")}  # fmt: skip
        code = f"from mihakk.flows.deployed.evaluate import evaluate; evaluate(**{arguments!r})"
        prefect_server.run(sys.executable, "-c", code, cwd=ROOT)
        assert len(server.calls) == 2 * asked
    tasks = [row["name"] for row in prefect_server.rows("task_runs")]
    assert sorted(tasks) == [f"one: {release}"] * 2
    (artifact,) = [row for row in prefect_server.rows("artifacts") if row["key"] == "evaluation"]
    assert "accuracy" in artifact["data"]
    assert flow.tables() == plain.tables()
