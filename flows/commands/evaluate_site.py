"""`mihakk evaluate site`: a suite's results as static pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import AsJson, SuiteFolder, SuiteName, Systems
from reports.console import open_console, print_json


def site(
    suite: SuiteName,
    out: Annotated[Path, typer.Option(help="Folder to write; a leaderboard that lies there is replaced.")],
    model: Systems = None,
    folder: SuiteFolder = None,
    blind: Annotated[
        Path | None, typer.Option(help="board.json of a blind board, to be shown beside.")
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(help="Suite's folder on the version before: how ranks moved since, and by which items."),
    ] = None,
    transcripts: Annotated[str, typer.Option(help="Where Inspect's viewer lies, as the pages link it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write the leaderboard of a suite: one folder in Arabic, Persian and English that opens from disk.

    Intervals, rank ranges, slices, every item with prompt, replies and readings; of blind splits no item.

    Example: mihakk evaluate site demo --out leaderboard
    """
    from datetime import UTC, datetime

    from evaluation.running.suites import open_suite
    from releases.hub.load import named_folder
    from reports.leaderboard.site import Board, write_site

    chosen, systems, answers = open_suite(suite, model, folder)
    board = Board(
        chosen, systems, answers, named_folder, datetime.now(UTC).date(), blind, before, transcripts
    )
    written = write_site(board, out)
    if as_json:
        print_json(written._asdict())
        return
    console = open_console(soft_wrap=True)
    console.print(
        f"{written.systems:,} systems, {written.items:,} items in {written.files:,} files: "
        f"open {out}/index.html"
    )
    if written.sealed:
        console.print(f"{written.sealed:,} items of blind splits: only figures over many are shown")
