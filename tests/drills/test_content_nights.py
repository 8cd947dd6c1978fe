"""Nights on a real server: new rows, corrected rows, a truncated file, the digest that says so, a sign-off."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.llm.scripted import ScriptedServer
from tests.drills.test_nightly import place
from tests.end_to_end.conftest import make_workshop
from tests.end_to_end.sayings import ROWS, Sayings, corrected
from tests.prefect_server import PATIENCE, PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(1200)]


def test_what_a_truncated_file_would_change_waits_for_a_person_and_the_digest_leads_with_it(
    tmp_path: Path, auditors: ScriptedServer, prefect_server: PrefectServer, pager: tuple[str, list[str]]
) -> None:
    sayings = Sayings(tmp_path)
    shop = make_workshop(tmp_path, auditors.url, sayings.source)
    address, told = pager
    quiet = prefect_server.start(sys.executable, "-m", "mihakk.flows.cli", "deploy", str(shop.config))
    assert quiet.wait(PATIENCE) == 0
    warned = max(prefect_server.folder.glob("process-*.log"), key=lambda log: log.stat().st_mtime)
    assert "nobody is told when a job fails" in warned.read_text("utf-8").replace("\n", " ")
    prefect_server.unschedule()
    prefect_server.worker(**place(shop, "nights"), MIHAKK_DIGEST_WEBHOOK=address)
    readme = shop.hub("nights") / "small" / "README.md"
    release = prefect_server.deployment("release/small")["id"]

    def night(rows: list[dict[str, Any]]) -> None:
        sayings.write(rows)
        run = prefect_server.submit("nightly/small", runs=str(tmp_path / "runs"))
        assert prefect_server.ended(run)["type"] == "COMPLETED"

    def digest() -> str:
        before = len(told)
        run = prefect_server.submit("digest/small", runs=str(tmp_path / "runs"))
        assert prefect_server.ended(run)["type"] == "COMPLETED"
        assert len(told) == before + 1
        text: str = json.loads(told[-1])["text"]
        return text

    def paused() -> list[str]:
        found = prefect_server.rows("flow_runs")
        return [
            one["id"] for one in found if one["deployment_id"] == release and one["state"]["type"] == "PAUSED"
        ]

    night(ROWS[:40])
    night(ROWS[:42])
    night(corrected(ROWS[:42], 3, 6))
    assert not paused()
    text = digest()
    assert "sayings: 42 rows seen, 2 new, 0 changed, 0 vanished, 0 rejected" in text
    assert "sayings: 42 rows seen, 0 new, 2 changed, 0 vanished, 0 rejected" in text
    assert "because of rows of source sayings: 2 changed" in text
    assert "Held" not in text
    released = readme.read_text("utf-8")

    night(corrected(ROWS[:20], 3, 6))
    prefect_server.wait(paused, PATIENCE, "nobody was asked")
    assert readme.read_text("utf-8") == released, "released without a word"
    text = digest()
    first = next(line for line in text.splitlines() if line.startswith("- "))
    assert first.startswith("- **Held**: more changed since version ")
    assert "22 of 42 rows of source sayings vanished (52.4%, allowed 10.0%)" in first
    assert "--sign-off NAME" in first
    (shown, *_) = [row["data"] for row in prefect_server.rows("artifacts") if row["key"] == "sign-off"]
    assert "22 of 42 rows of source sayings vanished" in shown

    (waiting,) = paused()
    prefect_server.ask(
        "POST", f"flow_runs/{waiting}/resume", {"run_input": {"decision": "approve", "name": "Layla"}}
    )
    assert prefect_server.ended(waiting)["type"] == "COMPLETED"
    assert "Signed off by Layla" in readme.read_text("utf-8")
    text = digest()
    assert "Held" not in text
    assert "rows of source sayings: 22 vanished" in text
