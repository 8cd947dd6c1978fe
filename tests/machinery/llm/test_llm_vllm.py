"""A vLLM server that the run starts itself: awaited, watched, ended; played by a stand-in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.server import VllmServer
from mihakk.machinery.settings import ROOT
from mihakk.schemas.model import Limits, ModelConfig, Sampling, Vllm
from tests.machinery.llm.counting import Ask

STAND_IN = """
import json, os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
arguments = sys.argv[1:]
print("INFO starting", arguments[:2], flush=True)
helper = subprocess.Popen(["sleep", "600"])
open(os.environ["PIDS"], "w").write(f"{os.getpid()} {helper.pid} {os.environ.get('PYTHONPATH')}")
if "--fail" in arguments:
    helper.kill()
    sys.exit("ValueError: no such model")
time.sleep(60 if "--slow" in arguments else 0.5)
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert body["response_format"]["type"] == "json_schema" and "Authorization" not in self.headers
        n = body["messages"][1]["content"]
        message = {"role": "assistant", "content": '{"n": %s}' % n}
        self.reply({"choices": [{"message": message, "finish_reason": "stop"}]})
    def reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass
HTTPServer(("127.0.0.1", int(arguments[arguments.index("--port") + 1])), Handler).serve_forever()
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter that has the stand-in where vLLM would be."""
    (tmp_path / "stand_in.py").write_text(STAND_IN, encoding="utf-8")
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/stand_in.py" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return script


def config(serve: Vllm) -> ModelConfig:
    return ModelConfig(
        name="judge",
        family="scripted",
        model="served",
        serve=serve,
        sampling=Sampling(max_tokens=60),
        limits=Limits(concurrency=2, attempts=2, timeout_seconds=300),
    )


def gone(*pids: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


def pids(folder: Path) -> list[int]:
    server, helper, path = (folder / "pids").read_text(encoding="utf-8").split()
    assert path == "None", "our own packages stay out of vLLM's environment"
    return [int(server), int(helper)]


def test_it_is_started_asked_and_ended_with_all_its_processes(
    python: Path, tmp_path: Path, ask: Ask, journal: Journal
) -> None:
    with open_model(config(Vllm(python=str(python), model="some/model"))) as model:
        assert [reply.value for reply in model.ask_all((ask(n) for n in range(5)), journal)] == list(range(5))
        started = pids(tmp_path)
    assert gone(*started)
    with open_model(config(Vllm(python=str(python), model="some/model"))) as model:
        assert [reply.value for reply in model.ask_all((ask(n) for n in range(5)), journal)] == list(range(5))
        assert not model.running, "what the journal answers starts no server"


def test_a_server_that_dies_stops_the_run_with_its_last_lines(
    python: Path, tmp_path: Path, ask: Ask, journal: Journal
) -> None:
    with open_model(config(Vllm(python=str(python), model="m"))) as model:
        replies = model.ask_all((ask(n) for n in range(500)), journal)
        next(replies)
        os.kill(pids(tmp_path)[0], signal.SIGKILL)
        with pytest.raises(ExternalFailure, match=r"vLLM server of 'served' died .*INFO starting"):
            list(replies)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"args": ("--fail",)}, r"did not start \(exit 1\): .*ValueError: no such model"),
        ({"args": ("--slow",), "start_seconds": 1}, r"was not ready in 1 s"),
    ],
)
def test_a_server_that_does_not_come_up_says_why_and_leaves_nothing(
    python: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ExternalFailure, match=said):
        VllmServer("served", Vllm(python=str(python), model="m", **changes))
    assert gone(*pids(tmp_path))


def test_a_wrong_interpreter_is_a_mistake_of_the_config() -> None:
    with pytest.raises(UsageError, match=r"`serve.python` of 'served' names no program: /no/such/python"):
        VllmServer("served", Vllm(python="/no/such/python", model="m"))


def test_a_killed_run_leaves_no_server_behind(python: Path, tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from mihakk.machinery.llm.server import VllmServer\n"
        "from mihakk.schemas.model import Vllm\n"
        "server = VllmServer('served', Vllm(python=sys.argv[1], model='m'))\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script, str(python)], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "up\n"
    run.kill()
    run.wait()
    assert gone(*pids(tmp_path))
