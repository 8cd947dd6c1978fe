"""`mihakk show`: records as a person reads them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from mihakk.flows.commands.options import AsJson, Lake, OfBenchmark
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json, print_result, rows_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mihakk.pipeline.build import Build
    from mihakk.schemas.record import Record


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(show)


def show(
    table: Annotated[
        str,
        typer.Argument(
            help="STAGE or STAGE/TABLE, e.g. 4_generated/items, 3_curated/rejected; `stages` lists them.",
        ),
    ],
    identifier: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One record, and all that is known of it.")
    ] = None,
    config: OfBenchmark = Path("demo"),
    lake: Lake = None,
    limit: Annotated[int, typer.Option(min=1, help="Records to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print records of a stage's table; with an ID, that record whole.

    Example: mihakk show 5_checked/findings --benchmark demo --limit 5
    """
    from mihakk.pipeline.build import open_build

    opened = open_build(config, lake=lake)
    if table == "stages":
        _stages(opened, as_json)
        return
    rows = records(opened, table)
    if identifier is not None:
        rows = (row for row in rows if identifier in (name_of(row), getattr(row, "id", "")))
    found = list(islice(rows, limit))
    if identifier is not None and not found:
        raise UsageError(f"{table} has no record {identifier!r}; list some with `mihakk show {table}`")
    if as_json:
        print_json(found)
        return
    console = open_console()
    for row in found:
        console.print(card(row) if identifier else line(row))


def records(opened: Build, table: str) -> Iterator[Any]:
    """Rows of `STAGE/TABLE`, lazily.

    Raises:
        UsageError: No such stage or table; the message lists those there are.
    """
    from mihakk.pipeline.rows import ROWS
    from mihakk.schemas.stages import STAGES

    stage_name, _, name = table.partition("/")
    matches = [stage for stage in STAGES if stage == stage_name or stage.partition("_")[2] == stage_name]
    if not matches:
        raise UsageError(f"there is no stage {stage_name!r}; stages are {', '.join(STAGES)}")
    stage = opened.stage(matches[0])
    if name == "rejected" and (failed := stage.failed_rejections()) is not None:
        return iter(failed)
    known = ["rejected", *stage.tables()]
    name = name or next((n for n in ("items", "poems", "release") if n in known), known[-1])
    if name not in known:
        raise UsageError(f"{matches[0]} has no table {name!r}; it has {', '.join(known)}")
    if name == "rejected":
        return iter(stage.rejections())
    return stage.read_all(name, ROWS[name])


def name_of(row: Record) -> str:
    """What a person calls a row: its id, or the id of what it speaks of."""
    for field in ("id", "item", "subject", "record", "kept", "name"):
        if value := getattr(row, field, ""):
            return str(value)
    return ""


def line(row: Record) -> str:
    """A row in one line: its name and its most telling text."""
    for field in ("question", "title", "detail", "phrase", "status", "outcome", "reasons", "version"):
        value = getattr(row, field, None)
        if value:
            text = value.shown if hasattr(value, "raw") else str(value)
            return f"[bold]{escape(name_of(row))}[/]  {escape(text[:120])}"
    return f"[bold]{escape(name_of(row))}[/]"


def card(row: Record) -> Table:
    """A row field by field; empty fields are left out."""
    table = Table(show_header=False, title=name_of(row), title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for field, value in row.model_dump(mode="json").items():
        if value not in (None, "", [], {}):
            table.add_row(field, escape(readable(value)))
    return table


def readable(value: Any) -> str:
    """Nested values as indented lines."""
    if isinstance(value, dict):
        return "\n".join(
            f"{name}: {readable(inner)}" for name, inner in value.items() if inner not in (None, "", [])
        )
    if isinstance(value, list):
        return "\n".join(f"{number}. {readable(inner)}" for number, inner in enumerate(value))
    return str(value)


def _stages(opened: Build, as_json: bool) -> None:
    from mihakk.schemas.stages import STAGES

    finished = [opened.stage(name) for name in STAGES if opened.stage(name).finished()]
    if not finished:
        raise UsageError(
            f"no stage of {opened.config.name} has finished in {opened.lake.storage.root}: "
            "run `mihakk build`, or name the lake with --lake"
        )
    manifests = [stage.manifest() for stage in finished]
    rows = [
        {
            "stage": stage.name,
            "tables": ", ".join(stage.tables()),
            "shards": len(manifest.shards),
            "rows": manifest.counts.written,
            "rejected": manifest.counts.rejected + manifest.counts.merged,
        }
        for stage, manifest in zip(finished, manifests, strict=True)
    ]
    plain = [manifest.model_dump(mode="json", exclude={"shards"}) for manifest in manifests]
    print_result(plain, rows_table(rows, list(rows[0])), as_json=as_json)
