"""The record that every run writes beside the stages: progress, timings, cost and how it ended.

`<lake>/<benchmark>/runs/<start>.json` is written when the run starts, every half minute and at its end, so a
run that was killed is known by its silence. Nothing here enters a table or a release: times do not repeat.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import orjson
from pydantic import AliasChoices, Field

from mihakk.machinery.errors import MihakkError, UsageError
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.pipeline.ledger import note_stage
from mihakk.pipeline.observer import Moment, Observer
from mihakk.pipeline.usage import JournalMeter, Usage, costs
from mihakk.schemas.manifest import ShardCounts, StageManifest
from mihakk.schemas.published import Published
from mihakk.schemas.record import Record
from mihakk.schemas.schedule import Schedule
from mihakk.schemas.stages import RELEASED, SCRAPED

if TYPE_CHECKING:
    from mihakk.machinery.lake import Lake
    from mihakk.pipeline.build import Build

FOLDER = "runs"
DIGEST = "digest"
"""The job that tells of the others; it is recorded, so that the next one goes on where it ended."""
HEARTBEAT_SECONDS = 30
PROGRESS_SECONDS = 5
"""Progress is written at most so often, between heartbeats too."""
RUNS_SHOWN = 120
"""Newest records that are looked at: a failure is told until its job has succeeded."""
SILENT_AFTER = timedelta(minutes=3)
"""A run that has said nothing for so long was killed, or its machine went down."""

RunState = Literal["running", "finished", "failed", "stopped", "lost"]
"""stopped: by hand; lost: recorded as running, but silent, or its process is gone."""


class StageRun(Record):
    """One stage of one run."""

    stage: str
    seconds: float
    """Wall time in this run; what stood from an earlier one takes next to none."""
    shards: int
    reused: int
    """Shards that stood from an earlier run."""
    counts: ShardCounts
    peak_memory_mb: float = 0.0


class SourceYield(Record):
    """What one use of a source gave in one run."""

    records: int
    rejected: int


class RunEvent(Record):
    """One line of a run's log."""

    time: datetime
    stage: str
    event: Literal["started", "progress", "finished"]
    done: int = 0
    total: int = 0
    counts: ShardCounts | None = None
    """At a stage's end."""


class RunRecord(Record):
    """Last recorded state of a run."""

    run: str
    """UTC start, which names the file."""
    benchmark: str
    job: str = ""
    """Which job it was, if not one that runs stages: `review_push`, `review_pull`, `publish`, or `evaluate`,
    `score` and `audit` with what they were given."""
    status: Literal["running", "finished", "failed", "stopped"] = Field(
        default="running", validation_alias=AliasChoices("status", "said")
    )
    """Runs recorded before version 0.2 call it `said`."""
    started: datetime
    seen: datetime
    """When it last said so."""
    host: str
    pid: int
    folder: str = ""
    """Where its report and review queue go."""
    stage: str = ""
    """The stage it is in, or was when it ended."""
    done: int = 0
    """Pieces of that stage that are done."""
    total: int = 0
    stages: tuple[StageRun, ...] = ()
    events: tuple[RunEvent, ...] = ()
    """Starts and ends of stages and each tenth between them, as `mihakk runs BENCHMARK RUN` prints them."""
    usage: dict[str, Usage] = Field(default_factory=dict)
    """`<journal>/<model>` to what it answered."""
    sources: dict[str, SourceYield] = Field(default_factory=dict)
    schedule: tuple[Schedule, ...] | None = None
    """The config's own, for who has the lake alone."""
    release: str = ""
    """Version that stands at the end."""
    error_kind: str = ""
    error: str = ""

    @property
    def costs(self) -> dict[str, float]:
        """What the priced models cost, by currency."""
        return costs(self.usage.values())

    @property
    def seconds(self) -> float:
        """From its start to its last record."""
        return (self.seen - self.started).total_seconds()

    def state(self, now: datetime | None = None) -> RunState:
        """What became of it, as far as is known."""
        if self.status != "running":
            return self.status
        if self.host == socket.gethostname() and not _alive(self.pid):
            return "lost"
        return "lost" if (now or datetime.now(UTC)) - self.seen > SILENT_AFTER else "running"


def runs(lake: Lake, newest: int = RUNS_SHOWN) -> tuple[list[RunRecord], int]:
    """The newest runs, newest first, and how many records could not be read."""
    storage, found, unreadable = lake.storage, [], 0
    names = [name for name in storage.list(storage.path(FOLDER)) if name.endswith(".json")]
    for name in sorted(names, reverse=True)[:newest]:
        try:
            found.append(RunRecord.model_validate(unsealed(storage.read(storage.path(FOLDER, name)))))
        except (ValueError, MihakkError, OSError):
            unreadable += 1
    return found, unreadable


@contextmanager
def recorded(build: Build, observer: Observer, job: str = "") -> Iterator[Observer]:
    """An observer that passes everything on and keeps the run's record; use it inside the lake's lock.

    A `job` that runs no stages needs no lock: its record says only how it ended.
    """
    log = RunLog(build, observer, job)
    log.open()
    try:
        yield log
    except KeyboardInterrupt:
        log.close("stopped")
        raise
    except BaseException as error:
        log.close("failed", error)
        raise
    log.close("finished")


class RunLog(Observer):
    """Keeps one run's record up to date while it goes on, and passes everything on to another observer."""

    def __init__(self, build: Build, observer: Observer, job: str = "") -> None:
        super().__init__()
        now = datetime.now(UTC)
        self._build, self._observer = build, observer
        self._meter = meter_of(build)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._told = time.monotonic()
        self._heart = threading.Thread(target=self._beat, name="run record", daemon=True)
        self._record = RunRecord(
            run=now.strftime("%Y%m%dT%H%M%S%fZ"),
            benchmark=build.config.name,
            job=job,
            started=now,
            seen=now,
            host=socket.gethostname(),
            pid=os.getpid(),
            folder=str(build.run_folder),
            schedule=build.config.schedule,
        )

    def open(self) -> None:
        """Says that the run has begun. A job that builds nothing goes on where no record can be written."""
        (self._note if self._record.job else self._write)()
        self._heart.start()

    def close(
        self, status: Literal["finished", "failed", "stopped"], error: BaseException | None = None
    ) -> None:
        """Says how the run ended; a record that can't be written never hides the error itself."""
        self._over.set()
        self._heart.join()
        kind, message = (type(error).__name__, str(error)) if error else ("", "")
        with suppress(MihakkError, OSError):
            self._write(status=status, error_kind=kind, error=message)

    def tell(self, moment: Moment) -> None:
        """Work that is no stage is passed on and not recorded."""
        if moment.is_stage:
            self._follow(moment)
        self._observer.tell(moment)

    def _follow(self, moment: Moment) -> None:
        changes: dict[str, object] = {"stage": moment.name, "done": moment.done, "total": moment.total}
        if moment.event != "progress" or moment.tenth:
            event = RunEvent(
                time=datetime.now(UTC),
                stage=moment.name,
                event=moment.event,
                done=moment.done,
                total=moment.total,
                counts=moment.manifest.counts if moment.manifest else None,
            )
            changes["events"] = (*self._record.events, event)
        if manifest := moment.manifest:
            note_stage(self._build, manifest, self._record.run)
            begun = self._record.started.isoformat(timespec="microseconds")
            stage = StageRun(
                stage=moment.name,
                seconds=round(moment.seconds, 3),
                shards=len(manifest.shards),
                reused=sum(shard.started < begun for shard in manifest.shards),
                counts=manifest.counts,
                peak_memory_mb=manifest.peak_memory_mb,
            )
            changes["stages"] = (*self._record.stages, stage)
            if moment.name == SCRAPED:
                changes["sources"] = yields(manifest)
            if moment.name == RELEASED:
                rows = self._build.stage(RELEASED).read_all("release", Published)
                changes["release"] = next((row.version for row in rows), "")
        if moment.event != "progress" or time.monotonic() - self._told > PROGRESS_SECONDS:
            self._note(**changes)
        else:
            with self._lock:
                self._record = self._record.model_copy(update=changes)

    def _note(self, **changes: object) -> None:
        with suppress(MihakkError, OSError):
            self._write(**changes)

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_SECONDS):
            self._note()

    def _write(self, **changes: object) -> None:
        with self._lock:
            self._told = time.monotonic()
            changes |= {"seen": datetime.now(UTC), "usage": self._meter.read()}
            self._record = self._record.model_copy(update=changes)
            storage = self._build.lake.storage
            storage.write(
                storage.path(FOLDER, f"{self._record.run}.json"),
                seal(orjson.dumps(self._record.model_dump(mode="json"), option=orjson.OPT_INDENT_2)),
            )


def yields(manifest: StageManifest) -> dict[str, SourceYield]:
    """Records and rejections of each use of a source, by the shards that bear its name."""
    found: dict[str, SourceYield] = {}
    for shard in manifest.shards:
        name = shard.source
        before = found.get(name, SourceYield(records=0, rejected=0))
        found[name] = SourceYield(
            records=before.records + shard.counts.kept, rejected=before.rejected + shard.counts.rejected
        )
    return found


def meter_of(build: Build) -> JournalMeter:
    """A meter of a build's journals, at the prices its configs give now."""
    from mihakk.generators.writing.writer import JOURNAL as WRITING
    from mihakk.pipeline.steps.audit import JOURNAL

    models = [(WRITING, build.config.generator)] if build.config.generator else []
    with suppress(UsageError):  # the audit stage says what is wrong with the auditors' config
        models += [(JOURNAL, auditor) for auditor in build.auditors().auditors]
    prices = {f"{purpose}/{model.model}": model.price for purpose, model in models if model.price}
    folder = None
    with suppress(UsageError):  # a lake whose journals lie elsewhere is not metered
        folder = build.lake.folder("journals")
    return JournalMeter(folder, prices)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
