"""Books of idioms and proverbs, OpenITI's or any other: heads with their explanations, by a declaration.

The converter of OpenITI's texts of Hindawi's books has dropped the harakat, hard-wrapped the lines and left
footnote digits standing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.record import Provenance
from mihakk.scrapers.book import BookOptions, Line, idiom, read
from mihakk.scrapers.book_text import book_text, plain_lines
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.place import find_file
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.shape import check_fields
from mihakk.scrapers.source import Entry, Source, register

_HEADER = re.compile(r"\A######OpenITI#\s*(\{.*\})\s*#META#Header#End#\s*", re.DOTALL)
_META = re.compile(r"\A######OpenITI#\s*((?:#META#(?!Header#End#)[^\n]*\n+)+)#META#Header#End#\s*")
_META_FIELD = re.compile(r"^#META#\s*(?:\d+\.)?(\w+)\s*::\s*(.*?)\s*$", re.MULTILINE)
_META_NAMES = {"BookTITLE": "BookTitle", "AuthorNAME": "AuthorNam", "SortField": "BookID"}
_HEADER_USED = ("BookID", "BookTitle", "AuthorNam")
_HEADER_IGNORED = (
    "BookURI",
    "BookCats",
    "AuthorID",
    "EditorID",
    "EditorNam",
    "TranslID",
    "TranslNam",
    "BookRel",
)


class OpenitiOptions(BookOptions):
    """Which book, and what its entries look like."""

    path: str
    """Plain text, EPUB (`.epub`) or a saved page (`.html`)."""
    encoding: str = ""
    """Of a file that is not UTF-8, such as cp1256; a page's own word for it when empty."""
    attribution: str = ""
    """Needed for a text without OpenITI's header, which names author and title."""
    licence: str = "public-domain"


def read_header(text: str) -> tuple[dict[str, str], int]:
    """Fields of OpenITI's header and where it ends; no field where it names no author or title.

    Books converted from Hindawi have it in JSON, all others a line a field, `NODATA` for what isn't known.
    """
    if found := _META.match(text):
        given = {name: value for name, value in _META_FIELD.findall(found[1]) if value not in ("", "NODATA")}
        fields = {ours: given[theirs] for theirs, ours in _META_NAMES.items() if theirs in given}
        return (fields if {"BookTitle", "AuthorNam"} <= set(fields) else {}), found.end()
    found = _HEADER.match(text)
    if found is None:
        return {}, 0
    try:
        fields = orjson.loads(found.group(1))
    except orjson.JSONDecodeError as error:
        raise SourceChanged(f"the OpenITI header is damaged: {error}") from error
    check_fields(fields, required=_HEADER_USED, ignored=_HEADER_IGNORED, where="OpenITI header")
    return fields, found.end()


@dataclass(frozen=True)
class BookFile:
    """A book's file, opened."""

    path: Path
    data: bytes
    header: dict[str, str]
    lines: list[Line]


def open_file(options: OpenitiOptions) -> BookFile:
    """The lines of a book, without its header.

    Raises:
        UsageError: No file that can be read as text.
        SourceChanged: Neither a header nor an attribution.
    """
    path, data = find_file(options.path)
    text = book_text(path, data, options.encoding)
    if not text.strip():
        raise UsageError(f"{path.name} holds no text: what scripts or pictures show is not in the file")
    header, end = read_header(text)
    if not header and not options.attribution:
        raise SourceChanged(
            f"{path.name} does not begin with an OpenITI header that names author and title: name them in "
            "`attribution`"
        )
    return BookFile(path, data, header, plain_lines(text[end:], text.count("\n", 0, end) + 1))


def scrape(options: OpenitiOptions, raw: RawStore) -> Iterator[Entry]:
    """Idioms with an explanation; entries without one, and mere references to others, are rejected.

    Raises:
        SourceChanged: The book does not fit its declaration, and nobody has accepted that.
    """
    book = open_file(options)
    found = read(book.lines, options)
    credit = options.attribution or (
        f"{book.header['AuthorNam']}, {book.header['BookTitle']}; text of the OpenITI corpus"
    )
    provenance = Provenance(
        source="openiti",
        url=f"file:{book.path.name}",
        licence=options.licence,
        attribution=credit,
        sha256=raw.keep(book.data),
        parser_version=SOURCE.parser_version,
    )
    name = book.header.get("BookID") or options.prefix
    for number, entry in enumerate(found.entries, start=1):
        identifier = f"openiti-{name}-{number}"
        origin = provenance.model_copy(update={"url": f"{provenance.url}#{entry.line}"})
        body = {"phrase": entry.head, "explanation": entry.paragraphs}
        yield from rejecting(identifier, idiom(entry, identifier, options, origin), body)
    if problems := found.problems():
        raise SourceChanged(f"{book.path.name}: " + "; ".join(problems))


SOURCE = register(
    Source(
        name="openiti",
        title="Idiom and proverb books as plain text",
        licence="public-domain",
        home="https://github.com/OpenITI",
        languages=("ar", "fa", "en"),
        options=OpenitiOptions,
        parser_version="3",
        scrape=scrape,
        least_yield=50,
    )
)
