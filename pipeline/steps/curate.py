"""3_curated: matches metadata to the taxonomy, removes non-poetic matter and duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from curation import Duplicates, curate
from curation.amending import amend
from curation.duplicates import clusters
from curation.entry_parts import SpreadEntries, write_entries
from curation.normalization import reject
from mihakk.dedup.spread import DuplicatePasses
from mihakk.errors import RecordRejected
from mihakk.ids import digest
from mihakk.lake import ShardOutput
from pipeline.build import Build, inputs_of
from pipeline.campaigns import amendments_of
from pipeline.rows import records
from pipeline.step import Call, Share, Spread, Step, Tick, shards_before
from schemas.campaign import OF_ITEMS, Amendment
from schemas.finding import Finding
from schemas.idiom import Idiom
from schemas.manifest import ShardManifest
from schemas.poem import Poem
from schemas.stages import CURATED

STAGE = CURATED


@contextmanager
def _duplicates(build: Build, spread: Spread) -> Iterator[Share]:
    """Duplicates are a matter of the whole set; they are found by passes, and every shard gets its own."""
    scratch = build.lake.scratch(STAGE, digest([STEP.code(), STEP.settings(build)]))
    shards = build.before(STAGE).shards()

    def run(title: str, work: Callable[..., str], calls: Sequence[tuple[Any, ...]]) -> list[str]:
        return spread([Call(f"{STAGE} {title} {n}", work, call) for n, call in enumerate(calls)])

    near = DuplicatePasses(scratch, run)
    files = near.run(
        "read",
        write_entries,
        [
            (scratch, inputs_of(build, STAGE, shard), build.config.curate, records, (build, STAGE, shard))
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
    from validators.checks.checking import check_records

    output = amended(curate(records(build, STAGE, shard), duplicates, build.config.curate), settled)
    kept = [record for name in ("poems", "idioms") for record in output.tables[name][1]]
    findings = check_records(cast("list[Poem | Idiom]", kept), build.config.checks)
    return without_blocked(output, findings)


def amended(output: ShardOutput, settled: Sequence[Amendment]) -> ShardOutput:
    """The output with what people settled about its records."""
    if not settled:
        return output
    tables = dict(output.tables)
    found = amend((record for name in ("poems", "idioms") for record in tables[name][1]), settled)  # type: ignore[misc]
    tables["poems"] = Poem, [record for record in found.records if isinstance(record, Poem)]
    tables["idioms"] = Idiom, [record for record in found.records if isinstance(record, Idiom)]
    tables["removed"] = tables["removed"][0], [*tables["removed"][1], *found.removed]
    counts, gone = output.counts, len(found.rejections)
    return ShardOutput(
        tables,
        counts.model_copy(
            update={
                "kept": counts.kept - gone,
                "written": counts.written - gone,
                "rejected": counts.rejected + gone,
                "reasons": dict(Counter(counts.reasons) + Counter(row.reason for row in found.rejections)),
                "notes": {**counts.notes, **found.notes},
            }
        ),
        [*output.rejections, *found.rejections],
    )


def without_blocked(output: ShardOutput, findings: Sequence[Finding]) -> ShardOutput:
    """The output with blocked records rejected under the first check that blocks them."""
    blocked = {f.subject: f for f in reversed(findings) if f.severity == "block"}
    tables = dict(output.tables)
    rejections = list(output.rejections)
    for name in ("poems", "idioms"):
        row, rows = tables[name]
        tables[name] = row, [record for record in rows if getattr(record, "id", "") not in blocked]
        for record in rows:
            if found := blocked.get(getattr(record, "id", "")):
                error = RecordRejected(f"check_{found.check}", found.detail)
                rejections.append(reject(cast("Poem | Idiom", record), error))
    kept = output.counts.kept - len(blocked)
    reasons = Counter(output.counts.reasons) + Counter(f"check_{f.check}" for f in blocked.values())
    notes = Counter(f"{finding.severity}.{finding.check}" for finding in findings)
    counts = output.counts.model_copy(
        update={
            "kept": kept,
            "written": kept,
            "rejected": output.counts.rejected + len(blocked),
            "reasons": dict(reasons),
            "notes": {**output.counts.notes, **notes},
        }
    )
    return ShardOutput({**tables, "findings": (Finding, findings)}, counts, rejections)


def shard_ids(build: Build, shard: str) -> list[str]:
    """Ids of the records of a shard that curation reads."""
    return [record.id for record in records(build, STAGE, shard)]


STEP = Step(
    stage=STAGE,
    title="Curate",
    units=shards_before(STAGE),
    run=_curate,
    settings=lambda build: [build.config.curate.model_dump(), build.config.checks.model_dump()],
    packages=("curation", "validators/checks"),
    around=_duplicates,
)
