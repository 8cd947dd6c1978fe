"""Programs in replies: read whatever stands around them, run in the sandbox, and counted as pass@k."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import mihakk.schemas.suite
from mihakk.evaluation.adapters.adapter import ADAPTERS
from mihakk.evaluation.reading.read import read_program
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import SAMPLES
from tests.evaluation.test_running import Suite

CODE = "def f(x):\n    return x + 1\n"
READ = {
    "fence": (f"هذا هو الحل:\n```python\n{CODE}```\nوهو يعيد العدد التالي.", CODE, "fence/1", ()),
    "fence without a language": (f"```\n{CODE}```", CODE, "fence/1", ()),
    "last of two": (f"```python\ndef f(x):\n    return x\n```\nأو أفضل منه:\n```python\n{CODE}```", CODE, "fence/1", ()),
    "a usage example below": (f"```python\n{CODE}```\nمثال:\n```python\nprint(f(1))\n```", CODE, "fence/1", ()),
    "cut": (f"```python\n{CODE}", CODE, "fence/1", ("cut_fence",)),
    "bare": (CODE, CODE, "whole/1", ("no_fence",)),
    "bare with words around": (f"الحل:\nimport math\n{CODE}\nهذا هو الحل.", f"import math\n{CODE}\n", "definition/1", ("no_fence",)),
    "body alone": ("    return x + 1\n", "    return x + 1\n", "body/1", ("no_fence",)),
    "thought": (f"<think>```python\ndef f(x):\n    return 0\n```</think>```python\n{CODE}```", CODE, "fence/1", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_the_program_in_a_reply_is_read(name: str) -> None:
    reply, program, rule, notes = READ[name]
    found = read_program(reply, "f")
    assert (found.text, found.rule, found.notes) == (program, rule, notes)


@pytest.mark.parametrize("reply", ["لا أعرف", "x + 1", "", "<think>def f(x): return 1"])
def test_a_reply_without_a_program_is_unread(reply: str) -> None:
    assert not read_program(reply, "f").found


def sound(folder: Path) -> list[dict[str, str]]:
    """Our own problems that no fault was planted in, as a set of their own."""
    faulty = {line.split("\t")[0] for line in (SAMPLES / "code_faults.tsv").read_text("utf-8").splitlines()}
    lines = (SAMPLES / "code_problems.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["task_id"] not in faulty]
    folder.mkdir()
    (folder / "own.jsonl").write_text(
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8"
    )
    return rows


def suite_of(tmp_path: Path, **part: object) -> Suite:
    suite = Suite.__new__(Suite)
    suite.folder = tmp_path / "suite"
    suite.suite = {
        "name": "code",
        "title": "Code",
        "pinned": False,
        "parts": [{"adapter": "code_problems", "data": str(tmp_path / "set"), **part}],
    }
    limits = {"concurrency": 4, "timeout_seconds": 30, "attempts": 3}
    suite.system = {
        "name": "one",
        "family": "scripted",
        "model": "scripted-1",
        "revision": "r1",
        "limits": limits,
        "kind": "code",
        "open": True,
        "sampling": {"temperature": 0.8},
    }
    return suite


def asked_about(call: Call, rows: list[dict[str, str]]) -> int:
    name = re.search(r"`(\w+)`", call.said)
    assert name is not None
    return next(place for place, row in enumerate(rows) if row["entry_point"] == name[1])


@pytest.mark.services
def test_a_suite_of_problems_counts_the_solved_ones(tmp_path: Path) -> None:
    """Two tries each: all problems but every fourth are solved at the first, every fourth at neither, and those
    whose number is odd only at the first. pass@1 follows by counting."""
    rows = sound(tmp_path / "set")

    def reply(call: Call) -> Answer:
        place = asked_about(call, rows)
        assert "assert candidate" not in call.said, "the tests are shown to nobody"
        row, again = rows[place], call.body["seed"]
        program = (
            row["canonical_solution"]
            if row["canonical_solution"].startswith("def")
            else row["prompt"] + row["canonical_solution"]
        )
        if place % 4 == 0 or (again and place % 2):
            program = f"import os\nos._exit(0)\n{program}"
        return Answer(text=f"الحل:\n```python\n{program}```\n")

    suite = suite_of(tmp_path, repeats=2)
    with ScriptedServer(reply) as server:
        done = suite.run(server)
    assert done.exit_code == 0, done.stdout + done.stderr
    scores = pq.read_table(suite.folder / "out" / "one" / "scores.parquet").to_pylist()
    assert {one["metric"] for one in scores} == {"solved"}
    right = {(one["item"], one["repeat"]): one["value"] for one in scores}
    n = len(rows)
    wanted = sum((place % 4 != 0) + (place % 4 != 0 and place % 2 == 0) for place in range(n)) / (2 * n)
    assert sum(right.values()) / len(right) == wanted
    assert len(right) == 2 * n
    assert {json.loads(one["detail"])["status"] for one in scores} == {"passed", "ended"}
    assert f"{wanted:.3f}" in done.stdout  # pass@1 is the mean over problems of their shares of tries
    before = suite.tables()
    assert suite.run().exit_code == 0  # from the journal, with no server at all
    assert suite.tables() == before


def test_without_a_sandbox_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound(tmp_path / "set")
    suite = suite_of(tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with ScriptedServer(lambda _: Answer(text="")) as server:
        # A process of its own: this one may know already that there is a sandbox.
        done = subprocess.run(suite.command(server), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "never run unconfined" in done.stderr
    assert not server.calls


def test_a_suite_that_asks_for_the_kernels_limit_of_memory_is_not_asked_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound(tmp_path / "set")
    monkeypatch.setattr("mihakk.machinery.sandbox._bubblewrap._problem", lambda: "")
    monkeypatch.setattr("mihakk.machinery.sandbox._bubblewrap.group_parent", lambda: None)
    told = suite_of(tmp_path).suite
    assert asked_of_suite(mihakk.schemas.suite.Suite.model_validate(told), fetch=Path)
    told["code_memory"] = "cgroup"
    with pytest.raises(UsageError, match="control group"):
        asked_of_suite(mihakk.schemas.suite.Suite.model_validate(told), fetch=Path)


def test_a_set_with_a_broken_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.jsonl").write_text('{"prompt": "x = 1", "solution": "def f(): pass", "tests": ""}\n')
    monkeypatch.setattr("mihakk.evaluation.adapters.code_problems.require_sandbox", lambda: None)
    with pytest.raises(SourceChanged, match=r"own.jsonl, line 1: incomplete_row: tests is empty"):
        list(ADAPTERS.get("code_problems").read(tmp_path, "d" * 64))
