"""The same job as a flow on a real Prefect server: tasks are shards, artifacts tell the story."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.end_to_end.conftest import ROOT, Workshop

pytestmark = pytest.mark.services


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    port = 4271
    url = f"http://127.0.0.1:{port}/api"
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{url}/health", timeout=5).is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.5)
        else:
            pytest.fail("the Prefect server did not start")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def rows(url: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        answer = httpx.post(f"{url}/{kind}/filter", json={"limit": 200, "offset": len(found)}, timeout=60)
        answer.raise_for_status()
        page = answer.json()
        found += page
        if len(page) < 200:
            return found


def test_the_flow_runs_on_a_real_server(workshop: Workshop, server: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.build", str(workshop.config)],
        cwd=ROOT,
        env={
            **os.environ,
            "PREFECT_API_URL": server,
            "PREFECT_HOME": str(tmp_path / "prefect-client"),
            "DO_NOT_TRACK": "1",
            "MIHAKK_LAKE": str(workshop.lake("flow")),
            "MIHAKK_HUB": str(workshop.hub("flow")),
            "MIHAKK_RUNS": str(tmp_path / "runs"),
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (flow,) = rows(server, "flow_runs")
    assert flow["state"]["type"] == "COMPLETED"
    tasks = {row["name"] for row in rows(server, "task_runs")}
    shards = {path.stem for path in (workshop.lake("flow") / "small").glob("5_checked/shards/*.json")}
    assert shards
    assert {f"5_checked {shard}" for shard in shards} <= tasks
    artifacts = {row["key"]: row for row in rows(server, "artifacts")}
    assert {"summary", "rejects", "6-audited"} <= set(artifacts)
    assert "Small — Hafez & Egypt" in artifacts["summary"]["data"]
    assert artifacts["6-audited"]["data"] == 100.0
    plain = workshop.start("plain")
    _, err = plain.communicate(timeout=300)
    assert plain.returncode == 0, err
    assert workshop.tables("flow") == workshop.tables("plain"), "the engine changed the result"
