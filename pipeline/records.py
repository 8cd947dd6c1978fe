"""Records that a stage reads."""

from __future__ import annotations

from pipeline.build import Build
from schemas.idiom import Idiom
from schemas.poem import Poem


def records(build: Build, stage: str, shard: str) -> list[Poem | Idiom]:
    """All records of a shard of the stage before `stage`."""
    before = build.before(stage)
    return [*before.read("poems", Poem, shard), *before.read("idioms", Idiom, shard)]
