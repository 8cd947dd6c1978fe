"""2_normalized: turns raw text into its canonical form and matching key."""

from __future__ import annotations

from typing import Any

from mihakk.curation.normalization import normalize
from mihakk.pipeline.build import Build
from mihakk.pipeline.rows import records
from mihakk.pipeline.step import Step, Tick, shards_before
from mihakk.schemas.manifest import ShardManifest
from mihakk.schemas.stages import NORMALIZED

STAGE = NORMALIZED


def _normalize(build: Build, shard: str, _: Any, tick: Tick) -> list[ShardManifest]:
    inputs = STEP.shard_inputs(build, shard)
    manifest = build.stage(STAGE).run(shard, inputs, lambda: normalize(records(build, STAGE, shard)))
    tick(1)
    return [manifest]


STEP = Step(
    stage=STAGE,
    title="Normalise text",
    units=shards_before(STAGE),
    run=_normalize,
    settings=lambda _: None,
    packages=("curation",),
)
