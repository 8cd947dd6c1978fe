"""The report's facts as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.build import Build
from pipeline.history import runs
from reports.dashboard.versions import changes_by_reason
from reports.run.report_facts import gather
from reports.templates import templates, write_page
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
    return write_page(
        environment.get_template("report.html.jinja"),
        build.run_folder / "report.html",
        facts=gather(build, seconds),
        trends=trends_html(charts),
    )
