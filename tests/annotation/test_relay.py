"""The relay: who may give a hint, how many hints become one action, what Prefect is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from mihakk.annotation.label_studio.relay import EVENT, HEADER, Hints, emit, listen, relay_app
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import Settings


def nothing(*_: object) -> None: ...


async def test_only_the_secret_and_the_own_benchmark_are_heard():
    acted = []
    hints = Hints(lambda: acted.append(1), nothing, quiet=0)
    transport = httpx.ASGITransport(relay_app("demo", "s3cret", hints))
    worker = asyncio.create_task(hints.run())
    async with httpx.AsyncClient(transport=transport, base_url="http://relay") as label_studio:
        for headers in ({}, {HEADER: "wrong"}, {HEADER: "s3cret\u00e9".encode()}):
            assert (await label_studio.post("/annotated/demo", headers=headers)).status_code == 401
        assert (await label_studio.post("/annotated/other", headers={HEADER: "s3cret"})).status_code == 404
        assert (await label_studio.get("/annotated/demo", headers={HEADER: "s3cret"})).status_code == 405
        assert (await label_studio.get("/health")).json() == {"status": "up"}
        await asyncio.sleep(0.05)
        assert acted == []
        hook = {"action": "ANNOTATION_CREATED"}
        answer = await label_studio.post("/annotated/demo", headers={HEADER: "s3cret"}, json=hook)
        assert answer.status_code == 202
        while not acted:
            await asyncio.sleep(0.01)
    worker.cancel()


async def test_many_hints_are_one_action_and_those_during_it_one_more():
    acted, may_end, under_way = [], threading.Event(), threading.Event()

    def act() -> None:
        under_way.set()
        may_end.wait(20)
        acted.append(1)

    hints = Hints(act, nothing, quiet=0.05)
    worker = asyncio.create_task(hints.run())
    for _ in range(50):
        hints.hint()
    await asyncio.to_thread(under_way.wait, 20)
    for _ in range(50):
        hints.hint()
    may_end.set()
    while len(acted) < 2:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    assert len(acted) == 2
    worker.cancel()


async def seconds_until(acted: list[float], times: int, hint: Callable[[], None] = nothing) -> list[float]:
    """When the relay acted, counted from now; it is given 20 s, and `hint` is called every hundredth of one."""
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(20):
        while len(acted) < times:
            hint()
            await asyncio.sleep(0.01)
    return [one - began for one in acted]


async def test_hints_that_never_pause_are_acted_on_after_the_longest_wait():
    acted: list[float] = []
    now = asyncio.get_running_loop().time
    hints = Hints(lambda: acted.append(now()), nothing, quiet=3600, longest=0.2)
    worker = asyncio.create_task(hints.run())
    first, second = await seconds_until(acted, 2, hints.hint)
    assert (first >= 0.2, second - first >= 0.2) == (True, True), "an action came before the longest wait"
    worker.cancel()


async def test_without_any_hint_it_acts_once_in_each_interval():
    acted: list[float] = []
    now = asyncio.get_running_loop().time
    worker = asyncio.create_task(Hints(lambda: acted.append(now()), nothing, every=0.2).run())
    first, second = await seconds_until(acted, 2)
    assert (first >= 0.2, second - first >= 0.2) == (True, True), "an action came before its interval"
    worker.cancel()


async def test_what_failed_is_told_and_tried_again_but_a_bug_ends_the_relay():
    said, tries = [], []

    def act() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise ExternalFailure("Label Studio does not answer")
        raise ValueError("a bug")

    hints = Hints(act, said.append, quiet=0, again=0)
    hints.hint()
    with pytest.raises(ValueError, match="a bug"):
        await asyncio.wait_for(hints.run(), 20)
    assert len(said) == 1
    assert "does not answer" in said[0]


def test_a_taken_port_says_what_to_do():
    with listen("127.0.0.1", 0) as door, pytest.raises(UsageError, match="--port"):
        listen("127.0.0.1", door.getsockname()[1])


class Prefect(HTTPServer):
    """A server that answers as told and keeps what it was sent."""

    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.heard: list[tuple[str, str, list[dict]]] = []


class Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((self.path, self.headers.get("Authorization", ""), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def prefect(monkeypatch) -> Iterator[Prefect]:
    server = Prefect()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{server.server_port}/api")
    monkeypatch.delenv("PREFECT_API_KEY", raising=False)
    monkeypatch.delenv("PREFECT_API_AUTH_STRING", raising=False)
    yield server
    server.shutdown()
    server.server_close()


def test_prefect_is_told_as_its_events_want_it(prefect, monkeypatch):
    emit(Settings(), "demo", "configs/benchmarks/demo.yaml")
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "admin:pass")
    emit(Settings(), "demo", "demo")
    (path, nobody, (event,)), (_, credentials, (other,)) = prefect.heard
    assert (path, nobody, credentials) == ("/api/events", "", "Basic YWRtaW46cGFzcw==")
    assert (event["event"], event["resource"]["prefect.resource.id"]) == (EVENT, "mihakk.benchmark.demo")
    assert event["payload"] == {"benchmark": "demo", "config": "configs/benchmarks/demo.yaml"}
    assert event["id"] != other["id"]


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [(401, UsageError, "PREFECT_API"), (422, UsageError, "PREFECT_API_URL"), (503, ExternalFailure, "503")],
)
def test_what_prefect_refuses_says_what_to_do(prefect, status, error, said):
    prefect.status = status
    with pytest.raises(error, match=said):
        emit(Settings(), "demo", "demo")


def test_prefect_down(monkeypatch):
    with listen("127.0.0.1", 0) as door:
        monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{door.getsockname()[1]}/api")
    with pytest.raises(ExternalFailure, match="does not answer"):
        emit(Settings(), "demo", "demo")


def test_a_relay_that_began_with_interrupts_ignored_still_stops_on_one_and_says_so(tmp_path):
    config = tmp_path / "bench.yaml"
    config.write_text("name: bench\ntitle: B\nsources: [{use: hafez}]\ntasks: [{use: last_word}]\n", "utf-8")
    home = {"MIHAKK_LABEL_STUDIO_HOME": str(tmp_path / "none"), "MIHAKK_RELAY_SECRET": "s3cret"}
    options = ["--port", "0", "--every", "0", "--lake", str(tmp_path)]
    started = subprocess.Popen(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-m", "mihakk.flows.cli", "review", "relay",
         str(config), *options],
        env=os.environ | home, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with started as relay:
        for line in relay.stdout:
            if "set MIHAKK_LABEL_STUDIO_TOKEN" in line:  # its first pull has failed: it serves
                break
        relay.send_signal(signal.SIGINT)
        rest, _ = relay.communicate(timeout=300)
    assert (relay.returncode, rest.splitlines()[-1:]) == (0, ["Stopped."])
