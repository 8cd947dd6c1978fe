"""8_released: a checked, versioned release on the embedded Hub, loaded back before it counts."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.context import ITEM_ROWS, STAGES, Build, whole_input
from flows.quality import measured
from flows.sign_off import standing_sign_off
from flows.steps.people import agreement_facts, miss_rate_fact, review_state, work_so_far
from flows.steps.step import Step, Tick
from mihakk.ids import digest, sha256
from mihakk.lake import ShardOutput
from schemas.audit import Audit, Verdict
from schemas.finding import Finding
from schemas.manifest import ShardCounts, ShardManifest
from schemas.published import Published
from schemas.rejection import Cluster
from schemas.review import Resolution

if TYPE_CHECKING:
    from generators.quality import Quality
    from releases.facts import AuditorFact, BaselineFact, FunnelRow, ReleaseFacts, SourceFact
    from releases.gates import Gate
    from releases.hub.embedded import EmbeddedHub

STAGE = "8_released"
UNIT = "release"
RECORD_STAGES = STAGES[:3]
"""Stages whose shards hold the records of one source."""


def _release(build: Build, unit: str, _: Any, tick: Tick) -> list[ShardManifest]:
    from releases.hub.embedded import EmbeddedHub

    hub = EmbeddedHub()
    inputs = {
        "code": STEP.code(),
        "settings": digest(STEP.settings(build)),
        "whole": whole_input(build, STAGE),
        "standing": _elsewhere(build, hub),
        "people": work_so_far(build),
        "sign_off": word.model_dump(mode="json") if (word := standing_sign_off(build)) else None,
    }
    manifest = build.stage(STAGE).run(unit, inputs, lambda: _publish(build, hub))
    tick(1)
    return [manifest]


def _elsewhere(build: Build, hub: EmbeddedHub) -> str:
    """The Hub's newest commit where it is not the one this lake recorded; else empty.

    The release is what stands on the Hub: a Hub that lost it or moved on makes the step run again.
    """
    recorded = build.stage(STAGE).read("release", Published, UNIT)
    if not recorded:
        return ""
    latest = hub.latest(build.config.name)
    commit = hub.commit(build.config.name, latest) if latest else "none"
    return "" if recorded[0].commit == commit else commit


def standing_gates(build: Build) -> tuple[Gate, ...]:
    """How a release of the tables as they stand would meet every condition of the config."""
    from releases.gates import gates

    before = build.before(STAGE)
    items = list(before.read_all("items", ITEM_ROWS))
    return gates(items, before.read_all("verdicts", Verdict), build.config, facts(build, items))


def _publish(build: Build, hub: EmbeddedHub) -> ShardOutput:
    from releases.assemble import assemble
    from releases.gates import gates, require
    from releases.hub.publishing import publish_release

    before = build.before(STAGE)
    items = list(before.read_all("items", ITEM_ROWS))
    known = facts(build, items)
    require(gates(items, before.read_all("verdicts", Verdict), build.config, known))
    with tempfile.TemporaryDirectory(prefix="mihakk-release-") as scratch:
        with hub.previous(build.config.name) as previous:
            release = assemble(
                items,
                before.read_all("verdicts", Verdict),
                before.read_all("audits", Audit),
                before.read_all("findings", Finding),
                before.read_all("resolutions", Resolution),
                before.rejections(),
                build.config,
                known,
                Path(scratch) / "release",
                previous=previous,
            )
        publication = publish_release(release, hub)
        hub.verify(release.name, release.version, release.folder)
    row = Published(
        name=release.name,
        version=release.version,
        commit=publication.commit,
        location=release.name,
        items=release.items,
        files=len(release.digests),
    )
    return ShardOutput(
        tables={"release": (Published, [row])},
        counts=ShardCounts(
            read=len(items),
            kept=release.items,
            rejected=len(release.left_out),
            written=1,
            reasons=dict(Counter(row.reason for row in release.left_out)),
        ),
        rejections=release.left_out,
    )


def facts(build: Build, items: Sequence[Any]) -> ReleaseFacts:
    """What the card says of how the items came to be; nothing of it comes from the clock."""
    from releases.agreement import auditor_agreement
    from releases.facts import ReleaseFacts
    from releases.similarity import cosine_spreads, letter_spreads

    quality = measured(build, items)
    people = review_state(build)
    agreed = agreement_facts(people)
    return ReleaseFacts(
        code_version=STEP.code(),
        sources=tuple(_sources(build)),
        auditors=tuple(_auditors(build)),
        funnel=tuple(_funnel(build)),
        clusters=tuple(build.stage("3_curated").read_all("clusters", Cluster)),
        baselines=tuple(_baselines(quality)),
        spreads=(*letter_spreads(items), *cosine_spreads(quality.spreads)),
        auditor_agreement=auditor_agreement(build.before(STAGE).read_all("audits", Audit)),
        agreement=next((one for one in agreed if one.label == "decision"), None),
        criteria_agreement=tuple(one for one in agreed if one.label != "decision"),
        miss_rate=miss_rate_fact(people),
        unresolved=sum(row.reason == "unresolved" for row in build.before(STAGE).rejections()),
        sign_off=standing_sign_off(build),
    )


def _baselines(quality: Quality) -> Iterator[BaselineFact]:
    """How far solvers that never read the question get on the items to be released."""
    from releases.facts import BaselineFact

    for found in quality.baselines:
        if found.name != "most_similar":  # it reads the question
            yield BaselineFact(
                config=f"{found.language}_{found.task}",
                name=found.name,
                accuracy=found.accuracy,
                chance=found.chance,
                items=found.questions,
            )


def _sources(build: Build) -> Iterator[SourceFact]:
    from releases.facts import SourceFact
    from scrapers.source import SOURCES

    scraped = build.stage("1_scraped").manifest()
    for use in build.config.sources:
        name, source = use.name or use.use, SOURCES.get(use.use)
        parts = [s for s in scraped.shards if s.shard.rpartition("-")[0] == name]
        yield SourceFact(
            name=name,
            title=f"{source.title} ({use.name})" if use.name else source.title,
            home=source.home,
            licence=str(use.options.get("licence", source.licence)),
            attribution=str(use.options.get("attribution", source.attribution)),
            revision=sha256("".join(part.digest for part in parts).encode())[:12],
            records=sum(part.counts.kept for part in parts),
        )


def _auditors(build: Build) -> Iterator[AuditorFact]:
    from releases.facts import AuditorFact

    counts = build.stage("6_audited").manifest().counts.notes
    for auditor in build.auditors().auditors:
        per_status = {s: counts.get(f"{auditor.name}.{s}", 0) for s in ("valid", "repaired", "invalid")}
        yield AuditorFact(
            name=auditor.name,
            family=auditor.family,
            model=auditor.model,
            revision=auditor.revision,
            capable=auditor.capable,
            replies=sum(per_status.values()),
            invalid=per_status["invalid"],
        )


def _funnel(build: Build) -> Iterator[FunnelRow]:
    """What every stage did to all records, and the stages before items are made to those of each source."""
    from mihakk.lake.stage import total
    from releases.facts import FunnelRow

    fields = ("read", "kept", "rejected", "merged", "written", "reasons")
    names = [use.name or use.use for use in build.config.sources]
    for stage in STAGES[:-1]:
        manifest = build.stage(stage).manifest()
        yield FunnelRow(stage=stage, **{field: getattr(manifest.counts, field) for field in fields})
        if stage not in RECORD_STAGES or len(names) == 1:
            continue
        for name in names:
            counts = total([s.counts for s in manifest.shards if s.shard.rpartition("-")[0] == name])
            yield FunnelRow(stage=stage, source=name, **{field: getattr(counts, field) for field in fields})


STEP = Step(
    stage=STAGE,
    title="Release",
    units=lambda _: [UNIT],
    run=_release,
    settings=lambda build: [build.config.release.model_dump(), build.config.title],
    packages=("releases", "generators"),
    where=lambda _: "process",
)
