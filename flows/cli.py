"""`mihakk`: the command line over the pipeline; exit codes are those of `mihakk.errors`."""

from __future__ import annotations

import atexit
import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from mihakk.errors import MihakkError


class Commands(TyperGroup):
    """Turns the errors a person can act on into one message and the right exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; anything that is not a MihakkError is a bug and keeps its traceback."""
        try:
            return super().invoke(ctx)
        except MihakkError as error:
            label = {2: "Usage", 75: "Stopped, can be resumed"}.get(error.exit_code, "Failed")
            Console(stderr=True, soft_wrap=True).print(f"[bold red]{label}:[/] {escape(str(error))}")
            raise typer.Exit(error.exit_code) from None


app = typer.Typer(
    name="mihakk",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="""Checked, versioned benchmarks from Arabic and Persian poems, idioms, proverbs.

Two ways in, one pipeline:

  mihakk build BENCHMARK   sources → items → rules → audit → people → release
  mihakk audit FILE        an existing benchmark → the same → cleaned copy

Everything a run does is kept in the lake ([bold]MIHAKK_LAKE[/], or data/lake):
a run that was killed goes on where it stopped, and nothing that a model or a
person has answered is asked again.

Exit codes: 0 done · 1 a source changed or a gate failed · 2 a mistake you can
mend · 75 something outside failed: run the same command again later.""",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"mihakk {version('mihakk')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """What holds for every command."""


def _register() -> None:
    """Commands live in `flows/commands/`, one module per group; each imports its stage only when called."""
    from flows.commands import (
        audit,
        build,
        dashboard,
        doctor,
        items,
        listing,
        release,
        review,
        schedule,
        show,
        text,
    )

    for module in (build, audit, items, review, release, schedule, show, listing, dashboard, text, doctor):
        module.register(app)


_register()


def main() -> None:
    """Runs the command and ends the process with its exit code, whatever native libraries do at the end.

    Some (Arrow among them) now and then abort in their clean-up, when all is written and told: a schedule
    would take that for a failed run. So the last of Python's exit handlers ends the process itself.
    """
    code: int | None = None

    def leave() -> None:
        if code is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    atexit.register(leave)
    try:
        app()
    except SystemExit as end:
        if isinstance(end.code, int | None):
            code = end.code or 0
        raise


if __name__ == "__main__":
    main()
