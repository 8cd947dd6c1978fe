"""`mihakk sources | tasks | checks`: what there is to choose from in a config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from flows.commands.options import AsJson, Lake, OfBenchmark
from reports.console import open_console, print_json
from schemas.stages import SCRAPED


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (sources, tasks, checks):
        app.command(rich_help_panel="Look")(command)


def sources(
    config: OfBenchmark = Path("demo"),
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """List the sources: licence, languages, politeness, least expected yield, last run and what it gave.

    Example: mihakk sources --benchmark demo
    """
    from scrapers.source import SOURCES

    last = last_runs(config, lake)
    _print(
        [
            {
                "name": source.name,
                "title": source.title,
                "languages": ", ".join(source.languages),
                "licence": source.licence,
                "delay_seconds": source.delay_seconds,
                "least_yield": source.least_yield,
                "last_run": last.get(source.name, ("", ""))[0],
                "last_yield": last.get(source.name, ("", ""))[1],
                "home": source.home,
            }
            for _, source in SOURCES
        ],
        as_json,
        only_json=("title", "home"),
    )


def last_runs(config: Path, lake: str | None) -> dict[str, tuple[str, str]]:
    """Source to when its records were last written in the benchmark's lake, and how many they are."""
    from pipeline.build import open_build

    opened = open_build(config, Path("runs"), lake)
    scraped = opened.stage(SCRAPED)
    if not scraped.finished():
        return {}
    found: dict[str, tuple[str, str]] = {}
    for use in opened.config.sources:
        mine = [s for s in scraped.manifest().shards if s.source == (use.label)]
        records = sum(shard.counts.kept for shard in mine) + int(found.get(use.use, ("", "0"))[1])
        found[use.use] = max((shard.started[:19] for shard in mine), default=""), str(records)
    return found


def tasks(as_json: AsJson = False) -> None:
    """List the item tasks and what each is made from.

    Example: mihakk tasks --json
    """
    from generators.task import TASKS

    _print(
        [
            {
                "name": task.name,
                "title": task.title,
                "reads": task.reads,
                "languages": ", ".join(task.languages),
                "needs_model": task.needs_model,
                "version": task.version,
            }
            for _, task in TASKS
        ],
        as_json,
    )


def checks(as_json: AsJson = False) -> None:
    """List the checks with their ids and how hard each is.

    Example: mihakk checks --json
    """
    from validators.checks.check import CHECKS

    _print(
        [{"id": one.id, "severity": one.severity, "title": one.title} for _, one in CHECKS],
        as_json,
    )


def _print(rows: list[dict[str, Any]], as_json: bool, only_json: tuple[str, ...] = ()) -> None:
    """Rows as JSON, or as a table without the columns that are too wide for a terminal."""
    if as_json:
        print_json(rows)
        return
    shown = [name for name in rows[0] if name not in only_json]
    table = Table(*(name.replace("_", " ") for name in shown))
    for row in rows:
        table.add_row(*(str(row[name]) for name in shown))
    open_console().print(table)
