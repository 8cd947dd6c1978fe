"""The worker or the server is killed in the middle of a run: the next run ends with the same release."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from pathlib import Path

import psutil
import pytest

from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from tests.drills.test_nightly import place
from tests.end_to_end.conftest import Workshop, opinion
from tests.prefect_server import PATIENCE, PrefectServer, kill

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

CALLS = 120
IN_FLIGHT = 2 * 4


def slow(call: Call) -> Answer:
    """The same opinions, late enough that the audit can be met half way."""
    return Answer(text=opinion(call).text, delay=0.25)


@pytest.fixture
def auditors() -> object:
    with ScriptedServer(slow) as server:
        yield server


def kill_all(process: object) -> None:
    """SIGKILL for a process, its children and theirs, as when the machine goes down."""
    children = psutil.Process(process.pid).children(recursive=True)  # type: ignore[attr-defined]
    kill(process)  # type: ignore[arg-type]
    for child in children:
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue


def repeated(auditors: ScriptedServer) -> int:
    asked = Counter(json.dumps(call.body, sort_keys=True) for call in auditors.calls)
    assert len(asked) == CALLS
    return asked.total() - len(asked)


def hurry(server: PrefectServer, within: int) -> None:
    """Shortens how long the server waits for a heartbeat, which is 90 seconds."""
    found = server.ask("POST", "automations/filter", {})
    (lost,) = [one for one in found if one["name"].endswith("a run died")]
    lost["trigger"]["within"] = within
    fields = ("name", "description", "enabled", "trigger", "actions", "tags")
    server.ask("PUT", f"automations/{lost['id']}", {name: lost[name] for name in fields if name in lost})


def unlocked(lake: Path) -> bool:
    """Whether no run works on the lake; one that lost its server may go on for a while."""
    with (lake / ".lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.drill
def test_the_worker_and_then_the_server_are_killed(
    workshop: Workshop, auditors: ScriptedServer, prefect_server: PrefectServer
) -> None:
    prefect_server.deploy(workshop.config)
    hurry(prefect_server, within=35)
    worker = prefect_server.worker(**place(workshop, "killed"))
    lost = prefect_server.submit("nightly/small", runs=str(workshop.folder / "runs"))
    prefect_server.wait(lambda: len(auditors.calls) > 25, PATIENCE, "the audit never began")
    kill_all(worker)
    asked = len(auditors.calls)
    # The server hears no heartbeat and buries the run; until then it holds its job's only place.
    assert prefect_server.ended(lost)["type"] == "CRASHED"
    assert "No heartbeat" in prefect_server.state(lost)["message"]
    assert len(auditors.calls) == asked, "something of the dead run went on"

    prefect_server.worker(**place(workshop, "killed"))
    met = prefect_server.submit("nightly/small", runs=str(workshop.folder / "runs"))
    prefect_server.wait(lambda: len(auditors.calls) > asked + 25, PATIENCE, "the audit did not go on")
    kill_all(prefect_server.process)
    prefect_server.restart()
    # Whether the run outlived its server or not, it ends, and the worker takes the next one.
    prefect_server.ended(met)
    prefect_server.wait(
        lambda: unlocked(workshop.lake("killed") / "small"), PATIENCE, "the lake stays locked"
    )
    state = prefect_server.ended(prefect_server.submit("nightly/small", runs=str(workshop.folder / "runs")))
    assert state["type"] == "COMPLETED", state

    assert repeated(auditors) <= 2 * IN_FLIGHT
    plain = workshop.start("calm")
    _, err = plain.communicate(timeout=300)
    assert plain.returncode == 0, err
    assert workshop.tables("killed") == workshop.tables("calm")
    alerts = [row for row in prefect_server.rows("artifacts") if row["key"] == "alert"]
    assert any("No heartbeat" in row["data"] for row in alerts), "nobody was told"
