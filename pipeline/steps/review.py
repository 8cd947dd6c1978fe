"""7_reviewed: applies people's decisions; flagged items without a decision are not released."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mihakk.annotation.decisions.apply import apply
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import doubted
from mihakk.annotation.decisions.words import UNCOUNTED
from mihakk.machinery.ids import content_hash
from mihakk.machinery.lake import ShardOutput
from mihakk.pipeline.build import Build
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.step import Share, Spread, Step, Tick, shards_before
from mihakk.pipeline.steps.check import reviews_of
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts, ShardManifest
from mihakk.schemas.review import Resolution
from mihakk.schemas.stages import REVIEWED

STAGE = REVIEWED
CARRIED: tuple[tuple[str, Any], ...] = (("findings", Finding), ("audits", Audit), ("verdicts", Verdict))
"""Tables that the release needs from the audit, passed on as they are."""


def unchecked(told: Resolution) -> Resolution:
    """A correction that the checks have not seen counts as none: nothing is released that only a person saw.

    The checks apply every settled correction, so one that still stands here came in while this build ran,
    undoes an earlier one, or leaves the item as it was.
    """
    if told.outcome != "fix":
        return told
    reason = (
        "corrected since the checks of this build (build again), back and forth, or in nothing that shows"
    )
    return told.model_copy(update={"outcome": "unresolved", "by": "", "reason": reason, "corrections": {}})


def _doubted(build: Build, _: Spread) -> AbstractContextManager[Share]:
    """Every unit gets all doubts: they are few, and the store is read for them once."""
    found = doubted(review_stores(build))
    return nullcontext(lambda _: found)


def _review(build: Build, shard: str, every_doubt: set[tuple[str, str]], tick: Tick) -> list[ShardManifest]:
    before = build.before(STAGE)
    mine = set(before.ids("items", shard))
    reviews = [review for review in reviews_of(build) if review.item in mine]
    told = [review.model_dump(mode="json", exclude=UNCOUNTED) for review in reviews]
    doubts = sorted(one for one in every_doubt if one[0] in mine)
    inputs = STEP.shard_inputs(build, shard, reviews=told, **({"doubted": doubts} if doubts else {}))

    def work() -> ShardOutput:
        items = before.read("items", ITEM_ROWS, shard)
        hashes = {item.id: content_hash(item) for item in items}
        config = build.config.review
        outcomes = resolve(reviews, hashes, config.overlap, adjudicators=config.adjudicators)
        resolutions = [unchecked(one) for one in outcomes]
        verdicts = before.read("verdicts", Verdict, shard)
        reviewed = apply(items, verdicts, resolutions, reviews, config.unresolved, doubted=doubts)
        carried = {name: (row, before.read(name, row, shard)) for name, row in CARRIED}
        return ShardOutput(
            tables={
                "items": (ITEM_ROWS, reviewed.kept),
                "resolutions": (Resolution, resolutions),
                **carried,
            },
            counts=ShardCounts(
                read=len(items),
                kept=len(reviewed.kept),
                rejected=len(reviewed.removed),
                written=len(reviewed.kept),
                reasons=dict(Counter(row.reason for row in reviewed.removed)),
            ),
            rejections=reviewed.removed,
        )

    manifest = build.stage(STAGE).run(shard, inputs, work)
    tick(1)
    return [manifest]


STEP = Step(
    stage=STAGE,
    title="Apply people's decisions",
    units=shards_before(STAGE),
    run=_review,
    settings=lambda build: build.config.review.model_dump(),
    packages=("annotation",),
    around=_doubted,
)
