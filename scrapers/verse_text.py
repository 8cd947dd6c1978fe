"""Poems in plain text: one file a poem, or many in a file, hemistichs in one line or one below the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from mihakk.machinery.errors import UsageError
from mihakk.schemas.record import Record
from mihakk.scrapers.mapping import field_of
from mihakk.scrapers.place import readable
from mihakk.scrapers.tables import Row, damage, text_lines

SUFFIXES = (".txt", ".text", ".md")
_LETTER = re.compile(r"[^\W\d_]")
_LABEL = re.compile(r"\W{0,3}([^\W\d_][^:：\n]{0,24}?) ?[:：] ?(\S.*)")
_HEAD = re.compile(r"#{1,6} +(.*)")
_HEADING = re.compile(r"\W*(?:غزل|قصيدة|قصيده|قصیده|رباعی|رباعي|قطعة|قطعه|ghazal|poem|sonnet)(?!\w)", re.I)
_HEADING_LETTERS = 24
_NUMBERED = (
    re.compile(r"\W{0,2}(\d{1,3})[\W_]{0,4}(?=[^\W\d_])"),
    re.compile(r"(?<=[^\W\d_])[^\w]{1,6}(\d{1,3})\W{0,2}\Z"),
)
"""A number before or behind a row."""
_METRE = re.compile(r"\W*(?:ال)?بحر[:：\s]\W*((?:[^\W\d_]+\s?){1,2})\W*")
"""`[البحر الطويل]`, `بحر رمل`: nothing else in the line."""
_HALVES = ("couplets", "hemistichs", "lines", "first", "second")


class VerseText(Record):
    """How poems stand in plain text."""

    poems: Literal["file", "blank_lines", "two_blank_lines", "marks", "headings"] = "file"
    """What parts poems: nothing but the file's end, blank lines, two or more of them, lines without a letter
    (`***`, `12`), or a heading above each (`غزل ۱۲`, `12`, `# name`;
    what stands above the first is rejected)."""
    title: Literal["none", "first_line", "line_above", "heading"] = "none"
    """Where a poem's title stands: nowhere, in its first line, in a block of one line above its verse, or in
    the first line of those poems that begin with a heading."""
    poet: Literal["none", "above_title", "below_title"] = "none"
    """Whether a line beside the title names the poet."""
    between: str = ""
    """What parts two hemistichs in one line; empty: tabs, wide gaps, stars, slashes and the like."""
    drop: tuple[str, ...] = ()
    """Whole lines that are no verse, wherever they stand: a poet's name below each poem, a running foot."""


def read_poems(path: Path, how: VerseText, encoding: str = "auto") -> Iterator[Row]:
    """A row for each poem of a text, with `hemistichs`, `title` and what lines such as `الشاعر: ...` say.

    Raises:
        UsageError: The file is not in that encoding.
    """
    lines = enumerate(text_lines(path, encoding), start=1)
    for block in _poems([one for one in lines if one[1].strip() not in how.drop], how):
        number = block[0][0]
        if how.poems == "headings" and not is_heading(block[0][1]):
            text = " / ".join(line.strip() for _, line in block)
            yield Row(number, {}, ("above_headings", f"stands above the first heading: {text[:120]!r}"))
            continue
        if problem := next(filter(None, (damage(line) for _, line in block)), None):
            yield Row(number, {}, problem)
            continue
        # What stands right above its second line is verse, and no line above the verse.
        apart = len(block) > 1 and block[1][0] > number + 1
        titled = apart or how.title != "line_above" or how.poet != "none"
        yield Row(number, _fields([line for _, line in block], how, titled=titled))


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
    blanks = 0
    for number, line in lines:
        blanks = 0 if line.strip() else blanks + 1
        if how.poems in ("blank_lines", "two_blank_lines"):
            parts = blanks >= (1 if how.poems == "blank_lines" else 2)
        elif how.poems == "headings":
            parts = is_heading(line)
        else:
            parts = not blanks and not _LETTER.search(line)
        if parts and block:
            yield block
            block = []
        if not blanks and (not parts or how.poems == "headings"):
            block.append((number, line.strip("\r\n")))
    if block:
        yield block


def is_heading(line: str) -> bool:
    """A line that heads a poem: `# name`, a number alone, few words with a number or of a kind of poem."""
    line = line.strip()
    if _HEAD.fullmatch(line):
        return True
    if len(_LETTER.findall(line)) > _HEADING_LETTERS or len(line.split()) > 4:
        return False
    return any(map(str.isdecimal, line)) or bool(_HEADING.match(line))


def _fields(lines: list[str], how: VerseText, *, titled: bool) -> dict[str, Any]:
    """Of one poem: its title and labels, which stand above its verse, and its rows."""
    found: dict[str, Any] = {}
    rows = [line.strip() for line in lines]
    if titled and how.title != "none" and (how.title != "heading" or is_heading(rows[0])):
        heads = ["title"] if how.poet == "none" else ["poet", "title"]
        for name in reversed(heads) if how.poet == "below_title" else heads:
            if len(rows) > 1:
                head = rows.pop(0)
                found[name] = _head(head)
    while len(rows) > 1 and (label := label_of(rows[0])):
        found[label[0]] = label[1]
        rows.pop(0)
    rows = _without_numbers(rows)
    if how.between:
        halves = [[half.strip() for half in row.split(how.between) if half.strip()] for row in rows]
        if all(len(both) == 2 for both in halves):
            return found | {"couplets": halves}
    return found | {"hemistichs": rows}


def _head(line: str) -> str:
    """A title without what marks it as one: `# name`, `--- 12 ---`."""
    if marked := _HEAD.fullmatch(line):
        return marked[1]
    return line if _LETTER.search(line) else re.sub(r"\A\W+|\W+\Z", "", line)


def _without_numbers(rows: list[str]) -> list[str]:
    """Rows without the numbers that count all of them, or every second one, from 1 on."""
    for pattern in _NUMBERED:
        found = [pattern.search(row) if pattern is _NUMBERED[1] else pattern.match(row) for row in rows]
        for step in (1, 2):
            places = [at for at, one in enumerate(found) if one]
            first = places[0] if places else 0
            counted = first < step and places == list(range(first, len(rows), step)) and len(places) > 1
            numbers = [int(one[1]) for one in found if one]
            if counted and numbers == list(range(1, len(places) + 1)):
                rows = [
                    row[: one.start()] + row[one.end() :] if one else row
                    for row, one in zip(rows, found, strict=True)
                ]
                break
    return rows


def label_of(line: str) -> tuple[str, str] | None:
    """Field and value of a line such as `الشاعر: المتنبي`; None for verse."""
    if metre := _METRE.fullmatch(line):
        return "metre", metre[1]
    if not (match := _LABEL.fullmatch(line.strip())):
        return None
    field = field_of("poem", match[1])
    return (field, match[2].strip()) if field and field not in _HALVES else None


def texts(folder: Path) -> list[Path]:
    """The plain texts in a folder.

    Raises:
        UsageError: There are none.
    """
    if found := [path for path in readable(folder) if path.suffix.lower() in SUFFIXES]:
        return found
    raise UsageError(f"{folder} holds no file with one of the suffixes {', '.join(SUFFIXES)}")
