"""The one loop that runs steps on any engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.build import Build
from pipeline.engines.engine import Engine
from pipeline.guards import guard_tables
from pipeline.history import recorded
from pipeline.observer import Observer
from pipeline.step import Step
from pipeline.steps.order import MAKE, STEPS
from pipeline.units import run_units
from schemas.manifest import StageManifest
from schemas.stages import AUDITED


def run_step(step: Step, build: Build, engine: Engine, observer: Observer) -> StageManifest:
    """Runs one step to its manifest."""
    units = step.units(build)
    observer.started(step, step.total(build) if step.total else len(units))
    shards = run_units(step, build, units, engine, observer.tick)
    manifest = step.finish(build, shards)
    observer.finished(step, manifest)
    return manifest


@dataclass(frozen=True)
class Run:
    """What a finished run leaves to tell."""

    manifests: list[StageManifest]
    data_docs: Path | None
    """Folder of what the Great Expectations suites found: all in order, or the run would have stopped."""
    guard_seconds: float = 0.0
    """Wall time of the suites, between the review and the release."""


def run_pipeline(build: Build, engine: Engine, observer: Observer, steps: Sequence[Step] = STEPS) -> Run:
    """Runs the steps in order; what stands from an earlier run with the same inputs is used again.

    The tables are compared with their suites as soon as they are reviewed, before anything is released.
    """
    manifests: list[StageManifest] = []
    data_docs: Path | None = None
    guard_seconds = 0.0
    for step in steps:
        if step.stage != AUDITED:  # its settings hold a digest of tables that are not made yet
            step.settings(build)  # what the config names and is not there is said before anything is done
    with build.lake.locked() as still_locked, recorded(build, observer) as log:
        for step in steps:
            still_locked()
            manifests.append(run_step(step, build, engine, log))
            if step is MAKE[-1]:
                began = time.monotonic()
                data_docs = guard_tables(build)
                guard_seconds = time.monotonic() - began
    return Run(manifests, data_docs, guard_seconds)
