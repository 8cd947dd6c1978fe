"""A night fired by cron asks a person before it releases: a paused run, a typed form, a decision that is kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.pipeline.schedules import described
from tests.drills.pager import BLOCK
from tests.drills.test_nightly import place
from tests.end_to_end.conftest import make_workshop
from tests.prefect_server import PATIENCE, PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


def asked(config: dict[str, Any]) -> None:
    config["release"] |= {"sign_off": True, "baseline_margin": 1}
    config["audit"] = {**config["audit"], "limit": 0}
    config["sources"] = config["sources"][2:]
    config["tasks"] = [{"use": "meaning_choice"}, {"use": "completion"}]


@pytest.fixture
def system() -> Iterator[ScriptedServer]:
    """A system that takes every second option."""
    with ScriptedServer(lambda _: Answer(text="ب")) as server:
        yield server


def measuring(folder: Path, url: str) -> Path:
    """A suite of five questions of the newest release to one system."""
    system = {"name": "measured", "family": "scripted", "model": "m", "revision": "1", "kind": "arabic", "open": True,
              "serve": {"engine": "openai", "endpoints": [url]}}  # fmt: skip
    (folder / "measured.yaml").write_text(yaml.safe_dump(system), encoding="utf-8")
    part = {"release": "small@latest", "only": ["ar_meaning_choice"], "sample": 5}
    suite = {"name": "nights", "title": "Every release", "pinned": False, "parts": [part],
             "models": [str(folder / "measured.yaml")]}  # fmt: skip
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    return folder / "suite.yaml"


def test_a_version_waits_for_a_person_and_names_them_and_systems_are_measured_on_it(
    tmp_path: Path,
    auditors: ScriptedServer,
    system: ScriptedServer,
    prefect_server: PrefectServer,
    pager: tuple[str, list[str]],
) -> None:
    shop = make_workshop(tmp_path, auditors.url, asked)
    address, told = pager
    prefect_server.run(sys.executable, "-c", BLOCK, address)
    suite = measuring(tmp_path, system.url)
    prefect_server.deploy(shop.config, "--notify", "webhook/pager", "--suite", str(suite))
    prefect_server.worker(**place(shop, "signed"))
    release = prefect_server.deployment("release/small")["id"]

    def runs() -> list[dict[str, Any]]:
        found = prefect_server.rows("flow_runs", sort="START_TIME_ASC")
        return [run for run in found if run["deployment_id"] == release]

    def paused() -> list[str]:
        return [run["id"] for run in runs() if run["state"]["type"] == "PAUSED"]

    def nights() -> int:
        return len(prefect_server.completed("nightly/small"))

    with prefect_server.every_minute("nightly/small", runs=str(tmp_path / "runs")):
        prefect_server.wait(nights, PATIENCE, "no night ended without the person")
    prefect_server.wait(paused, PATIENCE, "nobody was asked")
    (waiting,) = paused()
    assert not list(shop.hub("signed").rglob("README.md")), "released before anybody said so"
    prefect_server.wait(lambda: told, PATIENCE, "nobody was told that a sign-off waits")
    page = json.loads(told[0])
    assert page["text"].endswith("waits for a sign-off")
    assert waiting in page["link"]
    shown = [row["data"] for row in prefect_server.rows("artifacts") if row["key"] == "sign-off"]
    assert "items may go into the next version" in shown[0]

    wrong = prefect_server.ask(
        "POST", f"flow_runs/{waiting}/resume", {"run_input": {"decision": "perhaps", "name": "Layla"}}
    )
    assert wrong["status"] == "REJECT"
    assert paused() == [waiting]
    word = {"decision": "approve", "name": "ليلى", "note": "read forty items"}
    said = prefect_server.ask("POST", f"flow_runs/{waiting}/resume", {"run_input": word})
    assert said["status"] == "ACCEPT"
    assert prefect_server.ended(waiting)["type"] == "COMPLETED"
    (card,) = shop.hub("signed").glob("small/README.md")
    assert "Signed off by ليلى" in card.read_text("utf-8")
    first = shop.tables("signed")
    assert len(system.calls) == 10, "five questions in both orders"
    (table,) = [row["data"] for row in prefect_server.rows("artifacts") if row["key"] == "evaluation"]
    assert "small/ar_meaning_choice · accuracy · written" in table
    assert "| measured |" in table

    # The next night finds the same tables, on which there is a word already: nobody is asked, nothing changes.
    before = nights()
    prefect_server.submit("nightly/small", runs=str(tmp_path / "runs"))
    prefect_server.wait(lambda: nights() > before, PATIENCE, "no second night came through")
    assert len(runs()) == 1
    assert shop.tables("signed") == first
    assert len(system.calls) == 10, "the second night asked the same again"


def test_served_from_one_process_a_refusal_releases_nothing(
    tmp_path: Path, auditors: ScriptedServer, prefect_server: PrefectServer
) -> None:
    shop = make_workshop(tmp_path, auditors.url, asked)
    prefect_server.start(
        sys.executable, "-m", "mihakk.flows.cli", "serve", str(shop.config), **place(shop, "refused")
    )
    every = len(described())
    prefect_server.wait(
        lambda: len(prefect_server.rows("deployments")) == every, PATIENCE, "nothing is served"
    )
    assert (
        prefect_server.ended(
            prefect_server.submit("build/small", release=False, runs=str(tmp_path / "runs"))
        )["type"]
        == "COMPLETED"
    )
    run = prefect_server.submit("release/small", runs=str(tmp_path / "runs"))
    prefect_server.wait(lambda: prefect_server.state(run)["type"] == "PAUSED", PATIENCE, "nobody was asked")
    word = {"decision": "reject", "name": "Layla", "note": "the split leaks"}
    prefect_server.ask("POST", f"flow_runs/{run}/resume", {"run_input": word})
    state = prefect_server.ended(run)
    assert (state["type"], state["name"]) == ("COMPLETED", "Rejected")
    assert state["message"] == "Layla rejected these tables"
    assert not list(shop.hub("refused").rglob("README.md"))
