"""Failures stay until their own job succeeds, and everything is told once, with whom it concerns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.spending import Ledger
from mihakk.pipeline.history import RunRecord, RunState, StageRun, recorded
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.steps.order import step_of
from mihakk.reports.dashboard.app import dashboard_app
from mihakk.reports.dashboard.health import RunWithState, health, outstanding
from mihakk.reports.dashboard.spending import spending
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.stages import STAGES
from tests.reports.dashboard.conftest import Made

NIGHT = datetime(2026, 11, 20, 3, tzinfo=UTC)
FULL = range(8)


def run(night: int, state: RunState, done: range = FULL, at: str = "", job: str = "") -> RunWithState:
    """A run that came through the stages `done` and ended in the stage `at`."""
    when = NIGHT + timedelta(days=night)
    counts = ShardCounts(read=0, kept=0, written=0)
    stages = [StageRun(stage=STAGES[n], seconds=1, shards=1, reused=0, counts=counts) for n in done]
    record = RunRecord(
        run=f"r{night}",
        benchmark="b",
        job=job,
        started=when,
        seen=when,
        host="h",
        pid=1,
        stage=at,
        stages=() if job else tuple(stages),
        error=f"of night {night}",
    )
    return RunWithState(record, state)


RELEASE, SCRAPE = STAGES[-1], STAGES[0]


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([run(1, "finished")], []),
        ([run(2, "finished", range(3)), run(1, "failed", range(7), RELEASE)], ["r1"]),
        ([run(2, "finished", range(7)), run(1, "lost", range(7), RELEASE)], ["r1"]),
        ([run(3, "finished"), run(2, "finished", range(3)), run(1, "failed", range(7), RELEASE)], []),
        ([run(2, "failed", range(0), SCRAPE), run(1, "failed", range(7), RELEASE)], ["r2", "r1"]),
        ([run(2, "failed", range(7), RELEASE), run(1, "failed", range(0), SCRAPE)], ["r2"]),
        ([run(3, "running", range(0), SCRAPE), run(2, "failed", range(0), SCRAPE)], ["r2"]),
        ([run(3, "failed", at=SCRAPE), run(2, "failed", at=SCRAPE), run(1, "finished")], ["r3"]),
        ([run(2, "finished"), run(1, "failed", job="review_push")], ["r1"]),
        ([run(3, "finished", job="review_push"), run(1, "failed", job="review_push")], []),
        ([run(2, "finished", range(3)), run(1, "failed", range(0))], []),
        ([run(2, "finished", job="review_push"), run(1, "failed", range(0))], ["r1"]),
    ],
)
def test_a_failure_stays_until_what_failed_has_come_through(
    told: list[RunWithState], left: list[str]
) -> None:
    assert [one.record.run for one in outstanding(told)] == left


def test_what_failed_is_told_once_with_owner_and_command_whatever_else_succeeds(own: Made) -> None:
    push = ExternalFailure("Label Studio does not answer: run again later")
    with pytest.raises(ExternalFailure), recorded(own.build, Silent(), "review_push"):
        raise push
    scrape = ExternalFailure("source 'hafez' is gone")
    with pytest.raises(ExternalFailure), recorded(own.build, Silent()) as log:  # noqa: PT012
        log.started(step_of(SCRAPE), 1)
        raise scrape
    with recorded(own.build, Silent(), "review_pull"):
        pass
    late = datetime.now(UTC) + timedelta(days=3)
    found = health(own.build, late)
    assert found.level == "bad"
    texts = [note.text for note in found.notes]
    (pushing,) = [text for text in texts if "Label Studio" in text]
    assert pushing.startswith("review_push has failed since ")
    assert pushing.endswith("(operations: mihakk review push small)")
    (scraping,) = [text for text in texts if "'hafez' is gone" in text]
    assert scraping.endswith("(operations: mihakk build small)")
    assert not [text for text in texts if text.startswith("source hafez")], "why it is late is told already"
    levels = {one.name: one.level for one in found.sources}
    assert levels.pop("hafez") == "bad", "the table shows it all the same"
    assert set(levels.values()) == {"look"}, "late, and why is told with the failure"
    assert not [text for text in texts if "last read" in text]
    assert found.runs[0].record.job == "review_pull"


def test_the_page_has_plan_spent_and_left(own: Made, tmp_path: Path) -> None:
    known = yaml.safe_load(Path(own.build.config.audit.auditors).read_text("utf-8"))
    capped = tmp_path / "capped.yaml"
    capped.write_text(yaml.safe_dump({**known, "budget": {"calls": 100}}), "utf-8")
    audit = own.build.config.audit.model_copy(update={"auditors": str(capped)})
    build = replace(own.build, config=own.build.config.model_copy(update={"audit": audit}))
    asked = sum(used.calls for one in health(build).runs for used in one.record.usage.values())
    with Ledger(build.spending) as ledger, ledger.held():
        ledger.reserve("first", 0.5, "USD")
        both, *rows = spending(build)
    assert (both.models, both.plan, both.calls) == ("first and second", "100 requests", asked + 1)
    assert both.left == f"{99 - asked} requests"
    cost = sum(one.record.costs["USD"] for one in health(build).runs if one.record.costs)
    first = next(row for row in rows if row.models == "first")
    assert (first.spent, first.unsettled) == (f"{cost:,.2f} USD", "0.50 USD")
    text = TestClient(dashboard_app([build]), base_url="http://localhost").get("/small").text
    assert f"{99 - asked} requests" in text
