"""The same job as a flow on a real Prefect server: tasks are shards, artifacts tell the story."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT, Workshop
from tests.prefect_server import PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


def test_the_flow_runs_on_a_real_server(
    workshop: Workshop, prefect_server: PrefectServer, tmp_path: Path
) -> None:
    prefect_server.run(
        *(sys.executable, "-m", "mihakk.flows.deployed.build", str(workshop.config)),
        cwd=ROOT,
        MIHAKK_LAKE=str(workshop.lake("flow")),
        MIHAKK_HUB=str(workshop.hub("flow")),
        MIHAKK_RUNS=str(tmp_path / "runs"),
    )
    (flow,) = prefect_server.rows("flow_runs")
    assert flow["state"]["type"] == "COMPLETED"
    tasks = {row["name"] for row in prefect_server.rows("task_runs")}
    shards = {path.stem for path in (workshop.lake("flow") / "small").glob("5_checked/shards/*.json")}
    assert shards
    assert {f"5_checked {shard}" for shard in shards} <= tasks
    artifacts = {row["key"]: row for row in prefect_server.rows("artifacts")}
    assert {"summary", "rejects", "6-audited"} <= set(artifacts)
    assert "Small — Hafez & Egypt" in artifacts["summary"]["data"]
    assert artifacts["6-audited"]["data"] == 100.0
    plain = workshop.start("plain")
    _, err = plain.communicate(timeout=300)
    assert plain.returncode == 0, err
    assert workshop.tables("flow") == workshop.tables("plain"), "the engine changed the result"
