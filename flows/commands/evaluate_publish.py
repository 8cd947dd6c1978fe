"""`mihakk evaluate site`, `publish`: a suite's results as pages, and in the forms that others read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mihakk.flows.commands.options import AsJson, SuiteFolder, SuiteName, Systems
from mihakk.reports.console import open_console, print_json


def publish(
    suite: SuiteName,
    out: Annotated[Path, typer.Option(help="Folder to write; it must be empty or not there.")],
    model: Systems = None,
    folder: SuiteFolder = None,
    source: Annotated[str, typer.Option(help="Address that result files name as their source.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write a suite's outputs as a data set, its figures as result files for the Hub and as shared records.

    OUT/outputs is a data set with a card, OUT/hub holds .eval_results/SUITE.yaml for each system,
    OUT/every_eval_ever the records of that format. Of blind splits no reply and no item's score is written.

    Example: mihakk evaluate publish demo --out published
    """
    from datetime import UTC, datetime

    from mihakk.evaluation.exchange.every_eval_ever import write_records
    from mihakk.evaluation.exchange.hub_results import write_hub_results
    from mihakk.evaluation.exchange.outputs import write_outputs
    from mihakk.evaluation.report import prompts_of, results_of, score_files
    from mihakk.evaluation.running.asking import sealed_items
    from mihakk.evaluation.running.suites import open_suite
    from mihakk.evaluation.table import load_scores
    from mihakk.releases.hub.load import named_folder, require_empty

    require_empty(out)
    chosen, systems, answers = open_suite(suite, model, folder)
    scores = load_scores(score_files(answers, systems))
    found = results_of(chosen, scores)
    sealed = sealed_items(chosen, named_folder)
    asked = prompts_of(chosen, named_folder, sealed)
    day = datetime.now(UTC).date()
    written = write_outputs(chosen, systems, answers, sealed, out / "outputs")
    files = write_hub_results(chosen, systems, found, out / "hub", day=day, source=source)
    shared = out / "every_eval_ever"
    records = write_records(chosen, systems, found, asked, folder=answers, out=shared, sealed=sealed, day=day)
    if as_json:
        told = {"folder": str(out), "answers": written, "result_files": files, "records": records}
        print_json(told | {"sealed_items": len(sealed)})
        return
    console = open_console(soft_wrap=True)
    console.print(f"{written:,} answers in {out}/outputs, {files:,} result files, {records:,} shared records")
    if not files:
        console.print(
            "no result files: these are for releases on the Hub, named owner/name@version in the suite"
        )
    if sealed:
        console.print(f"{len(sealed):,} items of blind splits: their replies and scores are not included")


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

    from mihakk.evaluation.running.suites import open_suite
    from mihakk.releases.hub.load import named_folder
    from mihakk.reports.leaderboard.site import Board, write_site

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
