"""The relay beside a real Label Studio: people annotate, and their decisions are there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import httpx
import pytest

from mihakk.annotation.decisions.store import decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.machinery.settings import ROOT
from tests.annotation.judged import choice
from tests.annotation.pushed import DISCARD, KEEP, pushed_project

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


def relay_of(desk_environment, *arguments: str) -> subprocess.Popen:
    """`mihakk review relay` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "mihakk.flows.cli", "review", "relay", *arguments],
        env={**os.environ, **desk_environment, "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )


def heard_until(process: subprocess.Popen, word: str) -> str:
    """The process's next line that holds the word."""
    for line in process.stdout:
        if word in line:
            return line
    pytest.fail(f"the relay ended before it said {word!r}")


def test_the_relay_pulls_when_people_annotate(connection, label_studio, members, tmp_path):
    config = tmp_path / "hinted.yaml"
    config.write_text(
        "name: hinted\ntitle: Hinted\nsources: [{use: hafez}]\ntasks: [{use: continuation}]\n", "utf-8"
    )
    project, tasks = pushed_project(connection, "hinted", [choice(n) for n in range(6)])
    stores = Stores.under(str(tmp_path / "lake" / "hinted"))
    known = {
        "MIHAKK_LAKE": str(tmp_path / "lake"),
        "MIHAKK_LABEL_STUDIO_HOME": str(label_studio.home),
        "MIHAKK_LABEL_STUDIO_URL": label_studio.url,
        "PREFECT_API_URL": "",
    }
    for _ in range(2):  # a second start moves the webhook to its own port and secret: there is still one
        relay = relay_of(known, str(config), "--register", "--port", "0", "--every", "0")
        try:
            address = heard_until(relay, "Listening at").split()[-1]
            heard_until(relay, "Apply them with")  # it pulls when it starts
            (hook,) = connection.get("/api/webhooks/", project=project.id)
            assert (hook["url"], hook["send_payload"], hook["send_for_all_actions"]) == (
                address,
                False,
                False,
            )
            assert httpx.post(address, headers={"X-Mihakk-Secret": "guess"}).status_code == 401
            done = len(decisions(stores))
            for task in list(tasks.values())[done : done + 3]:
                members[0].annotate(task, KEEP)
            heard_until(relay, "pulling")
            heard_until(relay, "Apply them with")
            assert len(decisions(stores)) == done + 3
        finally:
            relay.send_signal(signal.SIGINT)
            rest, _ = relay.communicate(timeout=300)
            assert (relay.returncode, "Stopped." in rest) == (0, True), rest
    members[0].annotate(next(iter(tasks.values())), DISCARD)  # nobody listens: a Submit works all the same
