"""The eight steps in order."""

from __future__ import annotations

from mihakk.machinery.errors import UsageError, nearest
from mihakk.pipeline.step import Step
from mihakk.pipeline.steps import audit, check, curate, generate, normalize, release, review, scrape

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

INGEST: tuple[Step, ...] = STEPS[:3]
"""Sources to curated records."""
MAKE: tuple[Step, ...] = STEPS[3:7]
"""Curated records to the reviewed tables a release is assembled from."""
RELEASE: tuple[Step, ...] = STEPS[7:]
"""The reviewed tables to a version on the Hub."""


def between(first: str = "", last: str = "") -> tuple[Step, ...]:
    """The steps from one stage to another, both included; all where a name is empty.

    Args:
        first: Name of a stage with or without its number, e.g. `checked` or `5_checked`.
        last: The same.

    Raises:
        UsageError: No such stage, or the first comes after the last.
    """
    start = _place(first) if first else 0
    end = _place(last) if last else len(STEPS) - 1
    if start > end:
        raise UsageError(f"{STEPS[start].stage} comes after {STEPS[end].stage}: nothing would run")
    return STEPS[start : end + 1]


def _place(name: str) -> int:
    names = [step.stage.partition("_")[2] for step in STEPS]
    plain = name.partition("_")[2] if name[:1].isdigit() else name
    if plain not in names:
        raise UsageError(f"there is no stage {name!r}; {nearest(plain, names, 'stages are')}")
    return names.index(plain)


def step_of(stage: str) -> Step:
    """The step that writes a stage."""
    return next(step for step in STEPS if step.stage == stage)
