"""2_normalized: raw text to its canonical form and matching key."""

from __future__ import annotations

from typing import Any

from flows.context import Build
from flows.steps.step import Step, Tick, shards_before
from mihakk.normalization import normalize
from schemas.idiom import Idiom
from schemas.manifest import ShardManifest
from schemas.poem import Poem

STAGE = "2_normalized"


def records(build: Build, stage: str, shard: str) -> list[Poem | Idiom]:
    """All records of a shard of the stage before `stage`."""
    before = build.before(stage)
    return [*before.read("poems", Poem, shard), *before.read("idioms", Idiom, shard)]


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
    packages=(),
)
