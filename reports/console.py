"""The console that commands print on."""

from __future__ import annotations

import os

from rich.console import Console

PIPED_COLUMNS = 200
"""Columns of a table that goes to a file or a pipe, where Rich takes 80 and cuts what is wider."""
_quiet = False


def set_quiet(quiet: bool) -> None:
    """Whether consoles opened from now on print nothing; errors, warnings and JSON are printed anyhow."""
    global _quiet  # noqa: PLW0603 (one command line has one setting)
    _quiet = quiet


def open_console(
    *, stderr: bool = False, soft_wrap: bool = False, markup: bool = True, highlight: bool = True
) -> Console:
    """A console that cuts nothing off where its output is piped, as cron and log collectors do it."""
    console = Console(stderr=stderr, soft_wrap=soft_wrap, markup=markup, highlight=highlight, quiet=_quiet)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_COLUMNS
    return console
