"""The console that commands print on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import to_json
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

PIPED_COLUMNS = 200
"""Columns of a table that goes to a file or a pipe, where Rich takes 80 and cuts what is wider."""


def print_json(value: Any) -> None:
    """Prints one JSON document; text for people goes to standard error beside it.

    Records and data classes become objects, paths and moments text, numbers that are none null.
    """
    sys.stdout.write(to_json(value, indent=2, inf_nan_mode="null").decode() + "\n")


def open_console(*, stderr: bool = False, soft_wrap: bool = False, markup: bool = True) -> Console:
    """A console that cuts nothing off where its output is piped, as cron and log collectors do it.

    It colours no numbers and paths by itself: Rich's patterns for them take quadratic time on foreign text.
    """
    console = Console(stderr=stderr, soft_wrap=soft_wrap, markup=markup, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_COLUMNS
    return console


def print_result(value: Any, text: RenderableType, *, as_json: bool) -> None:
    """Prints what a command found: the value as JSON, or the text for people."""
    if as_json:
        print_json(value)
    else:
        open_console(soft_wrap=isinstance(text, str)).print(text)


def rows_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """Some fields of rows as a table; numbers with thousands set apart, text as it is."""
    table = Table(*(name.replace("_", " ") for name in columns))
    for row in rows:
        cells = (row[name] for name in columns)
        table.add_row(*(f"{cell:,}" if type(cell) is int else escape(str(cell)) for cell in cells))
    return table
