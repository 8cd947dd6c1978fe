"""Who hears how a run goes."""

from __future__ import annotations

from typing import Protocol

from pipeline.step import Step
from schemas.manifest import StageManifest


def tenth(before: int, done: int, total: int) -> int:
    """Which tenth of a step, 1 to 9, has just been passed between two counts of pieces; 0 where none was."""
    if not total or not 10 * before // total < 10 * done // total < 10:
        return 0
    return 10 * done // total


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
