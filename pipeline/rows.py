"""Rows of stage tables: their models, and the records that a stage reads."""

from __future__ import annotations

from typing import Any

from mihakk.machinery.lake.stage import total
from mihakk.pipeline.build import Build
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts, StageManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.published import Published, SealedItem
from mihakk.schemas.rejection import Cluster, Rejection
from mihakk.schemas.review import Resolution

ROWS: dict[str, Any] = {
    "items": ITEM_ROWS,
    "poems": Poem,
    "idioms": Idiom,
    "removed": Rejection,
    "rejected": Rejection,
    "clusters": Cluster,
    "findings": Finding,
    "audits": Audit,
    "verdicts": Verdict,
    "resolutions": Resolution,
    "release": Published,
    "sealed": SealedItem,
    "sealed_items": ITEM_ROWS,
    "sealed_findings": Finding,
}
"""Models of the rows of every table."""


def records(build: Build, stage: str, shard: str) -> list[Poem | Idiom]:
    """All records of a shard of the stage before `stage`."""
    before = build.before(stage)
    return [*before.read("poems", Poem, shard), *before.read("idioms", Idiom, shard)]


def source_counts(manifest: StageManifest, source: str) -> ShardCounts:
    """What a stage did to the records of one use of a source, or to the items made of them."""
    return total([shard.counts for shard in manifest.shards if shard.source == source])
