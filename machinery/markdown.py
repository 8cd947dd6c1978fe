"""Markdown that says what the data says and no more: words of sources stay words, whatever is in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], object]]
"""Headings, each with what a row says under it."""

_MARKED = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])")
"""An underscore within a word is none to Markdown; names of configs stay readable."""
_ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what follows."""
_ADDRESS = re.compile(r"https?://[^\s()<>\[\]\"'`\\]+")


def one_line(text: object) -> str:
    """Text from a source or config in one line, where nothing is marked up, e.g. in a mail."""
    return " ".join(_UNSEEN.sub("", str(text)).split())


def plain(text: object) -> str:
    """The same as words that Markdown shows as they are."""
    return _MARKED.sub(r"\\\g<0>", one_line(text)).translate(_ENTITIES)


def code(text: object) -> str:
    """An id or name between backticks."""
    line = " ".join(_UNSEEN.sub("", str(text)).split())
    return f"`{line.replace('`', chr(39))}`"


def link(text: object, address: str) -> str:
    """Words that lead to a page of the web; plain words where the address is none."""
    return f"[{plain(text)}]({address})" if _ADDRESS.fullmatch(address) else plain(text)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of cells that are Markdown themselves; `|` inside a cell is escaped."""

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), "|" + " --- |" * len(head), *(line(row) for row in rows)])


def table_of(columns: Columns[Row], rows: Iterable[Row]) -> str:
    """A table of rows, by the headings of its columns."""
    return table(tuple(columns), ([cell(row) for cell in columns.values()] for row in rows))
