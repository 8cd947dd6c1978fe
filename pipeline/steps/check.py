"""5_checked: applies people's corrections, then runs every check over every item."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.store import decisions
from mihakk.machinery.ids import content_hash, digest
from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.lake.scratch import Scratch
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, whole_input
from mihakk.pipeline.embedder import OpenedEmbedder
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.sealed import Part, parts, said_of, side_names, sides
from mihakk.pipeline.step import Call, Share, Spread, Step, Tick, drop_prepared, prepared, shards_before
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts, ShardManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.review import Review
from mihakk.schemas.stages import CHECKED, CURATED

if TYPE_CHECKING:
    from mihakk.validators.checks.gathering import Gathered
    from mihakk.validators.checks.setindex import SetIndex

STAGE = CHECKED
_COUPLET = re.compile(r"couplets\[(\d+)\]")


def reviews_of(build: Build) -> list[Review]:
    """Everything people have decided so far on this benchmark."""
    return decisions(review_stores(build))


def _fixed(build: Build, items: list[Any], reviews: list[Review]) -> tuple[list[Any], dict[str, str]]:
    config = build.config.review
    return fixed(items, reviews, config.overlap, config.adjudicators)


class Whole(NamedTuple):
    """What every shard needs to know of the whole set."""

    scratch: Scratch
    set_index: Mapping[str, str]
    """Pen, empty in an open benchmark -> name of the set's index; each process reads it once."""
    part: Part
    """What of the shard is checked anew."""
    state: str
    """Digest of all items as corrected, and of where their works belong."""
    reports: tuple[Any, ...]
    """Defects that consumers reported, which only the machine of the run holds."""
    of_records: Mapping[str, tuple[Finding, ...]]
    """Id of a poem, couplet or idiom -> what checks of records said of it."""


@contextmanager
def _whole(build: Build, spread: Spread) -> Iterator[Share]:
    """Findings about duplicates and bias depend on every other item: each shard is gathered on the engine."""
    corrected = _all_corrections(build)
    placed = sides(build)
    state = digest([whole_input(build, STAGE), corrected, *([placed.digest] if placed else [])])
    measured = [build.config.embeddings, build.config.checks.model_dump()] if cosines(build) else []
    scratch = build.lake.scratch(STAGE, digest([STEP.code(), STEP.settings(build)]))
    part = parts(build, placed)
    index = {
        side: scratch.packed(
            "index", [state, measured, *([side] if side else [])], partial(_index, build, spread, part, side)
        )
        for side in side_names(build)
    }
    reports, of_records = reports_of(build), _of_records(build)
    yield lambda shard: Whole(scratch, index, part(shard), state, reports, of_records)
    for side in index:
        drop_prepared(f"set index {side}")
    scratch.keep_only(index.values())


def _check(build: Build, shard: str, whole: Whole, tick: Tick) -> list[ShardManifest]:
    items = build.before(STAGE).read("items", ITEM_ROWS, shard)
    items, corrections = _fixed(build, items, reviews_of(build))
    sealed = said_of(build, items)
    reported = [
        *_reported(build, items, whole.reports),
        *_inherited([item for item in items if item.id not in sealed], whole.of_records),
        *(one for said in sealed.values() for one in said),
    ]
    inputs = STEP.shard_inputs(
        build,
        shard,
        corrections=corrections,
        whole=whole.state,
        reported=[finding.model_dump() for finding in reported],
        **({"sealed": sorted(sealed)} if sealed else {}),
    )
    manifest = build.stage(STAGE).run(
        shard, inputs, lambda: _output(build, shard, items, sealed, whole=whole, reported=reported)
    )
    tick(1)
    return [manifest]


def reports_of(build: Build) -> tuple[Any, ...]:
    """Defects that consumers reported in released items; they send items to people."""
    folder = errata_folder(build.config.name)
    if not folder.is_dir():
        return ()
    from mihakk.releases.content.canary import canary_guid
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.paper_trail.errata import as_printed, read_reports

    name, hub = build.config.name, EmbeddedHub()
    newest = hub.repository(name)
    canary = canary_guid(build.config, newest if newest.is_dir() else None)
    reports = read_reports(folder, canary)
    if not reports or (build.config.release.blind == "off" and not hub.standing_seals(name)):
        return tuple(reports)
    versions = set(hub.versions(name))
    with TemporaryDirectory() as scratch:

        def checkout(version: str) -> Path | None:
            return hub.checkout(name, version, Path(scratch) / version) if version in versions else None

        return tuple(as_printed(reports, checkout))


def _reported(build: Build, items: list[Any], reports: tuple[Any, ...]) -> list[Finding]:
    """Of the reported defects those that still bind."""
    if not reports:
        return []
    from mihakk.releases.content.secret import blind_key
    from mihakk.releases.paper_trail.errata import report_findings

    key = None if build.config.release.blind == "off" else blind_key()
    return report_findings(reports, items, key)


def _of_records(build: Build) -> dict[str, tuple[Finding, ...]]:
    """What the checks of records said, under the couplet it is about or else under the poem or idiom."""
    curated = build.stage(CURATED)
    found = list(curated.read_all("findings", Finding)) if curated.finished() else []
    poems = {one.subject for one in found if _COUPLET.match(one.where)}
    positions = {
        poem.id: [couplet.position for couplet in poem.couplets]
        for poem in (curated.read_all("poems", Poem) if poems else ())
        if poem.id in poems
    }
    said: dict[str, list[Finding]] = defaultdict(list)
    for one in found:
        about = _COUPLET.match(one.where)
        if about and one.subject in positions:
            said[f"{one.subject}:{positions[one.subject][int(about[1])]}"].append(one)
        else:
            said[one.subject].append(one)
    return {name: tuple(rows) for name, rows in said.items()}


def _inherited(items: Iterable[Any], of_records: Mapping[str, tuple[Finding, ...]]) -> Iterator[Finding]:
    """What was said of the record that an item asks about: whoever judges the item should know."""
    from mihakk.releases.content.split import work

    for item in items if of_records else ():
        asked = item.origin.records[0] if item.origin.records else ""
        for name in dict.fromkeys((asked, work(asked))):
            for one in of_records.get(name, ()):
                told = f"of its record {one.subject}: {one.detail}"
                yield one.model_copy(
                    update={"subject": item.id, "detail": told, "where": f"record.{one.where}"}
                )


def errata_folder(benchmark: str) -> Path:
    """Where consumers' reports about a benchmark are filed."""
    return settings().errata / benchmark


def _output(
    build: Build,
    shard: str,
    items: list[Any],
    sealed: Collection[str],
    *,
    whole: Whole,
    reported: list[Finding],
) -> ShardOutput:
    from mihakk.validators.checks.checking import check_items, check_set
    from mihakk.validators.checks.setindex import SetIndex

    scratch = whole.scratch
    first, findings = shard == build.before(STAGE).shards()[0], list[Finding]()
    of_set: list[Finding] = []
    for side, name in whole.set_index.items():
        index = prepared(f"set index {side}", scratch.root + name, partial(scratch.unpacked, SetIndex, name))
        anew = [item for item in whole.part.on(side, items) if item.id not in sealed]
        findings += check_items(anew, build.config.checks, index)
        of_set += check_set(index, build.config.checks) if first else []
    findings += [*reported, *of_set]
    counts = Counter(f"{finding.severity}.{finding.check}" for finding in findings)
    return ShardOutput(
        tables={"items": (ITEM_ROWS, items), "findings": (Finding, findings)},
        counts=ShardCounts(read=len(items), kept=len(items), written=len(items), notes=dict(counts)),
    )


def _all_corrections(build: Build) -> dict[str, str]:
    """Corrected items and the hash of what they became; the items are read only when there are decisions."""
    reviews = reviews_of(build)
    if not reviews:
        return {}
    corrected, settled = _fixed(build, list(build.before(STAGE).read_all("items", ITEM_ROWS)), reviews)
    return {item.id: content_hash(item) for item in corrected if item.id in settled}


def _index(build: Build, spread: Spread, part: Callable[[str], Part], side: str) -> SetIndex:
    """What checks need to know of all items at once, of a side's where the benchmark is blind."""
    from mihakk.validators.checks.setindex import E5_BAND, cosine_band, prepare

    band = cosine_band(build.config.checks, build.config.embeddings)
    shards = build.before(STAGE).shards()
    gathered = spread(
        [Call(f"{STAGE} gather {shard}", _gathered, (build, shard, part(shard), side)) for shard in shards]
    )
    return prepare(gathered, band=band or E5_BAND)


def _gathered(build: Build, shard: str, part: Part, side: str) -> Gathered:
    """What one shard contributes to the index."""
    from mihakk.validators.checks.gathering import gather

    items = build.before(STAGE).read("items", ITEM_ROWS, shard)
    embedder = OpenedEmbedder(build.config.embeddings)() if cosines(build) else None
    items, _ = _fixed(build, items, reviews_of(build))
    sealed = said_of(build, items) if side else {}
    return gather([item for item in part.on(side, items) if item.id not in sealed], embedder)


def cosines(build: Build) -> bool:
    """Meanings of options are compared."""
    from mihakk.validators.checks.setindex import cosine_band

    return cosine_band(build.config.checks, build.config.embeddings) is not None


STEP = Step(
    stage=STAGE,
    title="Check by rules",
    units=shards_before(STAGE),
    run=_check,
    settings=lambda build: [
        build.config.checks.model_dump(),
        build.config.embeddings if cosines(build) else "",
        build.config.review.overlap,
        build.config.review.adjudicators,
    ],
    packages=("validators/checks", "annotation"),
    around=_whole,
)
