"""1_scraped: turns each source into records, in shards of the config's size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from mihakk.curation.normalization import output_of
from mihakk.machinery.errors import MihakkError, UsageError
from mihakk.machinery.ids import canonical_json, sha256
from mihakk.machinery.lake import ShardOutput
from mihakk.pipeline.build import Build
from mihakk.pipeline.losses import PARTS
from mihakk.pipeline.step import Step, Tick
from mihakk.releases.licence import known
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.manifest import ShardManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import SCRAPED

STAGE = SCRAPED
NO_RECORDS = ("heading", "too_short")
"""Reasons to reject rows that the config, or their own form, says are no records."""
REFUSED = "refused licence "
"""Begins the names of this stage's notes on licences that no release may carry."""
Entry = Poem | Idiom | Rejection


def _units(build: Build) -> list[str]:
    names = [use.label for use in build.config.sources]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError(f"source {twice[0]!r} is used twice: give each use its own `name`")
    return names


def _scrape(build: Build, unit: str, _: Any, tick: Tick) -> list[ShardManifest]:
    from mihakk.scrapers.raw import RawStore
    from mihakk.scrapers.source import run

    use = next(use for use in build.config.sources if use.label == unit)
    entries = iter(run(use, RawStore(build.pages or build.lake.url)))
    shards = []
    rejected: list[Rejection] = []
    try:
        for number, chunk in enumerate(_chunks(_noting(entries, rejected), build.config.shard_size)):
            shards.append(_write(build, f"{unit}-{number:05d}", chunk))
    except MihakkError as error:
        if rejected:
            build.stage(STAGE).keep_rejections(rejected)
            raise type(error)(f"{error}\n{_told(build.config.name, rejected)}") from error
        raise
    tick(1)
    return shards


def _noting(entries: Iterator[Entry], rejected: list[Rejection]) -> Iterator[Entry]:
    """The entries; rejections among them are noted, for the case that the source fails later."""
    for entry in entries:
        if isinstance(entry, Rejection):
            rejected.append(entry)
        yield entry


def _told(benchmark: str, rejected: Sequence[Rejection]) -> str:
    """Reasons of rejections with counts and three examples each."""
    lines = [
        f"It rejected {len(rejected):,} before; all of them: mihakk show {STAGE}/rejected -b {benchmark}"
    ]
    for reason, count in Counter(one.reason for one in rejected).most_common():
        lines.append(f"  {count:,} {reason}")
        examples = islice((one for one in rejected if one.reason == reason), 3)
        # The place of a row that can't be read is its record too.
        lines += [f"    {one.record}: {one.detail.removeprefix(f'{one.record}: ')[:160]}" for one in examples]
    return "\n".join(lines)


def _write(build: Build, shard: str, chunk: Sequence[Entry]) -> ShardManifest:
    """The records themselves are the inputs: a shard is written again only when they changed."""
    inputs = sha256(b"\n".join(canonical_json(entry) for entry in chunk))
    return build.stage(STAGE).run(shard, inputs, lambda: _output(chunk))


def _output(chunk: Sequence[Entry]) -> ShardOutput:
    kept = [entry for entry in chunk if not isinstance(entry, Rejection)]
    couplets = sum(len(entry.couplets) for entry in kept if isinstance(entry, Poem))
    return output_of(
        kept,
        [entry for entry in chunk if isinstance(entry, Rejection)],
        {"couplets": couplets, **_refused(kept), **_parts(chunk)},
        tables={},
    )


def _parts(chunk: Sequence[Entry]) -> dict[str, int]:
    """Rejections of a poem's couplets and lines, which are named after it, and of headings of a table: no
    records are lost with them."""
    names = {entry.record if isinstance(entry, Rejection) else entry.id for entry in chunk}
    rejected = [entry for entry in chunk if isinstance(entry, Rejection)]
    parts = sum(one.reason in NO_RECORDS or one.record.rpartition(":")[0] in names for one in rejected)
    return {PARTS: parts} if parts else {}


def _refused(records: Sequence[Poem | Idiom]) -> dict[str, int]:
    """Records by licence that the last gate will refuse, so that it is said before anything is paid for."""
    counts = Counter(record.provenance.licence for record in records)
    return {f"{REFUSED}{name or '(empty)'}": count for name, count in counts.items() if not known(name)}


def refused_licences(notes: Mapping[str, int]) -> dict[str, int]:
    """Licence to records, from the notes of this stage's manifest."""
    return {name.removeprefix(REFUSED): count for name, count in notes.items() if name.startswith(REFUSED)}


def refusal(licences: Mapping[str, int]) -> str:
    """What the last gate will say of these records, and what to do before anything is paid for."""
    named = ", ".join(f"{name}: {count:,}" for name, count in sorted(licences.items()))
    return (
        f"{sum(licences.values()):,} records carry a licence that a release refuses ({named}): state it in "
        "the option `licence` of their source, or leave them out"
    )


def _chunks(entries: Iterator[Entry], size: int) -> Iterator[list[Entry]]:
    while chunk := list(islice(entries, size)):
        yield chunk


def _settings(use: SourceUse) -> dict[str, Any]:
    """What of a use changes its records: not the losses that a person accepted."""
    accept = {name: share for name, share in use.accept.items() if name != "lost"}
    return use.model_dump(exclude={"accept"}) | ({"accept": accept} if accept else {})


STEP = Step(
    stage=STAGE,
    title="Scrape sources",
    units=_units,
    run=_scrape,
    settings=lambda build: [_settings(use) for use in build.config.sources],
    packages=("scrapers",),
    # Sources read local files and tokens, and a site is asked from one place.
    where=lambda _: "machine",
)
