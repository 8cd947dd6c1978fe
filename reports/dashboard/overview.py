"""All facts of a benchmark's page, gathered once per state of its lake and Hub."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mihakk.machinery.ids import digest
from mihakk.pipeline.build import Build
from mihakk.pipeline.losses import refused
from mihakk.pipeline.rows import source_counts
from mihakk.pipeline.sign_off import SIGN_OFFS
from mihakk.releases.card.charts import Trend, bars
from mihakk.reports.dashboard.content import Content, Standing, content, standing
from mihakk.reports.dashboard.health import LEVELS, Health, Level, Note, health
from mihakk.reports.dashboard.opinions import Opinions, People, opinions, people
from mihakk.reports.dashboard.quality import QualityFacts, quality_facts
from mihakk.reports.dashboard.spending import Spending, spending
from mihakk.reports.dashboard.tables import Tables
from mihakk.reports.dashboard.versions import Versions, versions
from mihakk.reports.trends import over_runs, over_versions
from mihakk.schemas.benchmark import ReleaseConfig
from mihakk.schemas.manifest import ShardCounts

RECORD_STAGES = 4
"""Stages that read records; later ones read items."""
SHOWN_SINCE = timedelta(days=14)
"""Nights that the page tells of."""


@dataclass(frozen=True)
class OverviewFacts:
    """Everything a benchmark's page shows."""

    name: str
    title: str
    lake: str
    made: datetime
    health: Health
    opinions: Opinions
    people: People
    quality: QualityFacts
    versions: Versions
    content: Content
    """What nights and versions changed, and whether the next release is held."""
    lost: tuple[Note, ...]
    """What sources and tasks lost that nobody accepted: one note, or none."""
    spending: list[Spending]
    """What models were asked and cost by month, the newest first."""
    trends: list[Trend]
    """Over runs, then over versions."""
    gates: ReleaseConfig
    """What the config asks of a release."""
    funnels: Mapping[str, Mapping[str, ShardCounts]]
    """Source to what each finished stage that reads records did to its own."""

    @property
    def funnel(self) -> str:
        """The sources' way through the stages as a picture (SVG)."""
        kinds = ("kept", "rejected", "merged")
        rows = [
            (f"{source} · {stage.partition('_')[2]}", {kind: float(getattr(counts, kind)) for kind in kinds})
            for source, stages in self.funnels.items()
            for stage, counts in stages.items()
            if counts.read
        ]
        return bars("Records of each source, stage by stage", rows) if rows else ""

    @property
    def notes(self) -> list[Note]:
        """What a person should know, the worst first."""
        every = [
            *self.content.notes,
            *self.lost,
            *self.health.notes,
            *self.versions.notes,
            *self.opinions.notes,
            *self.people.notes,
        ]
        return sorted(every, key=lambda note: -LEVELS.index(note.level))

    @property
    def level(self) -> Level:
        """The worst of all that is known; good only when everything was there to be looked at."""
        return max((note.level for note in self.notes), key=LEVELS.index, default="good")


class Gatherer:
    """Gathers facts and keeps the costly ones until the lake, the decisions or the Hub change."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._kept: (
            tuple[str, Opinions, People, QualityFacts, Versions, Standing, tuple[Note, ...]] | None
        ) = None
        self._lock = threading.Lock()

    def facts(self) -> OverviewFacts:
        """The facts as of now."""
        with self._lock:  # two readers at once would do the same work twice
            return self._facts()

    def _facts(self) -> OverviewFacts:
        build, now = self.build, datetime.now(UTC)
        stands = health(build, now)
        state = self._state(stands)
        if self._kept is None or self._kept[0] != state:
            with Tables(build) as tables:
                lost = tuple(Note("bad", line) for line in [refused(build)] if line)
                self._kept = (
                    state,
                    opinions(build, tables),
                    people(build, tables, now),
                    quality_facts(build),
                    found := versions(build),
                    standing(build, found),
                    lost,
                )
        _, said, reviewed, quality, released, stood, lost = self._kept
        return OverviewFacts(
            name=build.config.name,
            title=build.config.title,
            lake=build.lake.storage.root,
            made=now,
            health=stands,
            opinions=said,
            people=reviewed,
            quality=quality,
            versions=released,
            content=content(build, stood, [run.record for run in stands.runs], now - SHOWN_SINCE),
            lost=lost,
            spending=spending(build),
            trends=[*over_runs([run.record for run in stands.runs]), *over_versions(released.by_reason)],
            gates=build.config.release,
            funnels={
                use.label: {
                    state.stage: source_counts(state.manifest, use.label)
                    for state in stands.stages[:RECORD_STAGES]
                    if state.manifest
                }
                for use in build.config.sources
            },
        )

    def _state(self, stands: Health) -> str:
        from mihakk.releases.hub.embedded import EmbeddedHub

        build = self.build
        manifests = [state.manifest.model_dump() if state.manifest else None for state in stands.stages]
        storage = build.lake.storage
        people = [
            storage.list(storage.path(name))
            for name in ("decisions", "review/queued", "review/labels", SIGN_OFFS)
        ]
        return digest(
            [
                manifests,
                build.config.accepted_losses,
                people,
                EmbeddedHub().versions(build.config.name),
                [one.version for one in EmbeddedHub().withdrawals(build.config.name)],
                datetime.now(UTC).date().isoformat(),
            ]
        )
