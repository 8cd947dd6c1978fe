"""A Dask scheduler and workers of their own processes, reached by address: the local build's bytes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ports import free_port
from mihakk.pipeline.engines.choose import open_engine
from mihakk.pipeline.step import Call
from tests.end_to_end.conftest import ROOT, Workshop
from tests.prefect_server import PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


class Cluster:
    """A scheduler and two workers."""

    def __init__(self, folder: Path) -> None:
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self._folder = folder
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", self.address.rpartition(":")[2], "--no-dashboard"
        )
        self.workers = [self.worker(), self.worker()]

    def worker(self) -> subprocess.Popen[bytes]:
        """Starts a worker with no nanny, so that what is killed stays dead."""
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=ROOT,
            env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(self._folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    yield started
    started.stop()


def test_a_build_on_a_cluster_is_the_local_one_even_when_a_worker_is_killed(
    workshop: Workshop, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.build("local", monkeypatch)
    far = workshop.start("far", "--engine", f"dask:{cluster.address}")
    while not list((workshop.lake("far") / "small").glob("2_normalized/shards/*.json")):
        assert far.poll() is None
        time.sleep(0.05)
    cluster.workers[0].kill()
    _, err = far.communicate(timeout=300)
    assert far.returncode == 0, err
    assert cluster.workers[0].wait(timeout=10)
    assert workshop.tables("far") == workshop.tables("local")


def refuse(number: int) -> int:
    raise UsageError(f"{number} is too many")


def test_a_workers_error_is_the_runs(cluster: Cluster) -> None:
    with open_engine(f"dask:{cluster.address}") as engine, pytest.raises(UsageError, match="too many"):
        engine.each([Call(f"refuse {n}", refuse, (n,)) for n in range(3)], lambda _: None)


def test_workers_of_other_code_are_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_engine(f"dask:{cluster.address}"):
        pass
    monkeypatch.setattr("mihakk.pipeline.engines.dask.PACKAGES", ("schemas",))
    with pytest.raises(UsageError, match="other code"), open_engine(f"dask:{cluster.address}"):
        pass


def test_no_scheduler_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.pipeline.engines.dask.ANSWER_SECONDS", 2)
    with pytest.raises(ExternalFailure, match="no Dask scheduler"), open_engine("dask:tcp://127.0.0.1:9"):
        pass


@pytest.mark.drill
def test_the_flow_puts_its_tasks_on_the_cluster(
    workshop: Workshop,
    cluster: Cluster,
    prefect_server: PrefectServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workshop.build("plain", monkeypatch)
    prefect_server.run(
        *(sys.executable, "-m", "mihakk.flows.deployed.build", str(workshop.config)),
        cwd=ROOT,
        MIHAKK_ENGINE=f"dask:{cluster.address}",
        MIHAKK_LAKE=str(workshop.lake("flow")),
        MIHAKK_HUB=str(workshop.hub("flow")),
        MIHAKK_RUNS=str(tmp_path / "runs"),
    )
    names = {row["name"] for row in prefect_server.rows("task_runs")}
    shards = {path.stem for path in (workshop.lake("flow") / "small").glob("5_checked/shards/*.json")}
    assert shards
    assert {f"5_checked {shard}" for shard in shards} <= names
    assert workshop.tables("flow") == workshop.tables("plain")
