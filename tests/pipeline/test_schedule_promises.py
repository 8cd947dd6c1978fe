"""What prefect.yaml promises of a benchmark, with the clock given: sources, the release, other time zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mihakk.pipeline.history import RunRecord, SourceYield
from mihakk.pipeline.schedules import Act, Late, described, due, late
from mihakk.schemas.schedule import Schedule


def entry(job: str, cron: str, zone: str = "UTC", config: str = "demo", **more: Any) -> dict[str, Any]:
    """One entry as prefect.yaml has it."""
    return {
        "name": config if config == "demo" else "own",
        "entrypoint": f"mihakk.flows.deployed.{job}:{job}",
        "parameters": {"config": config, **more.pop("parameters", {})},
        "schedules": [{"cron": cron, "timezone": zone, "active": more.pop("active", True)}],
    }


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def run(ended: str, *sources: str, release: str = "", status: str = "finished", hours: int = 1) -> RunRecord:
    seen = at(ended)
    return RunRecord.model_validate(
        {
            "run": ended,
            "benchmark": "b",
            "status": status,
            "started": seen - timedelta(hours=hours),
            "seen": seen,
            "host": "another",
            "pid": 1,
            "sources": {name: SourceYield(records=1, rejected=0) for name in sources},
            "release": release,
        }
    )


@pytest.mark.parametrize(
    ("cron", "zone", "now", "wanted"),
    [
        ("30 3 * * *", "Asia/Dubai", "2026-11-23T02:00", "2026-11-22T23:30"),
        # Within two hours of its start a run may still be at work, so the night before counts.
        ("30 3 * * *", "Asia/Dubai", "2026-11-23T01:00", "2026-11-21T23:30"),
        ("0 14 * * 5", "Asia/Dubai", "2026-11-23T02:00", "2026-11-20T10:00"),
        # Egypt is three hours ahead in summer and two in winter.
        ("0 9 * * *", "Africa/Cairo", "2026-07-10T12:00", "2026-07-10T06:00"),
        ("0 9 * * *", "Africa/Cairo", "2026-12-10T12:00", "2026-12-10T07:00"),
    ],
)
def test_a_job_is_due_by_its_own_clock(cron: str, zone: str, now: str, wanted: str) -> None:
    found = due("b", "read", at(now), [entry("nightly", cron, zone)])
    assert found is not None
    assert found.at == at(wanted)
    assert found.schedule == f"{cron} {zone}"


NIGHTLY, WEEKLY = entry("nightly", "0 1 * * *"), entry("ingest", "0 3 * * 1")


@pytest.mark.parametrize(
    ("entries", "act", "wanted"),
    [
        ([NIGHTLY], "release", "2026-11-22T01:00"),
        ([WEEKLY], "read", "2026-11-16T03:00"),
        ([WEEKLY], "release", None),
        ([NIGHTLY, WEEKLY], "read", "2026-11-22T01:00"),
        ([entry("nightly", "0 1 * * *", active=False)], "read", None),
        ([entry("nightly", "0 1 * * *", parameters={"release": False})], "release", None),
        ([entry("release", "0 4 * * *")], "read", None),
        # An entry of its own replaces the pattern for that benchmark, and is none for the others.
        ([NIGHTLY, entry("nightly", "0 1 1 * *", config="configs/benchmarks/b.yaml")], "read", "2026-11-01T01:00"),
        ([entry("nightly", "0 1 * * *", config="other")], "read", None),
        ([entry("review_pull", "0 1 * * *")], "read", None),
    ],
)  # fmt: skip
def test_what_is_due_follows_from_the_jobs_that_do_it(
    entries: list[dict[str, Any]], act: Act, wanted: str | None
) -> None:
    found = due("b", act, at("2026-11-22T20:00"), entries)
    assert (found and found.at) == (at(wanted) if wanted else None)


def test_a_schedule_of_the_configs_own_stands_for_all_its_jobs() -> None:
    weekly = described([Schedule(job="ingest", cron="0 3 * * 1", timezone="Asia/Dubai")])
    found = due("b", "read", at("2026-11-22T20:00"), weekly)
    assert found is not None
    assert (found.at, found.schedule) == (at("2026-11-15T23:00"), "0 3 * * 1 Asia/Dubai")
    assert due("b", "release", at("2026-11-22T20:00"), weekly) is None, "no job of its makes a version"
    assert due("b", "read", at("2026-11-22T20:00"), described([])) is None
    assert due("b", "read", at("2026-11-22T20:00")) is not None, "prefect.yaml's, where it has none"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"cron": "every night"}, "is no cron expression"),
        ({"cron": "61 3 * * *"}, "is no cron expression"),
        ({"cron": "30 3 * * *", "timezone": "Asia/Nowhere"}, "is no time zone; write one such as Asia/Dubai"),
        ({"cron": "30 3 * * *", "timezone": "../etc/passwd"}, "is no time zone"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(wrong: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Schedule.model_validate({"job": "nightly", **wrong})


def lates(*records: RunRecord, now: str = "2026-11-22T20:00") -> list[Late]:
    return list(late("b", ["ganjoor", "hafez"], records, at(now), [NIGHTLY]))


def test_what_a_run_has_brought_since_then_is_not_late() -> None:
    assert lates(run("2026-11-22T01:40", "ganjoor", "hafez", release="0.2.0")) == []
    assert lates(run("2026-11-22T00:59", "ganjoor", "hafez", release="0.2.0")) != []


def test_a_source_that_the_last_run_did_not_reach_is_late_alone() -> None:
    found = lates(
        run("2026-11-22T01:40", "hafez", release="0.2.0"), run("2026-11-20T01:40", "ganjoor", "hafez")
    )
    assert [one.source for one in found] == ["ganjoor"]
    assert str(found[0]) == "last read 2026-11-20 01:40 UTC, due 2026-11-22 01:00 UTC by 0 1 * * * UTC"


def test_a_release_that_waits_is_late_although_the_sources_were_read() -> None:
    found = lates(run("2026-11-22T01:40", "ganjoor", "hafez"))
    assert [(one.source, one.last) for one in found] == [("", None)]
    assert str(found[0]).startswith("last released by no recorded run, due 2026-11-22 01:00 UTC")


def test_a_run_at_work_makes_nothing_late_and_one_that_was_lost_does() -> None:
    going = run("2026-11-22T19:59", status="running", hours=18)
    assert lates(going) == []
    assert len(lates(going, now="2026-11-22T20:30")) == 3, "silent for half an hour"
