"""`mihakk items quality`: what can be guessed without reading the question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group
from rich.table import Table

if TYPE_CHECKING:
    from generators.quality import Quality


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    items = typer.Typer(help="Measures of the generated items.")
    items.command()(quality)
    items.callback()(lambda: None)
    app.add_typer(items, name="items", rich_help_panel="Look")


def quality(
    config: Annotated[Path, typer.Argument(help="The benchmark's config, or its name.")] = Path("demo"),
    cosines: Annotated[
        bool, typer.Option("--cosines", help="Embed questions and options too; slow with the bundled model.")
    ] = False,
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Baselines that never read the question, how right and wrong options differ, where the golds stand."""
    from flows.context import ITEM_ROWS, open_build
    from generators.quality import measure_quality

    opened = open_build(config, Path("runs"), lake)
    embedder = None
    if cosines:
        from mihakk.embeddings import open_embedder

        embedder = open_embedder(opened.config.embeddings)
    found = measure_quality(
        opened.stage("4_generated").read_all("items", ITEM_ROWS), embedder=embedder, seed=opened.config.seed
    )
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    Console().print(quality_tables(found))


def quality_tables(found: Quality) -> Group:
    """The measures as tables."""
    baselines = Table(
        "Task",
        "Baseline",
        "Questions",
        "Right",
        "95 %",
        "Chance",
        title="Without the question",
        title_justify="left",
    )
    for one in found.baselines:
        interval = f"{one.low:.1%} to {one.high:.1%}"
        row = (one.name, f"{one.questions:,}", f"{one.accuracy:.1%}", interval, f"{one.chance:.1%}")
        baselines.add_row(f"{one.language} {one.task}", *row)
    spreads = Table(
        "Task",
        "Strategy",
        "Measure",
        "Options",
        "Mean",
        "5 %",
        "Median",
        "95 %",
        title="Options",
        title_justify="left",
    )
    for spread in found.spreads:
        numbers = (spread.mean, spread.p05, spread.median, spread.p95)
        spreads.add_row(
            f"{spread.language} {spread.task}",
            spread.strategy,
            spread.measure,
            f"{spread.options:,}",
            *(f"{number:.2f}" for number in numbers),
        )
    places = Table(
        "Task", "Right option at place 1, 2, …", title="Where the golds stand", title_justify="left"
    )
    for position in found.positions:
        counts = " · ".join(f"{count:,}" for count in position.counts)
        places.add_row(f"{position.language} {position.task}", counts)
    return Group(baselines, spreads, places)
