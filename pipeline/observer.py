"""Observers of a run."""

from __future__ import annotations

import time
from typing import Protocol

from pipeline.step import Step
from schemas.manifest import StageManifest


def tenth(before: int, done: int, total: int) -> int:
    """Which tenth of a step, 1 to 9, has just been passed between two counts of pieces; 0 where none was."""
    if not total or not 10 * before // total < 10 * done // total < 10:
        return 0
    return 10 * done // total


class Observer(Protocol):
    """Told of a run's progress: the terminal, Prefect's artifacts, the run's record, tests."""

    def started(self, step: Step, total: int) -> None:
        """A step begins; `total` ticks are expected."""
        ...

    def tick(self, count: int) -> None:
        """So many pieces of the current step are done."""
        ...

    def finished(self, step: Step, manifest: StageManifest) -> None:
        """A step has written its manifest."""
        ...

    def phase(self, name: str, seconds: float | None = None) -> None:
        """Work between or after the steps begins, or is done after so many seconds."""
        ...


class Silent:
    """Ignores everything."""

    def started(self, step: Step, total: int) -> None: ...
    def tick(self, count: int) -> None: ...
    def finished(self, step: Step, manifest: StageManifest) -> None: ...
    def phase(self, name: str, seconds: float | None = None) -> None: ...


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
