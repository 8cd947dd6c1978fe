"""A real Prefect server and its workers as processes of a test, to schedule on, to look at and to kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
import pytest

from mihakk.machinery.ports import free_port
from mihakk.machinery.telemetry import NO_TELEMETRY
from tests.servers import LOOPBACK

PREFECT = [sys.executable, "-m", "prefect"]
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
PATIENCE = 450
"""Seconds for what a quiet machine does in a minute or two."""


class PrefectServer:
    """`mihakk server` on a free port, its PostgreSQL with it; what was started is ended with it.

    Args:
        folder: Its home, made.
        made: The database of an earlier one that was killed, to go on from; it takes longer to make than to copy.
    """

    def __init__(self, folder: Path, made: Path | None = None) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/api"
        self._processes: list[subprocess.Popen[bytes]] = []
        # Not in the test's folder, which root's PostgreSQL, another user, could not enter.
        self._database = Path(tempfile.mkdtemp(prefix="mihakk-postgres-"))
        self._database.chmod(0o755)
        if made is not None:
            copy(made, self._database / "cluster")
        self.process = self._start()

    def __enter__(self) -> PrefectServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            kill(process)
        shutil.rmtree(self._database, ignore_errors=True)

    def keep_database(self, folder: Path) -> None:
        """Kills the server and keeps its database for others."""
        kill(self.process)
        copy(self._database / "cluster", folder)
        # The killed server may be dying still: a copy that names it as its own doesn't start.
        (folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def clear(self) -> None:
        """Ends what a test started beside the server, and takes from the server whatever the test put there."""
        for process in self._processes:
            if process is not self.process:
                kill(process)
        for kind in ("automations", "deployments", "flow_runs", "flows", "artifacts", "block_documents"):
            for row in self.rows(kind):
                self.ask("DELETE", f"{kind}/{row['id']}")
        for pool in self.rows("work_pools"):
            self.ask("DELETE", f"work_pools/{pool['name']}")

    def environment(self, **more: str) -> dict[str, str]:
        """What a process needs to find the server, without anything of the user's own Prefect."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
            **NO_TELEMETRY,
            "PREFECT_HOME": str(self.folder),
            "PREFECT_API_URL": self.url,
            "PREFECT_API_TLS_INSECURE_SKIP_VERIFY": "true",  # of http://: else each client reads certificates
            "PREFECT_WORKER_QUERY_SECONDS": "2",
            "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "10",
            **more,
        }

    def run(self, *command: str, cwd: Path | None = None, **more: str) -> str:
        """A command to its end, in the server's own folder if no other is given; what it said."""
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """A command in a process group of its own, its output in a file of the folder."""
        log = (self.folder / f"process-{len(self._processes)}.log").open("wb")
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(**more),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def worker(self, **more: str) -> subprocess.Popen[bytes]:
        """A worker of the pool that `mihakk deploy` makes."""
        return self.start(*PREFECT, "worker", "start", "--pool", "mihakk", **more)

    def deploy(self, config: Path, *options: str) -> None:
        """`mihakk deploy`, and no schedule of prefect.yaml that could strike while the test runs."""
        self.run(sys.executable, "-m", "mihakk.flows.cli", "deploy", str(config), *options)
        self.unschedule()

    def unschedule(self) -> None:
        """Takes every schedule off the server."""
        for deployment in self.rows("deployments"):
            for schedule in deployment["schedules"]:
                self.ask("DELETE", f"deployments/{deployment['id']}/schedules/{schedule['id']}")

    @contextmanager
    def every_minute(self, name: str, **parameters: object) -> Iterator[None]:
        """A deployment's runs come by cron, once a minute: the first is the night, later ones find it going on."""
        deployment = self.deployment(name)["id"]
        schedule = {"schedule": {"cron": "* * * * *"}, "active": True, "parameters": parameters}
        (made,) = self.ask("POST", f"deployments/{deployment}/schedules", [schedule])
        yield
        self.ask("DELETE", f"deployments/{deployment}/schedules/{made['id']}")

    def completed(self, name: str) -> list[dict[str, Any]]:
        """A deployment's runs that came through; one that failed ends the test."""
        deployment = self.deployment(name)["id"]
        runs = self.rows("flow_runs", sort="START_TIME_ASC")
        mine = [run for run in runs if run["deployment_id"] == deployment]
        failed = [run["state"] for run in mine if run["state"]["type"] in ("FAILED", "CRASHED")]
        assert not failed, failed
        return [run for run in mine if run["state"]["type"] == "COMPLETED"]

    def restart(self) -> None:
        """The server again, after it was killed."""
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        where = ("--port", str(self._port), "--data", str(self._database / "cluster"))
        command = (sys.executable, "-m", "mihakk.flows.cli", "server", *where)
        process = self.start(*command)
        try:
            self.wait(self._healthy, 90, "the Prefect server did not start")
        except (
            pytest.fail.Exception
        ):  # another project's server, on a busy machine: its start alone is tried again
            print("the Prefect server did not answer within 90 s of its start: started once more")
            kill(process)
            process = self.start(*command)
            self.wait(self._healthy, 180, "the Prefect server did not start")
        return process

    def _healthy(self) -> bool:
        try:
            return LOOPBACK.get(f"{self.url}/health", timeout=5).is_success
        except httpx.TransportError:
            return False

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """One call of the server's API, which answers 503 while it is busy."""
        for _ in range(20):
            try:
                answer = LOOPBACK.request(method, f"{self.url}/{path}", json=body)
            except httpx.ReadTimeout:
                continue
            if answer.status_code != 503:
                break
            time.sleep(1)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def rows(self, kind: str, **wanted: object) -> list[dict[str, Any]]:
        """All rows of a kind: flow_runs, task_runs, artifacts, deployments, ..."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.ask("POST", f"{kind}/filter", {"limit": 200, "offset": len(found), **wanted})
            found += page
            if len(page) < 200:
                return found

    def deployment(self, name: str) -> dict[str, Any]:
        """A deployment by `<flow>/<name>`."""
        found: dict[str, Any] = self.ask("GET", f"deployments/name/{name}")
        return found

    def submit(self, name: str, **parameters: object) -> str:
        """Asks for a run of a deployment; its id."""
        body = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        run: dict[str, Any] = self.ask(
            "POST", f"deployments/{self.deployment(name)['id']}/create_flow_run", body
        )
        return str(run["id"])

    def state(self, run: str) -> dict[str, Any]:
        """A flow run's state."""
        found: dict[str, Any] = self.ask("GET", f"flow_runs/{run}")["state"]
        return found

    def ended(self, run: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The state in which a flow run ends."""
        self.wait(lambda: self.state(run)["type"] in ENDED, seconds, f"flow run {run} did not end")
        return self.state(run)

    def wait(self, ready: Callable[[], object], seconds: float, otherwise: str) -> None:
        """Until something holds; what every process said last is shown if it never does."""
        deadline = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > deadline:
                logs = sorted(self.folder.glob("process-*.log"))
                tails = "\n".join(f"{log.name}: {log.read_text('utf-8')[-3000:]}" for log in logs)
                pytest.fail(f"{otherwise}\n{tails}")
            time.sleep(1)


def copy(cluster: Path, target: Path) -> None:
    """A database with its owner, who is another than root."""
    subprocess.run(["cp", "--archive", str(cluster), str(target)], check=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL for a process and all it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
