"""Progress as lines: what a log collector gets of a run that nobody watches."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from rich.console import Console

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.steps.order import STEPS
from mihakk.reports.log_lines import LogObserver, observer_for
from mihakk.reports.terminal import TerminalObserver
from mihakk.schemas.manifest import ShardCounts, StageManifest

MANIFEST = StageManifest(
    stage="1_scraped",
    inputs={},
    config_digest="",
    code_version="",
    shards=(),
    counts=ShardCounts(read=50, kept=48, rejected=2, written=48),
    seconds=0,
    peak_memory_mb=0,
)


def written(form: str, ticks: int, size: int) -> list[str]:
    lines: list[str] = []
    observer = LogObserver("json" if form == "json" else "text", lines.append)
    with observer:
        observer.started(STEPS[0], ticks * size)
        for _ in range(ticks):
            observer.tick(size)
        observer.finished(STEPS[0], MANIFEST)
    return lines


@pytest.mark.parametrize(("ticks", "size", "progress"), [(1000, 1, 9), (4, 25, 3), (1, 7, 0), (0, 0, 0)])
def test_a_stage_is_at_most_eleven_lines_however_it_ticks(ticks: int, size: int, progress: int) -> None:
    lines = written("text", ticks, size)
    assert [line.split()[1] for line in lines] == ["1_scraped:"] * (progress + 2)
    assert "50 in · 48 out · 2 rejected" in lines[-1]
    for line in lines:
        datetime.fromisoformat(line.split()[0])


def test_structured_lines_are_one_json_object_each() -> None:
    rows = [json.loads(line) for line in written("json", 10, 1)]
    assert [row["event"] for row in rows] == ["started", *["progress"] * 9, "finished"]
    assert rows[4] == rows[4] | {"stage": "1_scraped", "done": 4, "total": 10}
    assert rows[-1]["counts"]["rejected"] == 2


def test_work_between_the_stages_is_a_line_at_its_start_and_its_end() -> None:
    lines: list[str] = []
    with LogObserver("json", lines.append) as observer:
        observer.phase("suites over all tables")
        observer.phase("suites over all tables", 12.3456)
    rows = [json.loads(line) for line in lines]
    assert [(row["event"], row["stage"], row["done"], row.get("seconds")) for row in rows] == [
        ("started", "suites over all tables", 0, None),
        ("finished", "suites over all tables", 1, 12.346),
    ]


def test_an_interrupted_run_says_how_far_it_came() -> None:
    lines: list[str] = []

    def interrupted() -> None:
        with LogObserver("text", lines.append) as observer:
            observer.started(STEPS[0], 10)
            observer.tick(4)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert lines[-1].endswith("1_scraped: stopped after 4 of 10")


def test_bars_are_for_terminals_alone() -> None:
    assert isinstance(observer_for(Console(force_terminal=True), "auto"), TerminalObserver)
    assert isinstance(observer_for(Console(force_terminal=True), "text"), LogObserver)
    assert isinstance(observer_for(Console(force_terminal=False), "auto"), LogObserver)
    with pytest.raises(UsageError, match="auto, text, json"):
        observer_for(Console(), "xml")
