"""The facts as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pipeline.build import Build
from pipeline.history import runs
from reports.dashboard.versions import changes_by_reason
from reports.run.report_facts import gather
from reports.templates import templates
from reports.trends import over_runs, over_versions, trends_html


def write_report(build: Build, seconds: Mapping[str, float]) -> Path:
    """Writes `report.html` into the run's folder and returns its path.

    Args:
        build: A finished build.
        seconds: Wall time of each stage in this run; stages that were only looked up take next to none.
    """
    environment = templates(Path(__file__).parent)
    environment.tests["starting"] = str.startswith
    told, _ = runs(build.lake)
    charts = [*over_runs(told), *over_versions(changes_by_reason(build))]
    page = environment.get_template("report.html.jinja").render(
        facts=gather(build, seconds),
        trends=trends_html(charts),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path = build.run_folder / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path
