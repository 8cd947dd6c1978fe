"""`mihakk runs | logs`: what runs of a benchmark did, and what each of them is doing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from flows.commands.options import AsJson, Benchmark, Lake
from mihakk.errors import UsageError
from reports.console import open_console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.history import RunRecord


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (runs, logs):
        app.command(rich_help_panel="Look")(command)


def runs(
    config: Benchmark,
    limit: Annotated[int, typer.Option(min=1, help="How many of the newest.")] = 20,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """List the runs of a benchmark: when each began, its state, stage, time, cost and error.

    Example: mihakk runs demo --limit 5
    """
    found = _recorded(config, lake, limit)
    if as_json:
        shown = [run.model_dump(mode="json", exclude={"events"}) | {"state": run.state()} for run in found]
        print_json(shown)
        return
    table = Table("run", "state", "stage", "done", "seconds", "release", "cost", "error")
    for run in found:
        done = f"{run.done:,} of {run.total:,}" if run.total else ""
        cost = ", ".join(f"{amount:.2f} {currency}" for currency, amount in sorted(run.costs.items()))
        error = f"{run.error_kind}: {run.error}" if run.error_kind else ""
        table.add_row(run.run, run.state(), run.stage, done, f"{run.seconds:.0f}", run.release, cost, error)
    open_console().print(table)


def logs(
    config: Benchmark,
    run: Annotated[str, typer.Argument(help="The run, or how its name begins; the newest when empty.")] = "",
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Print what a run recorded: starts, tenths and ends of its stages, and how it ended.

    Example: mihakk logs demo 20261122T0300
    """
    found = [one for one in _recorded(config, lake, 1 if not run else 10_000) if one.run.startswith(run)]
    if len(found) != 1:
        several = ", ".join(one.run for one in found[:5])
        raise UsageError(
            f"{len(found)} runs of {config.stem} begin with {run!r}"
            + (f": {several}" if several else "")
            + f"; `mihakk runs {config}` lists them"
        )
    if as_json:
        print_json(found[0].model_dump(mode="json") | {"state": found[0].state()})
        return
    for line in _lines(found[0]):
        typer.echo(line)


def _recorded(config: Path, lake: str | None, newest: int) -> list[RunRecord]:
    from pipeline.build import open_build
    from pipeline.history import runs as recorded_runs

    opened = open_build(config, Path("runs"), lake)
    found, unreadable = recorded_runs(opened.lake, newest)
    if unreadable:
        typer.echo(f"{unreadable} run records could not be read", err=True)
    if not found:
        raise UsageError(
            f"{opened.config.name} has no runs in {opened.lake.storage.root}: "
            f"`mihakk build {config}` makes one"
        )
    return found


def _lines(run: RunRecord) -> Iterator[str]:
    from reports.terminal import note_of

    yield f"{run.started:%Y-%m-%dT%H:%M:%SZ} run {run.run} on {run.host}, process {run.pid}"
    for event in run.events:
        at = f"{event.time:%Y-%m-%dT%H:%M:%SZ} {event.stage}: {event.event}"
        if event.counts is not None:
            yield f"{at}, {note_of(event.counts)}"
        else:
            yield f"{at}, {event.done:,} of {event.total:,}"
    end = f"{run.seen:%Y-%m-%dT%H:%M:%SZ} {run.state()}"
    if run.error_kind:
        end += f": {run.error_kind}: {run.error}"
    elif run.state() in ("stopped", "lost"):
        end += f" in {run.stage or 'preparation'}: run `mihakk build` again to go on"
    yield end
