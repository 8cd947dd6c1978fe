"""`mihakk evaluate site`: a suite's results as static pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.console import open_console


def site(
    suite: Annotated[str, typer.Argument(help="A name in configs/suites/, or a file.")],
    out: Annotated[Path, typer.Option(help="Folder to write; a leaderboard that lies there is replaced.")],
    model: Annotated[
        list[str] | None,
        typer.Option(help="A name in configs/models/, or a file; the suite's own when left out."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of answers and scores; runs/evaluate/SUITE when left out.")
    ] = None,
    blind: Annotated[
        Path | None, typer.Option(help="board.json of a blind board, to be shown beside.")
    ] = None,
    transcripts: Annotated[str, typer.Option(help="Where Inspect's viewer lies, as the pages link it.")] = "",
) -> None:
    """Write the leaderboard of a suite: one folder in Arabic, Persian and English that opens from disk.

    Intervals, rank ranges, slices, every item with prompt, replies and readings; of blind splits no item.

    Example: mihakk evaluate site demo --out leaderboard
    """
    from datetime import UTC, datetime

    from evaluation.running.suites import load_suite, load_systems
    from releases.hub.load import named_folder
    from reports.leaderboard.site import Board, write_site

    chosen = load_suite(suite)
    systems = load_systems(chosen, [name for one in model or () for name in one.split(",") if name])
    answers = folder or Path("runs/evaluate") / chosen.name
    board = Board(chosen, systems, answers, named_folder, datetime.now(UTC).date(), blind, transcripts)
    written = write_site(board, out)
    console = open_console(soft_wrap=True)
    console.print(
        f"{written.systems:,} systems, {written.items:,} items in {written.files:,} files: "
        f"open {out}/index.html"
    )
    if written.sealed:
        console.print(f"{written.sealed:,} items of blind splits: only figures over many are shown")
