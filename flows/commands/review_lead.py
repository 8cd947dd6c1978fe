"""`mihakk review`: what the lead of a review needs to stay in control of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import Lake
from reports.console import open_console

Reviewed = Annotated[
    Path, typer.Argument(help="The benchmark's config or its name, or the folder of an external audit.")
]


def register(review: typer.Typer) -> None:
    """Adds the commands."""
    review.command()(void)


def void(
    config: Reviewed,
    which: Annotated[
        str, typer.Argument(help="annotator-NN, an e-mail address, or a decision_id of `review export`.")
    ],
    why: Annotated[str, typer.Option(help="The reason; it is kept with each decision.")],
    lake: Lake = None,
) -> None:
    """Take back one decision, or all that a person has made so far; nothing is deleted.

    No figure and no build counts them any more, and the next `review pull` opens the items for others.
    What the person decides afterwards counts.
    """
    from annotation.decisions.voiding import void as take_back
    from pipeline.opened_review import open_review

    opened = open_review(config, lake)
    with opened.locked():
        rows = take_back(opened.stores, which, why)
    open_console().print(
        f"{len(rows)} decisions count no longer. Open their items for others: mihakk review pull {config}"
    )
