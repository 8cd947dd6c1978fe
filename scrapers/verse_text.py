"""Poems in plain text: one file a poem, or many in a file, hemistichs in one line or one below the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from mihakk.machinery.errors import UsageError
from mihakk.schemas.record import Record
from mihakk.scrapers.mapping import field_of
from mihakk.scrapers.tables import Row, damage, text_lines

SUFFIXES = (".txt", ".text", ".md")
_LETTER = re.compile(r"[^\W\d_]")
_LABEL = re.compile(r"\W{0,3}([^\W\d_][^:：\n]{0,24}?) ?[:：] ?(\S.*)")
_HEAD = re.compile(r"#{1,6} +(.*)")
_HALVES = ("couplets", "hemistichs", "lines", "first", "second")


class VerseText(Record):
    """How poems stand in plain text."""

    poems: Literal["file", "blank_lines", "marks"] = "file"
    """What parts poems: nothing but the file's end, blank lines, or lines without a letter (`***`, `12`)."""
    title: Literal["none", "first_line", "line_above"] = "none"
    """Where a poem's title stands: nowhere, in its first line, or in a block of one line above its verse."""
    between: str = ""
    """What parts two hemistichs in one line; empty: tabs, wide gaps, stars, slashes and the like."""


def read_poems(path: Path, how: VerseText, encoding: str = "auto") -> Iterator[Row]:
    """A row for each poem of a text, with `hemistichs`, `title` and what lines such as `الشاعر: ...` say.

    Raises:
        UsageError: The file is not in that encoding.
    """
    for block in _poems(list(enumerate(text_lines(path, encoding), start=1)), how):
        number = block[0][0]
        if problem := next(filter(None, (damage(line) for _, line in block)), None):
            yield Row(number, {}, problem)
            continue
        yield Row(number, _fields([line for _, line in block], how))


def _poems(lines: list[tuple[int, str]], how: VerseText) -> Iterator[list[tuple[int, str]]]:
    """The numbered lines of each poem."""
    if how.poems == "file":
        whole = [(number, line.strip("\r\n")) for number, line in lines if line.strip()]
        yield from [whole] if whole else []
        return
    pending: list[tuple[int, str]] = []
    for block in _blocks(lines, how):
        if how.title == "line_above" and len(block) == 1 and not pending:
            pending = block
            continue
        yield pending + block
        pending = []
    if pending:
        yield pending


def _blocks(lines: Iterable[tuple[int, str]], how: VerseText) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in lines:
        blank = not line.strip()
        if blank if how.poems == "blank_lines" else not blank and not _LETTER.search(line):
            if block:
                yield block
            block = []
        elif not blank:
            block.append((number, line.strip("\r\n")))
    if block:
        yield block


def _fields(lines: list[str], how: VerseText) -> dict[str, Any]:
    """Of one poem: its title and labels, which stand above its verse, and its rows."""
    found: dict[str, Any] = {}
    rows = list(lines)
    if how.title != "none" and len(rows) > 1:
        head = rows.pop(0).strip()
        found["title"] = marked[1] if (marked := _HEAD.fullmatch(head)) else head
    while len(rows) > 1 and (label := label_of(rows[0])):
        found[label[0]] = label[1]
        rows.pop(0)
    if how.between:
        halves = [[half.strip() for half in row.split(how.between) if half.strip()] for row in rows]
        if all(len(both) == 2 for both in halves):
            return found | {"couplets": halves}
    return found | {"hemistichs": rows}


def label_of(line: str) -> tuple[str, str] | None:
    """Field and value of a line such as `الشاعر: المتنبي`; None for verse."""
    if not (match := _LABEL.fullmatch(line.strip())):
        return None
    field = field_of("poem", match[1])
    return (field, match[2].strip()) if field and field not in _HALVES else None


def texts(folder: Path, files: Iterable[Path]) -> list[Path]:
    """The plain texts among files.

    Raises:
        UsageError: There are none.
    """
    if found := [path for path in files if path.suffix.lower() in SUFFIXES]:
        return found
    raise UsageError(f"{folder} holds no file with one of the suffixes {', '.join(SUFFIXES)}")
