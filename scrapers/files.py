"""Poems and idioms from the reader's own tables: jsonl, json, csv, tsv, xlsx, parquet, or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import Field, model_validator

from mihakk.machinery.errors import RecordRejected, SourceChanged, UsageError
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.labels import number as stated_number
from mihakk.scrapers.long_table import filled, group_key, poem_of, put_together
from mihakk.scrapers.mapping import FIELDS, RowIds, RowOptions, field_of, record, resolve_columns
from mihakk.scrapers.place import find, readable
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register
from mihakk.scrapers.table_signs import NUMBER, Sign, TableSigns, problems
from mihakk.scrapers.tables import FORMATS, Layout, Row, read_rows, sheets_of
from mihakk.scrapers.verse_text import VerseText, read_poems, texts
from mihakk.scrapers.wide_table import joined


class FilesOptions(RowOptions):
    """Which file, and how it is read."""

    path: str
    """File or folder; a relative one is looked for in the working folder, then in the repository."""
    encoding: str = "auto"
    """Codec of a text file; `auto` takes UTF-8 where the bytes allow it, else cp1256."""
    sheet: str = ""
    """Of a workbook; the first when empty, every one by `*`."""
    header_row: int = Field(default=0, ge=0)
    """Row with the names of the columns, counted from 1, where titles stand above it; 0: the first."""
    group_by: tuple[str, ...] = ()
    """Columns that the rows of one poem share, where a poem is many rows; nothing else has to be said of
    them."""
    poems_part_at: Literal["", "order", "blank_rows", "file"] = ""
    """Where no column tells the poems apart that are many rows each: where the numbers of `order` begin
    anew, at empty rows, or nowhere (the table is one poem)."""
    order: str = ""
    """Column with the place of a row in its poem; empty: as the table has them."""
    numbered: bool = False
    """Phrases begin or end with their number in the list (`12- ...`, `... (12)`), which is dropped."""
    fill: tuple[str, ...] = ()
    """Columns whose blank or merged cells hold what stands above them."""
    join: tuple[str, ...] = ()
    """Columns whose texts are put one below the other where a cell beside them is merged over rows, as those
    of an expression with several meanings."""
    least_couplets: int = Field(default=1, ge=1)
    """Of a poem; shorter ones, as notes beside the poems are read, are rejected (`too_short`)."""
    verse: VerseText | None = None
    """Read plain texts (.txt) with poems in them, laid out like this, and no tables."""
    file_gives: str = ""
    """Field that the name of the file gives, without its suffix: `title`, `poet`."""
    folder_gives: str = ""
    """Field that the name of the file's folder gives."""

    @model_validator(mode="after")
    def _of_poems(self) -> FilesOptions:
        if self.kind == "idiom" and (self.group_by or self.verse or self.poems_part_at):
            raise ValueError("group_by, poems_part_at and verse are for `kind: poem`")
        if self.kind == "poem" and self.numbered:
            raise ValueError("numbered is for `kind: idiom`")
        if self.group_by and self.poems_part_at:
            raise ValueError("give `group_by` or `poems_part_at`, not both")
        if self.order and not (self.group_by or self.poems_part_at):
            raise ValueError(
                f"order: {self.order!r} needs `group_by`, the columns that the rows of a poem share, or "
                "`poems_part_at`"
            )
        if self.poems_part_at == "order" and not self.order:
            raise ValueError("`poems_part_at: order` needs `order`, the column that counts the verses")
        given = [name for name in (*self.fields, self.file_gives, self.folder_gives) if name]
        if strange := sorted(set(given) - set(FIELDS[self.kind])):
            raise ValueError(f"{', '.join(strange)}: fields are {', '.join(FIELDS[self.kind])}")
        return self


def tables(path: Path) -> list[Path]:
    """The file itself, or every table in a folder, in the order of their names.

    Raises:
        UsageError: The folder holds none.
    """
    if path.is_file():
        return [path]
    found = [place for place in readable(path) if place.suffix.lower() in FORMATS]
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
    for path in _files(options):
        ids.next_table()
        digest = raw.keep_file(path)
        for sheet in _sheets(path, options):
            table = _Table(path, sheet, options, ids, digest=digest, first=first)
            yield from table.entries()
            seen.append(table.signs)
            first += table.last
    grouped: tuple[Sign, ...] = ("long_table",) if options.group_by or options.poems_part_at else ()
    if found := problems(seen, (*options.accept, *grouped)):
        raise SourceChanged("; ".join(found))


def _files(options: FilesOptions) -> list[Path]:
    path = find(options.path)
    if options.verse is None:
        return tables(path)
    return [path] if path.is_file() else texts(path)


def _sheets(path: Path, options: FilesOptions) -> list[str]:
    if options.sheet != "*":
        return [options.sheet]
    return sheets_of(path) if path.suffix.lower() == ".xlsx" else [""]


class _Table:
    """One table or text: its rows, and the records that they make."""

    def __init__(
        self, path: Path, sheet: str, options: FilesOptions, ids: RowIds, *, digest: str, first: int
    ) -> None:
        self.signs = TableSigns(path.name)
        self.last = 0
        """Number of its last row."""
        self._path, self._options, self._ids, self._digest = path, options, ids, digest
        self._first = first
        """Number of the last row of the tables before it."""
        self._layout = Layout(options.encoding, sheet, options.header_row)
        self._part = f"{sheet}!" if options.sheet == "*" and sheet else ""
        self._shapes: dict[tuple[str, ...], dict[str, str]] = {}
        named = {options.file_gives: path.stem, options.folder_gives: path.resolve().parent.name}
        self._defaults = {"language": options.language} | options.fields
        self._defaults |= {field: value for field, value in named.items() if field}

    def entries(self) -> Iterator[Entry]:
        """Records and rejections, those of poems in many rows behind all others."""
        poems: dict[tuple[str, ...], list[Row]] = {}
        group_by, parts = self._options.group_by, self._options.poems_part_at
        number = part = 0
        for row in filled(self._rows(), self._options.fill):
            self.last = row.number
            try:
                if row.problem is not None:
                    raise RecordRejected(*row.problem)
                columns = _columns(self._path, self._options, tuple(row.fields), self._shapes)
                if self._options.numbered:
                    phrase = columns["phrase"]
                    row.fields[phrase] = NUMBER.sub("", str(row.fields[phrase] or ""), count=1)
                self.signs.look(row, columns)
            except RecordRejected as error:
                yield self._rejected(row, error)
                continue
            if group_by:
                poems.setdefault(group_key(row, group_by), []).append(row)
            elif parts:
                before, number = number, stated_number(row.fields.get(self._options.order, "")) or 0
                part += (parts == "blank_rows" and row.gap) or (parts == "order" and number <= before)
                poems.setdefault((str(part),), []).append(row)
            else:
                yield from self._records(row.number, row.fields, columns)
        for rows in poems.values():
            columns = _columns(self._path, self._options, tuple(rows[0].fields), self._shapes)
            try:
                fields = poem_of(rows, columns, self._options.order)
            except RecordRejected as error:
                yield self._rejected(rows[0], error)
                continue
            yield from self._records(rows[0].number, fields, {name: name for name in fields})
        if not self.last:
            raise UsageError(
                f"{self._path} has no rows: give it some, or take it out of the folder or config"
            )

    def _rows(self) -> Iterator[Row]:
        if self._options.verse is None:
            rows = joined(read_rows(self._path, self._layout), self._options.columns.values())
            return put_together(rows, self._options.join)
        return read_poems(self._path, self._options.verse, self._layout.encoding)

    def _place(self, number: int) -> str:
        return f"file:{self._path.name}#{self._part}{number}"

    def _records(self, number: int, fields: dict[str, Any], columns: dict[str, str]) -> Iterator[Entry]:
        terms = {"licence": self._options.licence, "attribution": self._options.attribution}
        least = self._options.least_couplets
        for entry in record(
            self._options.kind,
            fields,
            columns,
            defaults=self._defaults,
            ids=self._ids,
            number=self._first + number,
            provenance=SOURCE.provenance(self._place(number), self._digest, **terms),
        ):
            if isinstance(entry, Poem) and len(entry.couplets) < least:
                opening = entry.couplets[0].first.raw[:80]
                detail = f"{self._place(number)}: fewer couplets than {least}: {opening!r}"
                yield Rejection(record=entry.id, reason="too_short", detail=detail)
            else:
                yield entry

    def _rejected(self, row: Row, error: RecordRejected) -> Rejection:
        place = self._place(row.number)
        body = orjson.dumps(row.fields, default=str).decode() if row.fields else ""
        return Rejection(record=place, reason=error.reason, detail=f"{place}: {error.detail}", body=body)


def _columns(
    path: Path, options: FilesOptions, present: tuple[str, ...], shapes: dict[tuple[str, ...], dict[str, str]]
) -> dict[str, str]:
    """Field to column for rows with these columns; `shapes` remembers what was worked out.

    The file's first row must fit the options; a later row that does not is one bad row.
    """
    if present not in shapes:
        try:
            said = {*options.group_by, *filter(None, (options.order,))}
            if absent := sorted((said | {*options.fill, *options.join}) - set(present)):
                raise UsageError(
                    f"{path.name} has no column {', '.join(absent)}; it has {', '.join(present)}"
                )
            # A column that counts the verses is no label of theirs, whatever it is called.
            known = {name for name in said if name == options.order or not field_of(options.kind, name)}
            known -= set(options.columns.values())
            shapes[present] = resolve_columns(
                options.kind,
                options.columns,
                {*options.ignore, *known},
                present,
                path.name,
                partial=bool(shapes) or options.verse is not None,
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
