"""Which jobs run when (prefect.yaml and the benchmark's config), and which results are late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import yaml

from mihakk.machinery.settings import ROOT
from mihakk.pipeline.history import RunRecord
from mihakk.schemas.schedule import Schedule

PATTERN = "demo"
"""Name of the entries in prefect.yaml that stand for any benchmark."""
GRACE = timedelta(hours=2)
"""What a scheduled run may take before its outcome counts as late."""
Act = Literal["read", "release"]
JOBS: dict[Act, frozenset[str]] = {
    "read": frozenset({"nightly", "ingest", "build"}),
    "release": frozenset({"nightly", "build", "release"}),
}
"""Jobs that read the sources, and jobs that make a version or find that the last one still holds."""


@dataclass(frozen=True)
class Due:
    """When a job should have run last."""

    at: datetime
    """In UTC."""
    schedule: str
    """Cron expression and time zone."""

    def __str__(self) -> str:
        return f"due {moment(self.at)} by {self.schedule}"


@dataclass(frozen=True)
class Late:
    """A source or the release, older than its schedule promises."""

    source: str
    """Empty for the release."""
    last: datetime | None
    """When the last recorded run that read or released it ended."""
    due: Due

    def __str__(self) -> str:
        done = "read" if self.source else "released"
        return f"last {done} {moment(self.last) if self.last else 'by no recorded run'}, {self.due}"


def described(own: Sequence[Schedule] | None = None) -> list[dict[str, Any]]:
    """The entries of prefect.yaml, one a job.

    Args:
        own: The `schedule` of a benchmark's config, which stands in the place of its jobs' schedules there.
    """
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / "prefect.yaml").read_text("utf-8"))["deployments"]
    if own is not None:
        for entry in found:
            if "config" in entry["parameters"]:
                entry["schedules"] = [
                    {"cron": one.cron, "timezone": one.timezone, "active": True}
                    for one in own
                    if one.job == _job(entry)
                ]
    return found


def _job(entry: dict[str, Any]) -> str:
    return str(entry["entrypoint"]).rpartition(":")[2]


def due(
    benchmark: str, act: Act, now: datetime, entries: Sequence[dict[str, Any]] | None = None
) -> Due | None:
    """The newest time at which a job was to start that does this, `GRACE` before now or earlier; None: never.

    Args:
        benchmark: Its name; where no entry has it in its `config`, those of `PATTERN` hold.
        act: What the job does.
        now: With a time zone.
        entries: As `described` gives them, which are taken when None.
    """
    mine = [one for one in (described() if entries is None else entries) if _does(one, act)]
    named = [one for one in mine if Path(str(one["parameters"].get("config", ""))).stem == benchmark]
    firings = [
        Due(_before(one["cron"], one["timezone"], now - GRACE), f"{one['cron']} {one['timezone']}")
        for entry in named or [one for one in mine if one["name"] == PATTERN]
        for one in entry["schedules"]
        if one["active"]
    ]
    return max(firings, key=lambda one: one.at, default=None)


def late(
    benchmark: str,
    sources: Iterable[str],
    records: Sequence[RunRecord],
    now: datetime,
    entries: Sequence[dict[str, Any]] | None = None,
) -> Iterator[Late]:
    """The sources, then the release, that no run has brought since they were due.

    A run that has begun since then and goes on makes nothing late.

    Args:
        benchmark: Its name.
        sources: Names that its config gives to its sources.
        records: Its runs.
        now: With a time zone.
        entries: As in `due`.
    """
    entries = described() if entries is None else entries
    asked: tuple[tuple[Act, list[str]], ...] = (("read", list(sources)), ("release", [""]))
    for act, names in asked:
        wanted = due(benchmark, act, now, entries)
        if wanted is None or any(one.started >= wanted.at and one.state(now) == "running" for one in records):
            continue
        for name in names:
            ended = [one.seen for one in records if (name in one.sources if name else one.release)]
            last = max(ended, default=None)
            if last is None or last < wanted.at:
                yield Late(name, last, wanted)


def moment(when: datetime) -> str:
    """To the minute."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _before(cron: str, zone: str, moment: datetime) -> datetime:
    from cronsim import CronSim

    return next(CronSim(cron, moment.astimezone(ZoneInfo(zone)), reverse=True)).astimezone(UTC)


def _does(entry: dict[str, Any], act: Act) -> bool:
    return _job(entry) in JOBS[act] and (act == "read" or entry["parameters"].get("release", True))
