"""`mihakk sources | tasks | checks`: what there is to choose from in a config."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mihakk.flows.commands.options import AsJson
from mihakk.reports.console import print_result, rows_table


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (sources, tasks, checks):
        app.command()(command)


def sources(as_json: AsJson = False) -> None:
    """List the sources: licence, languages, politeness and least expected yield.

    Example: mihakk sources --json
    """
    from mihakk.scrapers.source import SOURCES

    _print(
        [
            {
                "name": source.name,
                "title": source.title,
                "languages": ", ".join(source.languages),
                "licence": source.licence,
                "delay_seconds": source.delay_seconds,
                "least_yield": source.least_yield,
                "home": source.home,
                "package": SOURCES.origin(source.name),
            }
            for _, source in SOURCES
        ],
        as_json,
        only_json=("title", "home"),
    )


def tasks(as_json: AsJson = False) -> None:
    """List the item tasks and what each is made from.

    Example: mihakk tasks --json
    """
    from mihakk.generators.task import TASKS

    _print(
        [
            {
                "name": task.name,
                "title": task.title,
                "reads": task.reads,
                "languages": ", ".join(task.languages),
                "needs_model": task.needs_model,
                "version": task.version,
                "package": TASKS.origin(task.name),
            }
            for _, task in TASKS
        ],
        as_json,
    )


def checks(
    identifier: Annotated[
        str, typer.Argument(metavar="[ID]", help="Explain this check instead of listing all.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the checks with their ids and how hard each is, or explain one.

    Example: mihakk checks CH03
    """
    from mihakk.validators.checks.check import CHECKS

    if identifier:
        from mihakk.reports.explained_check import explain, show_explanation

        found = explain(identifier.upper())
        print_result(found, show_explanation(found), as_json=as_json)
        return
    _print(
        [
            {"id": one.id, "severity": one.severity, "title": one.title, "package": CHECKS.origin(one.id)}
            for _, one in CHECKS
        ],
        as_json,
    )


def _print(rows: list[dict[str, Any]], as_json: bool, only_json: tuple[str, ...] = ()) -> None:
    """Rows as JSON, or as a table without what is too wide for a terminal, or empty as no plugin is there."""
    own = ("package",) if not any(row.get("package") for row in rows) else ()
    shown = [name for name in rows[0] if name not in (*only_json, *own)]
    print_result(rows, rows_table(rows, shown), as_json=as_json)
