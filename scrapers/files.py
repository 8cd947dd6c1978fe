"""Poems and idioms from the reader's own tables: jsonl, json, csv, tsv, xlsx, parquet, or a folder."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import orjson

from mihakk.machinery.errors import RecordRejected, SourceChanged, UsageError
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.mapping import RowIds, RowOptions, record, resolve_columns
from mihakk.scrapers.place import find, inside
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register
from mihakk.scrapers.table_signs import TableSigns, problems
from mihakk.scrapers.tables import FORMATS, read_rows


class FilesOptions(RowOptions):
    """Which file, and how it is read."""

    path: str
    """File or folder; a relative one is looked for in the working folder, then in the repository."""
    encoding: str = "auto"
    """Codec of a text file; `auto` takes UTF-8 where the bytes allow it, else cp1256."""
    sheet: str = ""
    """Of a workbook; the first when empty."""


def tables(path: Path) -> list[Path]:
    """The file itself, or every table in a folder, in the order of their names.

    Raises:
        UsageError: The folder holds none.
    """
    if path.is_file():
        return [path]
    found = [place for place in inside(path, "*") if place.suffix.lower() in FORMATS]
    if not found:
        raise UsageError(f"{path} holds no file with one of the suffixes {', '.join(FORMATS)}")
    return found


def scrape(options: FilesOptions, raw: RawStore) -> Iterator[Entry]:
    """Records of all rows, and a rejection for every row that can't be read.

    Raises:
        SourceChanged: Signs that the table was misread; all its rows were given before.
    """
    ids = RowIds(options)
    first = 0
    seen: list[TableSigns] = []
    for path in tables(find(options.path)):
        ids.next_table()
        seen.append(TableSigns(path.name))
        first += yield from _table(path, options, raw, ids, first=first, signs=seen[-1])
    if found := problems(seen, options.accept):
        raise SourceChanged("; ".join(found))


def _table(
    path: Path, options: FilesOptions, raw: RawStore, ids: RowIds, *, first: int, signs: TableSigns
) -> Generator[Entry, None, int]:
    """The records of one table; gives its last row's number, `first` is that of the tables before it."""
    digest = raw.keep_file(path)
    shapes: dict[tuple[str, ...], dict[str, str]] = {}
    last = 0
    for row in read_rows(path, options.encoding, options.sheet):
        last = row.number
        place = f"file:{path.name}#{row.number}"
        try:
            if row.problem is not None:
                raise RecordRejected(*row.problem)
            columns = _columns(path, options, tuple(row.fields), shapes)
            signs.look(row, columns)
        except RecordRejected as error:
            detail = f"{place}: {error.detail}"
            body = orjson.dumps(row.fields, default=str).decode() if row.fields else ""
            yield Rejection(record=place, reason=error.reason, detail=detail, body=body)
            continue
        yield from record(
            options.kind,
            row.fields,
            columns,
            defaults={"language": options.language},
            ids=ids,
            number=first + row.number,
            provenance=SOURCE.provenance(
                place, digest, licence=options.licence, attribution=options.attribution
            ),
        )
    if not last:
        raise UsageError(f"{path} has no rows: give it some, or take this source out of the config")
    return last


def _columns(
    path: Path, options: FilesOptions, present: tuple[str, ...], shapes: dict[tuple[str, ...], dict[str, str]]
) -> dict[str, str]:
    """Field to column for rows with these columns; `shapes` remembers what was worked out.

    The file's first row must fit the options; a later row that does not is one bad row.
    """
    if present not in shapes:
        try:
            shapes[present] = resolve_columns(
                options.kind, options.columns, options.ignore, present, path.name, partial=bool(shapes)
            )
        except UsageError as error:
            if not shapes:
                raise
            raise RecordRejected("columns_mismatch", str(error)) from error
    return shapes[present]


SOURCE = register(
    Source(
        name="files",
        title="Your own tables",
        licence="unknown",
        home="",
        languages=("ar", "fa", "en"),
        options=FilesOptions,
        parser_version="1",
        scrape=scrape,
    )
)
