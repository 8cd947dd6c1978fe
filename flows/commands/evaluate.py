"""`mihakk evaluate`: replies of systems to scores, scores to tables, and anybody's table checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from mihakk.flows.commands.evaluate_analyse import analyse
from mihakk.flows.commands.evaluate_blind import score, submit
from mihakk.flows.commands.evaluate_import import import_, rescore
from mihakk.flows.commands.evaluate_items import items, moves
from mihakk.flows.commands.evaluate_publish import publish, site
from mihakk.flows.commands.evaluate_run import export, judge, run, vouch
from mihakk.flows.commands.evaluate_suspects import auditors, scores_in, suspects
from mihakk.flows.commands.evaluate_team import register_in
from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    evaluate = typer.Typer(help="Replies of systems to scores, scores to tables; anybody's table checked.")
    evaluate.command(name="import")(import_)
    for command in (run, judge, vouch, suspects, auditors, items, moves, analyse, rescore, table, lint):
        evaluate.command()(command)
    for shared in (export, site, publish, submit, score):
        evaluate.command()(shared)
    register_in(evaluate)
    app.add_typer(evaluate, name="evaluate")


def table(
    scores: Annotated[
        list[Path], typer.Argument(help="Files of scores, or folders of systems or suites that have them.")
    ],
    form: Annotated[
        Literal["terminal", "markdown", "latex"], typer.Option("--format", help="How it is printed.")
    ] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as Parquet files.")] = None,
    by: Annotated[str, typer.Option(help="Slice every data set by this fact: era, genre, metre, ...")] = "",
    category: Annotated[
        list[str] | None, typer.Option(help="NAME=TASK+TASK: what is averaged together; may be repeated.")
    ] = None,
    main: Annotated[
        list[str] | None,
        typer.Option(help="TASK=METRIC: what stands for a task in averages; may be repeated."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="CONFIG=CONFIG: each system's first less its second on the same records."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of bootstraps and permutations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare systems by their scores: intervals, paired differences, rank intervals, what was not read.

    Example: mihakk evaluate table runs/evaluate/demo --format markdown
    """
    from mihakk.evaluation.table import load_scores, results, sliced
    from mihakk.evaluation.table.conditions import condition_sheet, conditions
    from mihakk.evaluation.table.overall import Averaging
    from mihakk.evaluation.table.render import latex, markdown, terminal
    from mihakk.evaluation.table.sheets import sheets

    files = [file for path in scores for file in scores_in(path)]
    frame = load_scores(files)
    categories = {name: tasks.split("+") for name, tasks in _pairs(category, "--category").items()}
    averaging = Averaging(categories, _pairs(main, "--main"))
    found = results(sliced(frame, by), None, seed=seed) if by else results(frame, averaging, seed=seed)
    shown = sheets(found)
    rows = conditions(frame, list(_pairs(compare, "--compare").items()), seed=seed) if compare else []
    if compare:
        shown.append(condition_sheet(rows))
    if as_json:
        print_json(found.rows() | {"conditions": rows})
    elif form == "terminal":
        open_console().print(terminal(shown, found.notes))
    else:
        print((markdown if form == "markdown" else latex)(shown, found.notes), end="")
    if out:
        for path in found.write(out):
            typer.echo(path, err=True)


def lint(
    file: Annotated[Path, typer.Argument(help="A table of results: .csv, .tsv, .md or .json.")],
    items: Annotated[
        list[str] | None,
        typer.Option(
            "--n",
            help="Number of items, or COLUMN=NUMBER; worked out from the figures where they give it away.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check anybody's table of results for impossible figures; exit 1 where there is one.

    Figures that no number of items gives, errors that don't follow from them, means that are none, equal
    rows and columns. The first column holds names; a row or column called Average is taken for a mean.

    Example: mihakk evaluate lint results.csv --n 500
    """
    from mihakk.evaluation.lint import lint as check
    from mihakk.evaluation.lint import read_grids
    from mihakk.evaluation.lint.checks import inferred_sizes

    stated = [one if "=" in one else f"={one}" for one in items or ()]
    sizes = {name: _whole(number) for name, number in _pairs(stated, "--n").items()}
    console = open_console(soft_wrap=True, stderr=as_json)
    count = 0
    tables = []
    for grid in read_grids(file):
        findings = check(grid, sizes)
        count += len(findings)
        tables.append({"table": grid.title, "findings": findings})
        console.print(f"[bold]{escape(grid.title)}[/]: {len(grid.rows)} rows, {len(grid.columns)} columns")
        for name, size in inferred_sizes(grid).items():
            console.print(f"  {name}: its figures fit {size.items} items", style="dim", markup=False)
        for finding in findings:
            console.print(f"  {finding.check} {finding.where}: {finding.detail}", markup=False)
        if not findings:
            console.print("  nothing found", style="green")
    if as_json:
        print_json(tables)
    raise typer.Exit(1 if count else 0)


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for text in texts or ():
        name, mark, value = text.rpartition("=")
        if not mark or not value:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        found[name] = value
    return found


def _whole(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 2:
        raise UsageError(f"--n {text!r}: a number of items is a whole number from 2 to 999999999")
    return int(text)
