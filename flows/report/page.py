"""The facts as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from flows.context import Build
from flows.report.facts import gather

RIGHT_TO_LEFT = frozenset({"ar", "fa"})


def write_report(build: Build, seconds: Mapping[str, float]) -> Path:
    """Writes `report.html` into the run's folder and returns its path.

    Args:
        build: A finished build.
        seconds: Wall time of each stage in this run; stages that were only looked up take next to none.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["direction"] = lambda language: "rtl" if language in RIGHT_TO_LEFT else "ltr"
    environment.tests["starting"] = str.startswith
    environment.filters["number"] = lambda value: f"{value:,}"
    page = environment.get_template("report.html.jinja").render(
        facts=gather(build, seconds), made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    )
    path = build.run_folder / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path
