"""`mihakk evaluate items`, `moves`: what items are worth, and what changed items do to ranks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mihakk.flows.commands.evaluate_import import names_file, results_of
from mihakk.flows.commands.evaluate_suspects import scores_in
from mihakk.flows.commands.options import AsJson, Csv
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    import pandas as pd

    from mihakk.evaluation.joining import Joined

Form = Annotated[Literal["terminal", "markdown"], typer.Option("--format", help="How it is printed.")]


def items(
    files: Annotated[
        list[Path],
        typer.Argument(help="Folders of imported results or of suites, or files that show their questions."),
    ],
    csv: Csv = None,
    form: Form = "terminal",
    as_json: AsJson = False,
) -> None:
    """Show what each item is worth: difficulty, discrimination; dead, inverted and redundant ones; KR-20.

    Example: mihakk evaluate items results --csv items.csv
    """
    from mihakk.evaluation.table.render import markdown, terminal
    from mihakk.evaluation.table.worth import worth, worth_sheets

    frame, notes = _frame(files)
    found = worth(frame, notes)
    if csv:
        csv.parent.mkdir(parents=True, exist_ok=True)
        found.items.to_csv(csv, index=False)
        typer.echo(csv, err=True)
    if as_json:
        print_json(found.rows())
    elif form == "terminal":
        open_console().print(terminal(worth_sheets(found), found.notes))
    else:
        print(markdown(worth_sheets(found), found.notes), end="")


def moves(
    before: Annotated[
        Path,
        typer.Argument(help="Folder of a suite or of imported results, or a file that shows its questions."),
    ],
    after: Annotated[
        Path | None, typer.Argument(help="The same on the newer version; none with --without or --corrected.")
    ] = None,
    without: Annotated[
        Path | None,
        typer.Option(help="Items to remove: a file of ids, or a table with a column item or id."),
    ] = None,
    corrected: Annotated[
        Path | None,
        typer.Option(help="Items with another gold: a table with columns item (or id) and gold."),
    ] = None,
    form: Form = "terminal",
    as_json: AsJson = False,
) -> None:
    """Show how figures and ranks move between two versions, or without some rows, and which moves are noise.

    Differences are split: other answers, items that are gone, corrected items, new items.

    Example: mihakk evaluate moves results --without wrong_rows.txt
    """
    from mihakk.evaluation.table.moves import move_sheets
    from mihakk.evaluation.table.moves import moves as compare
    from mihakk.evaluation.table.render import markdown, terminal
    from mihakk.evaluation.table.scores import without_items

    if (after is None) == (without is None and corrected is None):
        raise UsageError(
            "name the newer version, or the rows that change: --without FILE or --corrected FILE"
        )
    if after is not None:
        (old, left), (new, right) = _frame([before]), _frame([after])
        notes = tuple(dict.fromkeys((*left, *right)))
    else:
        from mihakk.evaluation.changed_items import correct, read_corrections, read_items

        old, notes = _frame([before])
        new = old
        if corrected is not None:
            new = _scores(correct(results_of([before]), read_corrections(corrected)))[0]
        if without is not None:
            new = without_items(new, read_items(without), str(without))
    found = compare(old, new)
    sheets = move_sheets(found)
    if as_json:
        systems_, items_ = ([one._asdict() for one in rows] for rows in (found.systems, found.items))
        pairs = [
            {
                name: part._asdict() if hasattr(part, "_asdict") else part
                for name, part in one._asdict().items()
            }
            | {"verdict": one.verdict}
            for one in found.turned
        ]
        head = {"between": found.between, "notes": notes}
        print_json({**head, "systems": systems_, "items": items_, "turned": pairs})
    elif form == "terminal":
        open_console().print(terminal(sheets, notes))
    else:
        print(markdown(sheets, notes), end="")


def _frame(files: list[Path]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Scores of a suite as they lie there; of results of others, made now on what all systems answered."""
    from mihakk.evaluation.imported import imported_in
    from mihakk.evaluation.table import load_scores

    if not imported_in(files[0]) and _has_scores(files[0]):
        return load_scores([one for path in files for one in scores_in(path)]), ()
    return _scores(results_of(files))


def _has_scores(path: Path) -> bool:
    """Whether it holds a suite's scores, or is no path at all, but may be the name of a suite."""
    from mihakk.evaluation.incoming.head import Head

    if path.is_dir():
        return any(path.glob("scores.parquet")) or any(path.glob("*/scores.parquet"))
    if not path.exists():
        return not names_file(path)
    return {"scorer", "signature", "value"} <= Head(path).names


def _scores(joined: Joined) -> tuple[pd.DataFrame, tuple[str, ...]]:
    from mihakk.evaluation.results import score_frame
    from mihakk.evaluation.table.scores import answered_by_all

    return answered_by_all(score_frame(joined))
