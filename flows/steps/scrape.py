"""1_scraped: each source to records, in shards of the config's size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from flows.context import Build
from flows.steps.step import Step, Tick
from mihakk.errors import UsageError
from mihakk.ids import canonical_json, sha256
from mihakk.lake import ShardOutput
from schemas.benchmark import SourceUse
from schemas.idiom import Idiom
from schemas.manifest import ShardCounts, ShardManifest
from schemas.poem import Poem
from schemas.rejection import Rejection

STAGE = "1_scraped"
Entry = Poem | Idiom | Rejection


def _name(use: SourceUse) -> str:
    return use.name or use.use


def _units(build: Build) -> list[str]:
    names = [_name(use) for use in build.config.sources]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError(f"source {twice[0]!r} is used twice: give each use its own `name`")
    return names


def _scrape(build: Build, unit: str, _: Any, tick: Tick) -> list[ShardManifest]:
    from scrapers.raw import RawStore
    from scrapers.source import run

    use = next(use for use in build.config.sources if _name(use) == unit)
    entries = iter(run(use, RawStore(build.pages or build.lake.url)))
    shards = []
    for number, chunk in enumerate(_chunks(entries, build.config.shard_size)):
        shards.append(_write(build, f"{unit}-{number:05d}", chunk))
    tick(1)
    return shards


def _write(build: Build, shard: str, chunk: Sequence[Entry]) -> ShardManifest:
    """The records themselves are the inputs: a shard is written again only when they changed."""
    inputs = sha256(b"\n".join(canonical_json(entry) for entry in chunk))
    return build.stage(STAGE).run(shard, inputs, lambda: _output(chunk))


def _output(chunk: Sequence[Entry]) -> ShardOutput:
    poems = [entry for entry in chunk if isinstance(entry, Poem)]
    idioms = [entry for entry in chunk if isinstance(entry, Idiom)]
    rejections = [entry for entry in chunk if isinstance(entry, Rejection)]
    kept = len(poems) + len(idioms)
    return ShardOutput(
        tables={"poems": (Poem, poems), "idioms": (Idiom, idioms)},
        counts=ShardCounts(
            read=len(chunk),
            kept=kept,
            rejected=len(rejections),
            written=kept,
            reasons=dict(Counter(row.reason for row in rejections)),
            notes={"couplets": sum(len(poem.couplets) for poem in poems)},
        ),
        rejections=rejections,
    )


def _chunks(entries: Iterator[Entry], size: int) -> Iterator[list[Entry]]:
    while chunk := list(islice(entries, size)):
        yield chunk


STEP = Step(
    stage=STAGE,
    title="Scrape sources",
    units=_units,
    run=_scrape,
    settings=lambda build: [use.model_dump() for use in build.config.sources],
    packages=("scrapers",),
    # Sources read local files and tokens, and a site is asked from one place.
    where=lambda _: "machine",
)
