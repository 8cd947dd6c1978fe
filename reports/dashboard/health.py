"""The state of a benchmark: its runs, stages and sources, and what needs a person."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mihakk.machinery.errors import MihakkError
from mihakk.machinery.ids import digest
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, whole_input
from mihakk.pipeline.history import DIGEST, RunRecord, RunState, SourceYield, runs, yields
from mihakk.pipeline.schedules import Late, described, due, late
from mihakk.pipeline.steps.order import step_of
from mihakk.schemas.benchmark import Owners
from mihakk.schemas.manifest import StageManifest
from mihakk.schemas.stages import AUDITED, STAGES

if TYPE_CHECKING:
    from mihakk.scrapers.source import OpenSource

Level = Literal["good", "unknown", "look", "bad"]
"""unknown: nothing is known, which is never good."""
LEVELS: tuple[Level, ...] = ("good", "unknown", "look", "bad")
SHRUNK = 0.9
"""A source that gives less than this share of what it gave before is worth a look."""
LEAST_FREE = 16 << 20
"""Bytes free on a disk below which it is full: a run that could not write left no record either."""
UNSCHEDULED = timedelta(hours=36)
"""Age from which the last finished run is stale where no schedule says when the next was due."""


@dataclass(frozen=True)
class Note:
    """One thing that a person should know."""

    level: Level
    what: str
    owner: str = ""
    """Who sees to it."""
    command: str = ""
    """What that person runs first."""

    @property
    def text(self) -> str:
        """In words, with whom it concerns and what to run."""
        todo = ": ".join(filter(None, (self.owner, self.command)))
        return f"{self.what} ({todo})" if todo else self.what


@dataclass(frozen=True)
class StageState:
    """One stage's tables as they stand."""

    stage: str
    title: str
    manifest: StageManifest | None
    stale: tuple[str, ...]
    """Why its tables are not what a build would make now; empty when they are."""

    @property
    def said(self) -> str:
        """In a word or a few."""
        if self.manifest is None:
            return "never finished"
        return "stale: " + ", ".join(self.stale) if self.stale else "up to date"

    @property
    def level(self) -> Level:
        """How bad that is."""
        return "bad" if self.manifest is None else "look" if self.stale else "good"


@dataclass(frozen=True)
class RunWithState:
    """A run and what became of it."""

    record: RunRecord
    state: RunState


@dataclass(frozen=True)
class SourceState:
    """One use of a source: what it gave, and whether that is enough."""

    name: str
    title: str
    level: Level
    said: str
    records: int | None
    """In the lake now; None when it has never been read."""
    rejected: int
    licence: str = ""
    before: int | None = None
    """Records of the run before the last that read it."""
    least: int | None = None
    """Fewest to expect; None where the config takes only the first so many."""
    limit: int | None = None
    read_at: datetime | None = None
    """When a run last read it to its end; None when no run is recorded."""
    written_at: str = ""
    """When its records last changed."""
    use: str = ""
    """Name of the source that the config uses under this one."""
    timely: bool = True
    """Nothing but its age is worth a look."""


@dataclass
class Health:
    """Everything above the fold."""

    runs: list[RunWithState]
    stages: list[StageState]
    sources: list[SourceState]
    notes: list[Note] = field(default_factory=list)

    @property
    def level(self) -> Level:
        """The worst of it."""
        return max((note.level for note in self.notes), key=LEVELS.index, default="unknown")

    @property
    def working(self) -> RunWithState | None:
        """The run that is going on, if one is."""
        return next((run for run in self.runs if run.state == "running"), None)


def health(build: Build, now: datetime | None = None) -> Health:
    """How the benchmark stands; what is late, the schedule of its config or of prefect.yaml says.

    Args:
        build: The benchmark and its lake.
        now: The present; given by tests.
    """
    now = now or datetime.now(UTC)
    records, unreadable = runs(build.lake)
    every = [RunWithState(record, record.state(now)) for record in records]
    told = [run for run in every if run.record.job != DIGEST]  # a digest tells of itself where it failed
    stages = [stage_state(build, stage) for stage in STAGES]
    failures = outstanding(every)
    sources = list(source_states(build, stages[0].manifest, told))
    name, entries, owners = build.config.name, described(build.config.schedule), build.config.owners
    scheduled = due(name, "read", now, entries) is not None
    overdue = list(late(name, [one.name for one in sources], records, now, entries)) if scheduled else []
    by_source = {one.source: one for one in overdue}
    stopped = {one.name: error for one in sources if (error := _stopped(one, failures))}
    sources = [
        replace(one, level="bad", said=f"stopped the run: {stopped[one.name]}")
        if one.name in stopped
        else _late(one, by_source.get(one.name))
        for one in sources
    ]
    found = Health(told, stages, sources)
    found.notes += [_about_failure(one, name, owners) for one in failures]
    found.notes += [
        *_about_runs(
            told, unreadable, None if scheduled else UNSCHEDULED, now, benchmark=name, owners=owners
        ),
        *_about_stages(stages),
        *_about_disks(build, owners),
    ]
    # Why a result is late is told with the failure: nothing is told twice.
    failed = {one.record.stage for one in failures}
    if not failed:
        found.notes += [
            Note("look", f"the release is late: {one}", owners.operations, f"mihakk release {name}")
            for one in overdue
            if not one.source
        ]
    late_by_failure = {one.name for one in sources if failed and one.name in by_source and one.timely}
    untold = late_by_failure | set(stopped)
    found.notes += _about_sources([one for one in sources if one.name not in untold], name, owners)
    return found


def outstanding(told: Sequence[RunWithState]) -> list[RunWithState]:
    """Runs that failed, went silent or were stopped, and whose work no later run has done; newest first.

    A stage is done by any later run that came through it, another job by a later run of that job. Of several
    failures in one place the newest stands for all.

    Args:
        told: Runs, newest first.
    """
    found: list[RunWithState] = []
    done: set[tuple[str, str]] = set()
    seen: set[tuple[str, str]] = set()
    for run in told:
        record = run.record
        place = (record.job, record.stage)
        if run.state in ("failed", "lost", "stopped") and place not in done | seen:
            found.append(run)
        if run.state != "running":
            seen.add(place)
        done.update((record.job, stage.stage) for stage in record.stages)
        if run.state == "finished" or record.stages:
            done.add((record.job, ""))
    return found


def stage_state(build: Build, name: str) -> StageState:
    """Whether a stage's tables are there and are what a build would make now."""
    step, stage = step_of(name), build.stage(name)
    if not stage.finished():
        return StageState(name, step.title, None, ())
    manifest = stage.manifest()
    stale = []
    reads = name != STAGES[0] and build.before(name).finished()
    is_behind = reads and manifest.inputs.get("*") != whole_input(build, name)
    if manifest.code_version != step.code():
        stale.append("code changed")
    try:
        # Which items a limited audit takes follows from all there are: they are among its settings.
        if manifest.config_digest != digest(step.settings(build)) and not (is_behind and name == AUDITED):
            stale.append("config changed")
    except MihakkError as error:
        stale.append(f"config unreadable ({error})")
    if is_behind:
        stale.append("the stage before changed")
    return StageState(name, step.title, manifest, tuple(stale))


def source_states(
    build: Build, scraped: StageManifest | None, told: Sequence[RunWithState]
) -> Iterator[SourceState]:
    """One state per use of a source in the config."""
    from mihakk.scrapers.source import open_source

    now = yields(scraped) if scraped else {}
    for use in build.config.sources:
        name = use.label
        try:
            opened = open_source(use)
        except MihakkError as error:
            given = now.get(name, SourceYield(records=0, rejected=0))
            records = given.records if name in now else None
            yield SourceState(name, name, "bad", f"can't be opened: {error}", records, given.rejected)
            continue
        reads = [run.record for run in told if name in run.record.sources]
        shards = [s for s in scraped.shards if s.source == name] if scraped else []
        yield _source_state(
            opened,
            now.get(name),
            reads,
            max((shard.started for shard in shards), default=""),
        )


def _source_state(
    opened: OpenSource, given: SourceYield | None, reads: Sequence[RunRecord], written: str
) -> SourceState:
    source = opened.source
    before = reads[1].sources[opened.name].records if len(reads) > 1 else None
    wanted = None if opened.limit is not None else opened.least
    level, said = _judged(given, wanted, before)
    return SourceState(
        name=opened.name,
        use=source.name,
        title=source.title,
        licence=str(getattr(opened.options, "licence", "") or source.licence),
        records=given.records if given else None,
        rejected=given.rejected if given else 0,
        before=before,
        least=wanted,
        limit=opened.limit,
        read_at=reads[0].started if reads else None,
        written_at=written,
        level=level,
        said=said,
    )


def _judged(given: SourceYield | None, least: int | None, before: int | None) -> tuple[Level, str]:
    if given is None:
        return "bad", "never read"
    if given.records == 0:
        return "bad", "gave no record"
    if least is not None and given.records < least:
        return "bad", f"{given.records:,} records, fewer than the {least:,} expected"
    if before and given.records < SHRUNK * before:
        return "look", f"{given.records:,} records, after {before:,} the time before"
    return "good", "gives what is expected" if least is not None else "gives records; read up to a limit"


def _late(state: SourceState, found: Late | None) -> SourceState:
    """The state of a source that no run has read since it was due."""
    if found is None or state.records is None:
        return state
    said = str(found) if state.level == "good" else f"{state.said}; {found}"
    level = max(state.level, "look", key=LEVELS.index)
    return replace(state, level=level, said=said, timely=state.level == "good")


def _stopped(state: SourceState, failures: Sequence[RunWithState]) -> str:
    """What a run said that this source ended, and that no later one has made good; empty where none did."""
    for run in failures:
        error = run.record.error
        if run.record.stage == STAGES[0] and (repr(state.name) in error or repr(state.use) in error):
            return error
    return ""


def _about_failure(run: RunWithState, benchmark: str, owners: Owners) -> Note:
    record = run.record
    where = record.job or record.stage or "before its first step"
    job, _, of = where.partition(" ")
    when = f"{record.started:%Y-%m-%d %H:%M} UTC"
    command = {
        "review_push": f"mihakk review push {benchmark}",
        "review_pull": f"mihakk review pull {benchmark}",
        "publish": f"mihakk publish {benchmark}",
        DIGEST: f"mihakk digest {benchmark}",
        "evaluate": f"mihakk evaluate run {of}",
        "score": f"mihakk evaluate score --board {of}",
        "audit": f"mihakk audit {of}",
        STAGES[-1]: f"mihakk release {benchmark}",
    }.get(job, f"mihakk build {benchmark}")
    if run.state == "stopped":
        what = f"{where}: the run of {when} was stopped by hand, and none has come through since"
        return Note("look", what, owners.operations, command)
    ended = (
        record.error if run.state == "failed" else "it went silent: it was killed, or its machine went down"
    )
    what = f"{where} has failed since {when}, and no later run has come through: {ended}"
    return Note("bad", what, owners.operations, command)


def _about_runs(
    told: Sequence[RunWithState],
    unreadable: int,
    oldest: timedelta | None,
    now: datetime,
    *,
    benchmark: str,
    owners: Owners,
) -> Iterator[Note]:
    build = f"mihakk build {benchmark}"
    if unreadable:
        yield Note("look", f"{unreadable} run records can't be read", owners.operations, "mihakk lake verify")
    if not told:
        yield Note("unknown", "no run is recorded, so nothing is known of how it went")
        return
    for run in told:
        if run.state == "running":
            when = f"{run.record.started:%Y-%m-%d %H:%M} UTC"
            where = run.record.job or run.record.stage
            yield Note("look", f"a run is working since {when}, in {where}: figures are moving")
    whole = next((run.record for run in told if run.state == "finished" and not run.record.job), None)
    if whole is None:
        yield Note("bad", "no recorded run has finished", owners.operations, build)
    elif oldest is not None and now - whole.seen > oldest:
        said = f"no run has finished for {ago(whole.seen, now)}"
        yield Note("look", said, owners.operations, build)


def _about_disks(build: Build, owners: Owners) -> Iterator[Note]:
    hub, lake = settings().hub, build.lake.storage
    for folder in dict.fromkeys([*([Path(lake.root)] if lake.local else []), hub / build.config.name]):
        if folder.is_dir() and (free := shutil.disk_usage(folder).free) < LEAST_FREE:
            what = (
                f"the disk of {folder} is full ({free / 1e6:.1f} MB free): no run can write or leave a record"
            )
            yield Note("bad", what, owners.operations, f"make room, then mihakk build {build.config.name}")


def _about_stages(stages: Iterable[StageState]) -> Iterator[Note]:
    return _together("stage", [(one.level, one.said, one.stage) for one in stages])


def _about_sources(sources: Iterable[SourceState], benchmark: str, owners: Owners) -> Iterator[Note]:
    for note in _together("source", [(one.level, one.said, one.name) for one in sources]):
        yield replace(note, owner=owners.sources, command=f"mihakk build {benchmark} --until curated")


def _together(kind: str, found: Iterable[tuple[Level, str, str]]) -> Iterator[Note]:
    """One note for all of a kind of which the same is said."""
    by_said: dict[tuple[Level, str], list[str]] = {}
    for level, said, name in found:
        if level != "good":
            by_said.setdefault((level, said), []).append(name)
    for (level, said), names in by_said.items():
        yield Note(level, f"{kind if len(names) == 1 else kind + 's'} {', '.join(names)}: {said}")


def ago(then: datetime, now: datetime) -> str:
    """How long ago, in the unit a person would use."""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s"
    return f"{seconds} seconds"
