"""3_curated: matches metadata to the taxonomy, removes non-poetic matter and duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from mihakk.curation import Duplicates, curate
from mihakk.curation.amending import amend
from mihakk.curation.duplicates import clusters
from mihakk.curation.entry_parts import SpreadEntries, write_entries
from mihakk.curation.normalization import output_of, reject
from mihakk.machinery.dedup.spread import DuplicatePasses
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.ids import digest
from mihakk.machinery.lake import ShardOutput
from mihakk.pipeline.build import Build, inputs_of
from mihakk.pipeline.campaigns import amendments_of
from mihakk.pipeline.rows import records
from mihakk.pipeline.step import Call, Share, Spread, Step, Tick, shards_before
from mihakk.schemas.campaign import OF_ITEMS, Amendment
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.manifest import ShardManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.stages import CURATED

STAGE = CURATED


@contextmanager
def _duplicates(build: Build, spread: Spread) -> Iterator[Share]:
    """Duplicates are a matter of the whole set; they are found by passes, and every shard gets its own."""
    scratch = build.lake.scratch(STAGE, digest([STEP.code(), STEP.settings(build)]))

    def run(title: str, work: Callable[..., str], calls: Sequence[tuple[Any, ...]]) -> list[str]:
        return spread([Call(f"{STAGE} {title} {n}", work, call) for n, call in enumerate(calls)])

    near, shards = DuplicatePasses(scratch, run), build.before(STAGE).shards()
    files = near.run(
        "read",
        write_entries,
        [
            (
                scratch,
                [inputs_of(build, STAGE, shard)],
                build.config.curate,
                records,
                (build, STAGE, shard),
            )
            for shard in shards
        ],
    )
    entries = SpreadEntries(scratch, near, shards, files)
    found = entries.by_shard(clusters(entries, build.config.curate))
    yield lambda shard: Duplicates.of_found(found.get(shard, ()))
    scratch.keep_only(near.files)


def _curate(build: Build, shard: str, duplicates: Duplicates, tick: Tick) -> list[ShardManifest]:
    ids = shard_ids(build, shard)
    known = set(ids)
    settled = [
        row
        for row in amendments_of(build)
        if row.field not in OF_ITEMS and {row.record, row.record.rpartition(":")[0]} & known
    ]
    inputs = STEP.shard_inputs(
        build,
        shard,
        duplicates=duplicates.digest(ids),
        amendments=[row.model_dump() for row in settled],
    )
    manifest = build.stage(STAGE).run(shard, inputs, lambda: _output(build, shard, duplicates, settled))
    tick(1)
    return [manifest]


def _output(build: Build, shard: str, duplicates: Duplicates, settled: Sequence[Amendment]) -> ShardOutput:
    """Curated records as people amended them, checked by the record checks; blocked ones are rejected."""
    from mihakk.validators.checks.checking import check_records

    output = amended(curate(records(build, STAGE, shard), duplicates, build.config.curate), settled)
    return without_blocked(output, check_records(_records(output), build.config.checks))


def amended(output: ShardOutput, settled: Sequence[Amendment]) -> ShardOutput:
    """The output with what people settled about its records."""
    if not settled:
        return output
    found = amend(_records(output), settled)
    removed = [*output.tables["removed"][1], *found.removed]
    return _changed(output, found.records, found.rejections, found.notes, removed=(Rejection, removed))


def without_blocked(output: ShardOutput, findings: Sequence[Finding]) -> ShardOutput:
    """The output with blocked records rejected under the first check that blocks them."""
    blocked = {
        f.subject: RecordRejected(f"check_{f.check}", f.detail)
        for f in reversed(findings)
        if f.severity == "block"
    }
    found = _records(output)
    return _changed(
        output,
        [record for record in found if record.id not in blocked],
        [reject(record, blocked[record.id]) for record in found if record.id in blocked],
        Counter(f"{finding.severity}.{finding.check}" for finding in findings),
        findings=(Finding, findings),
    )


def _records(output: ShardOutput) -> list[Poem | Idiom]:
    return cast("list[Poem | Idiom]", [*output.tables["poems"][1], *output.tables["idioms"][1]])


def _changed(
    output: ShardOutput,
    kept: Sequence[Poem | Idiom],
    rejected: Sequence[Rejection],
    notes: Mapping[str, int],
    **tables: Any,
) -> ShardOutput:
    """The output with these records alone, further rejections and notes, and other tables."""
    return output_of(
        kept,
        [*output.rejections, *rejected],
        {**output.counts.notes, **notes},
        merged=output.counts.merged,
        tables={**output.tables, **tables},
    )


def shard_ids(build: Build, shard: str) -> list[str]:
    """Ids of the records of a shard that curation reads."""
    before = build.before(STAGE)
    return [*before.ids("poems", shard), *before.ids("idioms", shard)]


STEP = Step(
    stage=STAGE,
    title="Curate",
    units=shards_before(STAGE),
    run=_curate,
    settings=lambda build: [build.config.curate.model_dump(), build.config.checks.model_dump()],
    packages=("curation", "validators/checks"),
    around=_duplicates,
)
