"""SIGKILL at random moments: no journaled call is asked again, none is lost, the tables are the same."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.llm.structured import reply_key
from mihakk.schemas.model import ModelConfig

ITEMS = 60
RUN = """
import sys, json
from pathlib import Path
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.model import ModelConfig

def number(value):
    if type(value.get("n")) is not int:
        raise ValueError("n must be an integer")
    return value["n"]

config = ModelConfig.model_validate_json(sys.argv[1])
schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
          "additionalProperties": False}
requests = (Request(tag=str(i), messages=[{"role": "user", "content": str(i)}], schema=schema, validate=number)
            for i in range(int(sys.argv[4])))
with Journal(Path(sys.argv[2]), "run") as journal, open_model(config) as model:
    table = [[r.tag, r.key, r.value, r.problem] for r in model.ask_all(requests, journal)]
Path(sys.argv[3]).write_text(json.dumps(table))
"""


def script(call: Call) -> Answer:
    """Every fifth item needs a repair request, every eleventh is never usable."""
    first = call.body["messages"][0]["content"]
    if int(first) % 11 == 0:
        return Answer(text="no", delay=0.004)
    if int(first) % 5 == 0 and len(call.body["messages"]) == 1:
        return Answer(text='{"n":"x"}', delay=0.004)
    return Answer(text=json.dumps({"n": int(first)}), delay=0.004)


def config(url: str) -> ModelConfig:
    return ModelConfig.model_validate(
        {
            "name": "judge",
            "family": "scripted",
            "model": "scripted-1",
            "revision": "r1",
            "serve": {"engine": "openai", "endpoints": [url]},
            "limits": {"concurrency": 3, "timeout_seconds": 60},
        }
    )


def start(server: ScriptedServer, folder: Path, table: Path) -> subprocess.Popen[bytes]:
    arguments = [config(server.url).model_dump_json(), str(folder), str(table), str(ITEMS)]
    return subprocess.Popen([sys.executable, "-c", RUN, *arguments], cwd=Path(__file__).parents[3])


def journaled(folder: Path) -> set[str]:
    with Journal(folder, "reader") as journal:
        return {entry.key for entry in journal.entries()}


def keys(server: ScriptedServer) -> list[str]:
    return [reply_key(config(server.url), "r1", call.body) for call in server.calls]


def killed_runs(kills: int, tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    draw = random.Random(7)
    limit = threading.Event()
    left = 0

    def counting(call: Call) -> Answer:
        nonlocal left
        left -= 1
        if left == 0:
            limit.set()
        return script(call)

    with ScriptedServer(counting) as server:
        assert start(server, undisturbed, tmp_path / "a.json").wait(120) == 0
    total, port = len(server.calls), server.port
    assert len(set(keys(server))) == total
    kept: set[str] = set()
    happened = 0
    # Each run has a server of its own: what a killed one sent last may be read when the next has begun.
    for _ in range(kills):
        limit.clear()
        left = draw.randint(1, max(1, 2 * total // kills))
        with ScriptedServer(counting, port=port) as server:
            run = start(server, disturbed, tmp_path / "b.json")
            while run.poll() is None and not limit.wait(0.05):
                pass
            limit.wait(draw.random() * 0.01)
            run.send_signal(signal.SIGKILL)
            happened += run.wait() == -signal.SIGKILL
        assert kept.isdisjoint(keys(server)), "an answered call was asked again"
        now = journaled(disturbed)
        assert kept <= now, "an answered call was lost"
        kept = now
    assert happened >= kills // 2
    with ScriptedServer(counting, port=port) as server:
        assert start(server, disturbed, tmp_path / "b.json").wait(120) == 0
    asked = keys(server)
    assert kept.isdisjoint(asked)
    assert len(set(asked)) == len(asked) == total - len(kept)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_killed_three_times(tmp_path: Path) -> None:
    killed_runs(3, tmp_path)


@pytest.mark.slow
def test_killed_twenty_times(tmp_path: Path) -> None:
    killed_runs(20, tmp_path)
