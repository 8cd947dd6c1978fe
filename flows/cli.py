"""`mihakk`: the command line over the pipeline; exit codes are those of `mihakk.machinery.errors`."""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup
from typer.main import get_command_name
from typer.models import CommandInfo, TyperInfo

from mihakk.machinery.errors import MihakkError, MihakkWarning
from mihakk.machinery.settings import extra_of, install_command


class Terminated(KeyboardInterrupt):
    """SIGTERM, which service managers and schedulers send: it ends a run as Ctrl+C does, with its record."""


FIRST = (
    *("audit", "new", "build", "show", "why", "report", "review", "release", "diff"),
    *("evaluate", "serve", "doctor"),
)
"""The commands that the book (docs/book) is made of, in its order: the help begins with them."""


class Commands(TyperGroup):
    """Turns the errors a person can act on into one message and the right exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The book's commands first, in its order."""
        names = super().list_commands(ctx)
        return [*(name for name in FIRST if name in names), *(name for name in names if name not in FIRST)]

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; anything that is not a MihakkError is a bug and keeps its traceback."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", MihakkWarning)
                warnings.showwarning = _one_line(warnings.showwarning)
                return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
            _errors().print(
                f"[bold red]Interrupted:[/] stopped by {number.name}; what is finished is kept. "
                "Run the same command again to go on."
            )
            raise typer.Exit(128 + number) from None
        except MihakkError as error:
            label = {2: "Usage", 75: "Stopped, can be resumed"}.get(error.exit_code, "Failed")
            _errors().print(f"[bold red]{label}:[/] {escape(str(error))}")
            raise typer.Exit(error.exit_code) from None
        except ModuleNotFoundError as error:
            extra = extra_of(error.name or "")
            if extra is None:
                raise
            _errors().print(
                f"[bold red]Usage:[/] this needs the package of `{error.name}`: "
                + escape(f"run `{install_command(extra)}`")
            )
            raise typer.Exit(2) from None
        except OSError as error:
            # A path that was given, or a full disk; files of the lake have errors of their own.
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if error.filename is None and not full:
                raise
            _errors().print(
                f"[bold red]{'Stopped, can be resumed' if full else 'Usage'}:[/] "
                + escape(f"{error.filename or 'the disk'}: {error.strerror}. ")
                + ("Make room and run the same command again." if full else "Name a path that can be used.")
            )
            raise typer.Exit(75 if full else 2) from None


def _errors() -> Console:
    """Prints whatever the settings are; Rich's highlighter would take quadratic time on foreign text."""
    return Console(stderr=True, soft_wrap=True, highlight=False)


def _one_line(others: Callable[..., None]) -> Callable[..., None]:
    """Shows our warnings as one line on standard error; those of libraries as before."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, MihakkWarning):
            _errors().print(f"[bold yellow]Warning:[/] {escape(str(message))}")
        else:
            others(message, category, *place, **more)

    return show


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
fix · 75 something outside failed: run the same command again later ·
130, 143 interrupted by SIGINT, SIGTERM: run it again to go on.""",
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


GROUPS = (
    *(
        "build",
        "new",
        "audit",
        "batch",
        "items",
        "review",
        "release",
        "overlay",
        "consume",
        "seal",
        "schedule",
        "show",
        "source",
    ),
    *("why", "runs", "lake", "listing", "dashboard", "doctor", "evaluate", "code"),
)
"""Modules of `flows/commands/` in the order of the help; each imports its stage only when called."""
for group in GROUPS:
    import_module(f"mihakk.flows.commands.{group}").register(app)
registered: list[CommandInfo | TyperInfo] = [*app.registered_commands, *app.registered_groups]
for info in registered:
    named = info.name or (info.callback and get_command_name(info.callback.__name__))
    info.rich_help_panel = "A first week" if named in FIRST else "More"


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
    _end_on_sigterm()
    for stream in (sys.stdout, sys.stderr):
        # What is printed is Arabic and Persian, whatever a schedule's locale (C, most often) says.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        app()
    except SystemExit as end:
        if isinstance(end.code, int | None):
            code = end.code or 0
        raise
    except Terminated:  # outside any command: nothing has begun, or all is done
        code = 128 + signal.SIGTERM
        raise SystemExit(code) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _end_on_sigterm() -> None:
    """SIGTERM ends this process as Ctrl+C does; workers that inherit the handler end at once, in silence."""
    here = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if os.getpid() != here:
            os._exit(128 + number)
        # The first one ends the run; one more would break off what it still writes down.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    signal.signal(signal.SIGTERM, end)


if __name__ == "__main__":
    main()
