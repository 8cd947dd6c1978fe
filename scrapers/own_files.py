"""What somebody's own files are: proposals for a config's sources, each with what speaks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mihakk.machinery.errors import UsageError
from mihakk.scrapers.own_proposal import Found, those_that_can
from mihakk.scrapers.own_tables import layout_of, of_table, sheets_to_read
from mihakk.scrapers.own_texts import of_texts
from mihakk.scrapers.place import readable
from mihakk.scrapers.tables import FORMATS
from mihakk.scrapers.trial import OTHER
from mihakk.scrapers.verse_text import SUFFIXES


def look(paths: Sequence[Path]) -> list[Found]:
    """A source for each kind of file among files and folders.

    Raises:
        UsageError: Nothing there can be read, or one file can't, with what to do.
    """
    files = [file for path in paths for file in ([path] if path.is_file() else readable(path))]
    texts = [file for file in files if file.suffix.lower() in SUFFIXES]
    tables = [file for file in files if file.suffix.lower() in FORMATS]
    if not texts and not tables:
        names = ", ".join(sorted({file.suffix or file.name for file in files})) or "no file"
        fix = {OTHER.get(file.suffix.lower()) for file in files} - {None}
        raise UsageError(
            f"{', '.join(map(str, paths))}: {names}: no table and no plain text"
            + (f"; save as {' or '.join(sorted(map(str, fix)))}" if fix else f" ({', '.join(FORMATS)}, .txt)")
        )
    where = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
    tries: list[Callable[[], list[Found]]] = [lambda: [of_texts(texts, where)]] if texts else []
    if where and _alike(tables):
        tries.append(lambda: [of_table(tables[0], sheets_to_read(tables[0])[0], where)])
    else:
        tries += [partial(_of_sheets, file) for file in tables]
    if where is None:
        return [found for one in tries for found in one()]
    other = [file for file in files if file not in (*texts, *tables)]
    told = [
        f"{file.name}: save as {OTHER[file.suffix.lower()]}" for file in other if file.suffix.lower() in OTHER
    ]
    return those_that_can(tries, told)


def _of_sheets(file: Path) -> list[Found]:
    """A source for each sheet of a workbook with a header of its own, or for the table that a file is."""
    return those_that_can([partial(_sheet, file, sheet) for sheet in sheets_to_read(file)])


def _sheet(file: Path, sheet: str) -> list[Found]:
    return [of_table(file, sheet)]


def _alike(tables: Sequence[Path]) -> bool:
    """Several tables with the same header."""
    try:
        single = all(len(sheets_to_read(file)) == 1 for file in tables)
        headers = {tuple(layout_of(file)[1]) for file in tables} if single else set()
    except UsageError:
        return False
    return len(tables) > 1 == len(headers)
