"""The eight steps in order, and the one loop that runs them on any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flows.context import Build
from flows.engine import Engine, run_units
from flows.guards import guard_tables
from flows.history import recorded
from flows.steps import audit, check, curate, generate, normalize, release, review, scrape
from flows.steps.step import Step
from schemas.manifest import StageManifest

if TYPE_CHECKING:
    from validators.expectations.guard import TableResult

STEPS: tuple[Step, ...] = (
    scrape.STEP,
    normalize.STEP,
    curate.STEP,
    generate.STEP,
    check.STEP,
    audit.STEP,
    review.STEP,
    release.STEP,
)


class Observer(Protocol):
    """Hears how a run goes; the terminal, Prefect's artifacts and tests each listen in their own way."""

    def started(self, step: Step, total: int) -> None:
        """A step begins; `total` ticks are expected."""
        ...

    def tick(self, count: int) -> None:
        """So many pieces of the current step are done."""
        ...

    def finished(self, step: Step, manifest: StageManifest) -> None:
        """A step has written its manifest."""
        ...


def step_of(stage: str) -> Step:
    """The step that writes a stage."""
    return next(step for step in STEPS if step.stage == stage)


def run_step(step: Step, build: Build, engine: Engine, observer: Observer) -> StageManifest:
    """Runs one step to its manifest."""
    units = step.units(build)
    observer.started(step, step.total(build) if step.total else len(units))
    shards = run_units(step, build, units, engine, observer.tick)
    manifest = step.finish(build, shards)
    observer.finished(step, manifest)
    return manifest


INGEST: tuple[Step, ...] = STEPS[:3]
"""Sources to curated records."""
MAKE: tuple[Step, ...] = STEPS[3:7]
"""Curated records to the reviewed tables a release is assembled from."""
RELEASE: tuple[Step, ...] = STEPS[7:]
"""The reviewed tables to a version on the Hub."""


@dataclass(frozen=True)
class Run:
    """What a finished run leaves to tell."""

    manifests: list[StageManifest]
    guards: list[TableResult]
    """What the Great Expectations suites found; all of it in order, or the run would have stopped."""


def run_pipeline(build: Build, engine: Engine, observer: Observer, steps: Sequence[Step] = STEPS) -> Run:
    """Runs the steps in order; what stands from an earlier run with the same inputs is used again.

    The tables are held against their suites as soon as they are reviewed, before anything is released.
    """
    manifests: list[StageManifest] = []
    guards: list[TableResult] = []
    with build.lake.locked() as still_locked, recorded(build, observer) as log:
        for step in steps:
            still_locked()
            manifests.append(run_step(step, build, engine, log))
            if step is MAKE[-1]:
                guards = guard_tables(build)
    return Run(manifests, guards)
