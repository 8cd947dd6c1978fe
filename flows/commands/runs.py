"""`mihakk runs`: what runs of a benchmark did, and what each of them is doing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Benchmark, Lake
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import print_result, rows_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mihakk.pipeline.history import RunRecord


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(runs)


def runs(
    config: Benchmark,
    run: Annotated[
        str, typer.Argument(help="One run's log, by how its name begins, or `latest`; all runs when empty.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many of the newest.")] = 20,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """List the runs of a benchmark with state, stage, time, cost and error; with a run, print its log.

    Example: mihakk runs demo latest
    """
    found = _recorded(config, lake, limit if run in ("", "latest") else 10_000)
    if run:
        one = _chosen(config, run, found)
        print_result(_plain(one), escape("\n".join(_lines(one))), as_json=as_json)
        return
    rows = [
        {
            "run": one.run,
            "state": one.state(),
            "stage": one.stage,
            "done": f"{one.done:,} of {one.total:,}" if one.total else "",
            "seconds": f"{one.seconds:.0f}",
            "release": one.release,
            "cost": ", ".join(f"{cost:.2f} {currency}" for currency, cost in sorted(one.costs.items())),
            "error": f"{one.error_kind}: {one.error}" if one.error_kind else "",
        }
        for one in found
    ]
    shown = [_plain(one, events=False) for one in found]
    print_result(shown, rows_table(rows, list(rows[0])), as_json=as_json)


def _plain(run: RunRecord, *, events: bool = True) -> dict[str, object]:
    """A run as plain data, with what became of it."""
    return run.model_dump(mode="json", exclude=set() if events else {"events"}) | {"state": run.state()}


def _chosen(config: Path, run: str, found: list[RunRecord]) -> RunRecord:
    chosen = found[:1] if run == "latest" else [one for one in found if one.run.startswith(run)]
    if len(chosen) != 1:
        several = ", ".join(one.run for one in chosen[:5])
        raise UsageError(
            f"{len(chosen)} runs of {config.stem} begin with {run!r}"
            + (f": {several}" if several else "")
            + f"; `mihakk runs {config}` lists them"
        )
    return chosen[0]


def _recorded(config: Path, lake: str | None, newest: int) -> list[RunRecord]:
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.history import runs as recorded_runs

    opened = open_build(config, lake=lake)
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
    from mihakk.reports.terminal import note_of

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
