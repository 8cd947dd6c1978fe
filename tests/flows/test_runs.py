"""`mihakk runs`: what runs left of themselves, and how an interrupted one is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.history import recorded
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.steps.order import STEPS
from tests.reports.test_log_lines import MANIFEST


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return open_build(Path("demo"), tmp_path / "run", str(tmp_path / "lake"))


def said(build: Build, *arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--lake", str(Path(build.lake.storage.root).parent)])
    assert done.exit_code == 0, done.output
    return done.stdout


def failed(build: Build) -> None:
    with recorded(build, Silent()) as log:
        log.started(STEPS[0], 100)
        for _ in range(35):
            log.tick(1)
        raise ExternalFailure("the disk is full")


def interrupted(build: Build) -> None:
    with recorded(build, Silent()) as log:
        log.started(STEPS[0], 2)
        log.finished(STEPS[0], MANIFEST)
        log.started(STEPS[1], 7)
        raise KeyboardInterrupt


def test_a_failed_and_an_interrupted_run_are_listed_with_their_end(build: Build) -> None:
    with pytest.raises(ExternalFailure):
        failed(build)
    with pytest.raises(KeyboardInterrupt):
        interrupted(build)
    newest, oldest = json.loads(said(build, "runs", "demo", "--json"))
    assert (newest["state"], newest["stage"]) == ("stopped", "2_normalized")
    assert (oldest["state"], oldest["error"]) == ("failed", "the disk is full")
    told = said(build, "runs", "demo", "latest")
    assert "1_scraped: finished, 50 in · 48 out · 2 rejected" in told
    assert told.endswith("stopped in 2_normalized: run `mihakk build` again to go on\n")
    log = json.loads(said(build, "runs", "demo", oldest["run"], "--json"))
    assert [row["done"] for row in log["events"] if row["event"] == "progress"] == [10, 20, 30]


def test_a_run_that_is_not_there_is_a_usage_error(build: Build) -> None:
    lake = str(Path(build.lake.storage.root).parent)
    assert CliRunner().invoke(app, ["runs", "demo", "latest", "--lake", lake]).exit_code == 2
    with recorded(build, Silent()):
        pass
    done = CliRunner().invoke(app, ["runs", "demo", "1999", "--lake", lake])
    assert done.exit_code == 2
    assert "0 runs of demo begin with '1999'" in done.stderr


INTERRUPTED = """
import os, signal, sys
from mihakk.flows.cli import app, main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
@app.command()
def waits():
    os.kill(os.getpid(), signal.{name})
    signal.pause()
sys.argv = ["mihakk", "waits"]
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_ends_a_command_with_one_line_and_its_own_code(name: str, code: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == code
    assert ended.stderr.count("\n") == 1
    assert f"stopped by {name}" in ended.stderr
    assert "Run the same command again" in ended.stderr
