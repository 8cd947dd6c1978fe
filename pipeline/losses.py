"""Sources and tasks that give nothing or lose much, and whether a person accepted it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mihakk.pipeline.build import Build
from mihakk.pipeline.rows import source_counts
from mihakk.releases.release_facts import LossFact
from mihakk.schemas.benchmark import MOST_LOST
from mihakk.schemas.stages import CURATED, GENERATED, NORMALIZED, REVIEWED, SCRAPED

PARTS = "rejected parts"
"""Note of the first stage: rejections of couplets, lines and headings, which are no records."""
LOST = ("blocked", "discarded_")
"""Beginnings of the reasons for which a task's items are lost."""


def losses(build: Build) -> Iterator[LossFact]:
    """Sources, once curated, and tasks, once reviewed, that gave nothing or lost more than a fifth.

    A source loses the records that the first three stages reject; what is merged is not lost. A task loses
    the items that a check blocks or people discard; what waits for people is not lost.
    """
    for found in (*_sources(build), *_tasks(build)):
        if found.nothing or found.share > MOST_LOST:
            yield found


def refused(build: Build) -> str:
    """The losses that nobody accepted, in one line; empty where there are none."""
    return "; ".join(found.sentence for found in losses(build) if not found.is_accepted)


def _sources(build: Build) -> Iterator[LossFact]:
    if not build.stage(CURATED).finished():
        return
    manifests = [build.stage(stage).manifest() for stage in (SCRAPED, NORMALIZED, CURATED)]
    for use in build.config.sources:
        counts = [source_counts(one, use.label) for one in manifests]
        parts = counts[0].notes.get(PARTS, 0)
        yield LossFact(
            kind="source",
            name=use.label,
            lost=sum(one.rejected for one in counts) - parts,
            seen=counts[0].read - parts,
            kept=counts[-1].kept,
            reasons=_commonest([one.reasons for one in counts]),
            accepted=use.accept.get("lost"),
        )


def _tasks(build: Build) -> Iterator[LossFact]:
    if not build.stage(REVIEWED).finished():
        return
    rejections = build.stage(REVIEWED).rejections()
    rejected, task_of = {row.record for row in rejections}, {}
    seen: Counter[str] = Counter()
    for item, task in build.stage(GENERATED).values("items", "id", "task"):
        seen[task] += 1
        if item in rejected:
            task_of[item] = task
    reasons: dict[str, Counter[str]] = {}
    for row in rejections:
        if row.record in task_of:
            reasons.setdefault(task_of[row.record], Counter())[row.reason] += 1
    for use in build.config.tasks:
        gone = reasons.get(use.use, Counter())
        lost = {name: count for name, count in gone.items() if name.startswith(LOST)}
        yield LossFact(
            kind="task",
            name=use.use,
            lost=sum(lost.values()),
            seen=seen[use.use],
            kept=seen[use.use] - sum(lost.values()),
            reasons=_commonest([lost]),
            accepted=use.accept.get("lost"),
        )


def _commonest(counts: list[Mapping[str, int]], most: int = 3) -> dict[str, int]:
    whole: Counter[str] = Counter()
    for one in counts:
        whole.update(one)
    return dict(whole.most_common(most))
