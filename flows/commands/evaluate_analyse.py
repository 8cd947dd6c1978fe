"""`mihakk evaluate analyse`: what papers make of tables of figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mihakk.flows.commands.evaluate_items import Form
from mihakk.flows.commands.evaluate_suspects import scores_in
from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    import pandas as pd


def analyse(
    figures: Annotated[
        list[Path],
        typer.Argument(
            help="A table of figures (a row a system: .csv, .md, ...), or folders or files of scores."
        ),
    ],
    systems: Annotated[
        Path | None,
        typer.Option(help="A table with columns model, and parameters (thousand millions) or group."),
    ] = None,
    people: Annotated[
        Path | None, typer.Option(help="People's figures: a table with the rows and columns of FIGURES.")
    ] = None,
    form: Form = "terminal",
    as_json: AsJson = False,
) -> None:
    """Regress figures on size, average groups of systems, compare with people; shared errors, wrong picks.

    Of a printed table there are figures alone; shared errors and the origin of wrong picks need scores.

    Example: mihakk evaluate analyse data/reference/published/kn_09.csv --systems systems.csv
    """
    from mihakk.evaluation.table import analyses, load_scores
    from mihakk.evaluation.table.render import markdown, terminal

    found: dict[str, pd.DataFrame] = {}
    if len(figures) == 1 and figures[0].is_file() and figures[0].suffix != ".parquet":
        table = _printed(figures[0])
    else:
        scores = load_scores([path for one in figures for path in scores_in(one)])
        table = analyses.figures_of_scores(scores)
        found = {"overlap": analyses.error_overlap(scores), "origins": analyses.wrong_origins(scores)}
    if systems is not None:
        facts = _facts(systems)
        sizes = {name: float(row["parameters"]) for name, row in facts.items() if row.get("parameters")}
        found["size"] = analyses.size_effects(table, sizes)
        groups = {name: row["group"] for name, row in facts.items() if row.get("group")}
        found["groups"] = analyses.group_means(table, groups)
    if people is not None:
        pairs = table.merge(_printed(people).rename(columns={"figure": "people"}), on=["model", "column"])
        if pairs.empty:
            raise UsageError(f"{people} has no system and column of {figures[0]}: give them the same names")
        found["people"] = analyses.with_people(pairs)
    if not any(map(len, found.values())):
        raise UsageError("nothing to analyse: add `--systems` or `--people`, or name scores of choices")
    if as_json:
        print_json({name: frame.to_dict("records") for name, frame in found.items()})
    elif form == "terminal":
        open_console().print(terminal(analyses.analysis_sheets(found), ()))
    else:
        print(markdown(analyses.analysis_sheets(found), ()), end="")


def _printed(path: Path) -> pd.DataFrame:
    """`model`, `column`, `figure` of a table's plain rows and columns."""
    import pandas as pd

    from mihakk.evaluation.lint import read_grids

    rows = [
        (grid.rows[row], grid.columns[place], cell.value)
        for grid in read_grids(path)
        for row in grid.plain_rows
        for place in grid.plain_columns
        if (cell := grid.cells[row][place]) is not None
    ]
    return pd.DataFrame(rows, columns=["model", "column", "figure"])


def _facts(path: Path) -> dict[str, dict[str, str]]:
    """System to its row."""
    from mihakk.scrapers.tables import read_rows

    rows = [row.fields for row in read_rows(path)]
    if not rows or "model" not in rows[0] or not {"parameters", "group"} & rows[0].keys():
        raise UsageError(f"{path} needs a column `model`, and `parameters` or `group`")
    return {row["model"]: row for row in rows}
