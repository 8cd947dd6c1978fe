"""Observers of a run."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Literal

from mihakk.pipeline.step import Step
from mihakk.schemas.manifest import StageManifest


@dataclass(frozen=True)
class Moment:
    """One thing that a run tells: a stage, or work between stages, begins, goes on or is done."""

    event: Literal["started", "progress", "finished"]
    name: str
    """Of the stage or the work."""
    title: str
    before: int
    """Pieces that were done before this moment."""
    done: int
    total: int
    seconds: float
    """Since its start."""
    is_stage: bool
    manifest: StageManifest | None = None
    """At a stage's end."""

    @property
    def tenth(self) -> int:
        """Which tenth of the work, 1 to 9, has just been passed; 0 where none was."""
        if not self.total or not 10 * self.before // self.total < 10 * self.done // self.total < 10:
            return 0
        return 10 * self.done // self.total


class Observer:
    """Follows a run: keeps count, and tells each moment; what is done with it, subclasses say in `tell`.

    The terminal, log lines, Prefect's artifacts and the run's record are observers.
    """

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._name = self._title = ""
        self._done = self._total = 0
        self._began = time.monotonic()

    def tell(self, moment: Moment) -> None:
        """Something has happened."""

    def started(self, step: Step, total: int) -> None:
        """A step begins; `total` ticks are expected."""
        self._begin(step.stage, step.title, total, is_stage=True)

    def tick(self, count: int) -> None:
        """So many pieces of the current step are done."""
        with self._counting:
            before, self._done = self._done, self._done + count
            moment = self._now("progress", before, time.monotonic() - self._began, is_stage=True)
        self.tell(moment)

    def finished(self, step: Step, manifest: StageManifest) -> None:  # noqa: ARG002 (as the others)
        """A step has written its manifest."""
        before, self._done = self._done, self._total
        seconds = time.monotonic() - self._began
        self.tell(self._now("finished", before, seconds, is_stage=True, manifest=manifest))

    def phase(self, name: str, seconds: float | None = None) -> None:
        """Work between or after the steps begins, or is done after so many seconds."""
        if seconds is None:
            self._begin(name, name, 1, is_stage=False)
        else:
            self._done = 1
            self.tell(self._now("finished", 0, seconds, is_stage=False))

    def _begin(self, name: str, title: str, total: int, *, is_stage: bool) -> None:
        self._name, self._title, self._done, self._total = name, title, 0, total
        self._began = time.monotonic()
        self.tell(self._now("started", 0, 0.0, is_stage=is_stage))

    def _now(
        self,
        event: Literal["started", "progress", "finished"],
        before: int,
        seconds: float,
        *,
        is_stage: bool,
        manifest: StageManifest | None = None,
    ) -> Moment:
        return Moment(
            event, self._name, self._title, before, self._done, self._total, seconds, is_stage, manifest
        )


class Silent(Observer):
    """Ignores everything."""


class Stopwatch:
    """Gives every second of a run to one name: what has passed since the name before."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.seconds: dict[str, float] = {}
        """Wall time by name, in the order of the first laps."""

    def lap(self, name: str) -> float:
        """Ends a stretch of work and returns its seconds; one of the same name is added to."""
        now = time.monotonic()
        spent, self._last = now - self._last, now
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        return spent
