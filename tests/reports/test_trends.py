"""Charts over runs and versions draw the figures they are given, small enough for a telephone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from mihakk.pipeline.history import RunRecord, SourceYield, StageRun
from mihakk.releases.card.charts import WIDTH, Trend
from mihakk.reports.dashboard.page import _environment
from mihakk.reports.trends import LINES, over_runs, over_versions
from mihakk.schemas.manifest import ShardCounts

SVG = "{http://www.w3.org/2000/svg}"
START = datetime(2026, 11, 1, 3, tzinfo=UTC)


def stage(name: str, **counts: dict[str, int]) -> StageRun:
    return StageRun(stage=name, seconds=2.0, shards=1, reused=0, counts=ShardCounts.model_validate(counts))


def night(day: int, read: int, *stages: StageRun, status: str = "finished") -> RunRecord:
    return RunRecord(
        run=f"r{day}",
        benchmark="b",
        status=status,  # type: ignore[arg-type]
        started=START + timedelta(days=day),
        seen=START + timedelta(days=day, minutes=1),
        host="h",
        pid=1,
        stages=stages,
        sources={"hafez": SourceYield(records=read, rejected=0)} if read else {},
    )


def by_title(*runs: RunRecord) -> dict[str, Trend]:
    return {one.title: one for one in over_runs(runs)}


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_each_figure_is_that_of_its_run_and_the_oldest_comes_first() -> None:
    checked = stage("5_checked", notes={"flag.CH07": 8, "block.CH07": 2, "report.CH08": 42})
    audited = stage("6_audited", notes={"scores.compared": 240, "scores.alike": 228})
    rejecting = stage("3_curated", reasons={"duplicate": 7})
    reviewing = stage("7_reviewed", reasons={"duplicate": 1, "unresolved": 3})
    found = by_title(night(1, 512, checked, audited, rejecting, reviewing), night(0, 500, checked))
    yields = found["Records read, by source"]
    assert (yields.columns, yields.lines) == (
        ("2026-11-01 03:00", "2026-11-02 03:00"),
        {"hafez": (500.0, 512.0)},
    )
    assert found["Findings, by check"].lines == {"CH08": (42.0, 42.0), "CH07": (10.0, 10.0)}
    assert found["Rejected or merged, by reason"].lines == {"duplicate": (0.0, 8.0), "unresolved": (0.0, 3.0)}
    assert found["Scores on which both auditors agree, per cent"].lines == {"agree": (95.0,)}
    assert "Cost of priced models" not in found
    assert {"512 (+12)", "Records read, by source"} <= set(texts(yields.svg))


def test_a_run_that_failed_early_is_no_fall_to_nothing() -> None:
    stopped = night(2, 0, stage("1_scraped"), status="failed")
    found = by_title(stopped, night(1, 500, stage("1_scraped")))
    assert found["Records read, by source"].lines == {"hafez": (500.0,)}
    assert len(found["Seconds, by stage"].columns) == 1


def test_a_record_without_reasons_is_not_known_instead_of_none() -> None:
    old = night(0, 500, stage("3_curated"), stage("5_checked"))
    found = by_title(night(1, 500, stage("5_checked", notes={"flag.CH07": 8})), old)
    assert found["Findings, by check"].columns == ("2026-11-02 03:00",)
    assert "Rejected or merged, by reason" not in found


def test_many_reasons_are_the_largest_of_today_and_the_sum_of_the_rest() -> None:
    today = {f"reason_{number}": 10 * number for number in range(1, 9)}
    before = {"gone_since": 500, "reason_8": 4}
    runs = [night(1, 1, stage("3_curated", reasons=today)), night(0, 1, stage("3_curated", reasons=before))]
    trend = by_title(*runs)["Rejected or merged, by reason"]
    assert list(trend.lines) == ["reason_8", "reason_7", "reason_6", "6 others"]
    assert trend.lines["6 others"] == (500.0, float(10 + 20 + 30 + 40 + 50))
    assert len(trend.lines) == LINES


def test_versions_say_what_they_added_changed_and_removed() -> None:
    changes = {"0.1.0": {}, "0.2.0": {"added": 5, "removed: duplicate": 2}, "0.3.0": {"changed": 4}}
    (trend,) = over_versions(changes)
    assert trend.columns == ("0.2.0", "0.3.0")
    assert trend.lines == {"changed": (0.0, 4.0), "added": (5.0, 0.0), "removed: duplicate": (2.0, 0.0)}
    assert over_versions({"0.1.0": {}}) == []


@pytest.mark.parametrize("values", [(0.0,), (0.0, 0.0), (1_234_567.0, 3.0), (5.0, None, 7.0)])
def test_every_mark_lies_inside_the_picture(values: tuple[float | None, ...]) -> None:
    name = "a name <b>longer than what fits beside its value</b>"
    svg = Trend(
        "T & t", "run", tuple(f"2026-11-0{n + 1} 03:00" for n in range(len(values))), {name: values}
    ).svg
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert width == WIDTH
    for one in root.iter(f"{SVG}line"):
        assert 0 <= float(one.get("x1", "")) <= float(one.get("x2", "")) <= width
        assert min(float(one.get("y1", "")), float(one.get("y2", ""))) >= 0
        assert max(float(one.get("y1", "")), float(one.get("y2", ""))) <= height
    assert len(list(root.iter(f"{SVG}line"))) == 2 + max(0, sum(v is not None for v in values) - 1)


def test_the_page_escapes_names_and_has_every_figure_as_a_table() -> None:
    trend = Trend("Yields", "run", ("2026-11-01 03:00",), {"<script>x</script>": (1234.0,)})
    template = _environment().get_template("trends.html.jinja")
    page = template.render(facts=SimpleNamespace(trends=[trend]))
    assert "<script>" not in page
    assert '<td class="n">1,234</td>' in page
