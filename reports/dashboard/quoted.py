"""What only the page of a run shows: texts of items and of what was rejected."""

from __future__ import annotations

from dataclasses import dataclass

from mihakk.annotation.decisions.apply import WAITING
from mihakk.machinery.groups import grouped
from mihakk.pipeline.build import Build
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import AUDITED, REVIEWED, STAGES

QUEUE_SHOWN = 30
EXAMPLES_PER_REASON = 3


@dataclass(frozen=True)
class Quoted:
    """Texts from a finished build."""

    samples: list[Item]
    """One released item of each task and language."""
    rejections: list[tuple[str, str, int, list[Rejection]]]
    """Stage, reason, count and a few examples; without what waits for people."""
    waiting: list[tuple[Item, Verdict]]
    """The first of them."""


def quoted(build: Build) -> Quoted:
    """The texts of a finished build."""
    audited, reviewed = build.stage(AUDITED), build.stage(REVIEWED)
    samples: dict[tuple[str, str], Item] = {}
    for item in reviewed.read_all("items", ITEM_ROWS):
        samples.setdefault((item.language, item.task), item)
    waits = [row.record for row in reviewed.rejections() if row.reason in WAITING][:QUEUE_SHOWN]
    verdicts = {one.item: one for one in audited.read_all("verdicts", Verdict, ("item", waits))}
    rejections = []
    for stage in STAGES:
        by_reason = grouped(build.stage(stage).rejections(), lambda row: row.reason)
        for reason, rows in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
            if reason not in WAITING:
                rejections.append((stage, reason, len(rows), rows[:EXAMPLES_PER_REASON]))
    return Quoted(
        samples=[samples[name] for name in sorted(samples)],
        rejections=rejections,
        waiting=[(one, verdicts[one.id]) for one in audited.read_all("items", ITEM_ROWS, ("id", waits))],
    )
