"""The schedule runs the whole line unattended on a real server and worker; a second night does nothing."""

from __future__ import annotations

import pytest

from mihakk.machinery.llm.scripted import ScriptedServer
from tests.end_to_end.conftest import Workshop
from tests.prefect_server import PATIENCE, PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


def place(workshop: Workshop, name: str) -> dict[str, str]:
    """Lake and Hub for a worker."""
    return {
        "MIHAKK_LAKE": str(workshop.lake(name)),
        "MIHAKK_HUB": str(workshop.hub(name)),
        "MIHAKK_WORKERS": "1",
    }


def test_a_night_of_the_schedule_and_a_second_that_does_nothing(
    workshop: Workshop, auditors: ScriptedServer, prefect_server: PrefectServer
) -> None:
    prefect_server.deploy(workshop.config)
    nightly = prefect_server.deployment("nightly/small")
    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert nightly["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"
    prefect_server.worker(**place(workshop, "nights"))

    def completed() -> list[dict[str, object]]:
        return prefect_server.completed("nightly/small")

    plain = workshop.start("plain")  # while the minute is waited for
    with prefect_server.every_minute("nightly/small", runs=str(workshop.folder / "runs")):
        prefect_server.wait(completed, PATIENCE, "no nightly run came through")
    _, err = plain.communicate(timeout=300)
    assert plain.returncode == 0, err
    release, asked = workshop.tables("nights"), len(auditors.calls)
    assert asked == 240, "60 items, two auditors, the night and the command"
    assert workshop.tables("plain") == release, "the schedule makes another release than the command"
    prefect_server.submit("nightly/small", runs=str(workshop.folder / "runs"))
    prefect_server.wait(lambda: len(completed()) >= 2, PATIENCE, "no second nightly run came through")
    assert workshop.tables("nights") == release
    assert len(auditors.calls) == asked, "the second night paid again"
    tasks = {row["name"] for row in prefect_server.rows("task_runs")}
    shards = {path.stem for path in (workshop.lake("nights") / "small").glob("5_checked/shards/*.json")}
    assert shards
    assert {f"5_checked {shard}" for shard in shards} <= tasks, "a task is a shard"
    artifacts = [(row["key"], row["data"]) for row in prefect_server.rows("artifacts")]
    assert "rejects" in dict(artifacts)
    for stage in ("1-scraped", "3-curated", "6-audited", "8-released"):
        assert (stage, 100.0) in artifacts
        assert any(key == f"{stage}-account" and " in = " in data for key, data in artifacts)
    assert any(key == "summary" and "Small — Hafez & Egypt" in data for key, data in artifacts)
