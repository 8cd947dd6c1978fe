"""`mihakk why`: one item, record, source row or text through all runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Lake, OfBenchmark
from mihakk.reports.console import print_result


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(why)


def why(
    asked: Annotated[
        str, typer.Argument(metavar="ID|TEXT|SOURCE:ROW", help="An item, a record, a row, or words of one.")
    ],
    config: OfBenchmark = Path("demo"),
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Say what became of an item, a record or a row of a source, run by run, also of what is gone.

    A text is found in any spelling. People are named by pseudonym; what they wrote is not shown.

    Example: mihakk why hafez:1
    """
    from mihakk.pipeline.build import open_build
    from mihakk.reports.why.history import lines
    from mihakk.reports.why.history import why as answer_of

    answer = answer_of(open_build(config, lake=lake), asked, str(config))
    print_result(answer, escape("\n".join(lines(answer))), as_json=as_json)
