"""Books of idioms and proverbs as plain text, OpenITI's or any other: heads with their explanations.

The shape of the entries is found from the book (`scrapers/book.py`) unless the config names it. Seen in real
books: Ahmad Taymur's al-Kinayat (`colon`) and al-Amthal (`quoted`), whose converter has dropped the harakat,
hard-wrapped the lines and left footnote digits standing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import orjson
from pydantic import Field

from mihakk.errors import SourceChanged, UsageError
from mihakk.text.encoding import repair_mojibake
from mihakk.text.script import arabic_share
from schemas.idiom import Idiom
from schemas.record import Form, Provenance
from schemas.rejection import Rejection
from scrapers.book import BookEntry, Reading, read
from scrapers.book_doubts import Sign
from scrapers.heads import is_cross_reference
from scrapers.place import find_file
from scrapers.raw import RawStore
from scrapers.shape import check_fields
from scrapers.source import Entry, LocalOptions, Source, register

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
_NO_TEXT = {
    b"%pdf": "a PDF",
    b"pk\x03\x04": "a zip archive (docx, xlsx, EPUB; EPUBs are read by the source `hindawi`)",
    b"\x1f\x8b": "packed by gzip",
    b"<!doctype html": "an HTML page",
    b"<html": "an HTML page",
    b"{\\rtf": "an RTF document",
}
"""First bytes, in small letters, of what is given in place of a text."""
Layout = Literal[
    "",
    "quoted",
    "colon",
    "colon_line",
    "same_line",
    "dash",
    "equals",
    "slash",
    "numbered",
    "bulleted",
    "mark",
    "heading",
    "labelled",
    "definition",
    "indented",
    "first_line",
    "columns",
    "parentheses",
    "brackets",
    "bold",
    "quotes",
    "straight_quotes",
]


class OpenitiOptions(LocalOptions):
    """Which book and how its entries are laid out."""

    path: str
    layout: Layout = ""
    """Shape of the entries; found from the book when empty."""
    sections: str = ""
    """Only sections whose title starts with this are read, as a preface or an appendix holds no entries;
    when empty, those named for letters, else all."""
    accept: tuple[Sign, ...] = ()
    """Signs of a misreading that were looked at in this book and are right, by the names in the refusal."""
    entries: int = Field(default=0, ge=0)
    """How many entries the book has, by its own word or by counting them; must be said of a book that is not
    sorted, as nothing else counts its entries."""
    least_share: float = Field(default=0.8, ge=0, le=1)
    """Least share of the text of these sections that must stand in entries."""
    genre: Literal["", "idiom", "proverb"] = ""
    """When empty: proverbs where heads stand in «», else idioms."""
    attribution: str = ""
    """Needed for a text without OpenITI's header, which names author and title."""
    dialect: str = ""
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


def _require_text(path: Path, data: bytes) -> None:
    start = data[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    kind = next((kind for mark, kind in _NO_TEXT.items() if start.startswith(mark)), "")
    if not data.strip():
        kind = "empty"
    if re.match(rb"\{\s*\"|\[\s*[\"{]", start):
        kind = "JSON (the source `files` reads it, called .json)"
    if not kind and b"\0" in data:
        kind = "no text: it holds zero bytes, as UTF-16 and programs' own formats do"
    if kind:
        raise UsageError(f"{path} is {kind}: save the book as plain text in UTF-8")


def read_book(options: OpenitiOptions) -> tuple[Reading, dict[str, str], Path, bytes]:
    """What a book gives, its header, its file and bytes; says nothing yet of whether that is enough.

    Raises:
        UsageError: No plain text, not UTF-8, or neither a header nor an attribution.
        SourceChanged: No shape of entries fits the book.
    """
    path, data = find_file(options.path)
    _require_text(path, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8, which OpenITI's texts are ({error}): convert it, for example with "
            f"`iconv -f cp1256 -t utf-8`"
        ) from error
    text = text.replace("\r\n", "\n")
    if again := repair_mojibake(max(text.split("\n"), key=len)):
        raise UsageError(f"{path} was saved after a wrong reading ({again.steps[0]}): take the original file")
    header, end = read_header(text)
    if not header and not options.attribution:
        raise SourceChanged(
            f"{path.name} does not begin with an OpenITI header that names author and title: name them in "
            "`attribution`"
        )
    first_line = text.count("\n", 0, end) + 1
    found = read(
        text[end:],
        layout=options.layout,
        title=options.sections,
        first_line=first_line,
        accept=options.accept,
        stated=options.entries,
    )
    return found, header, path, data


def scrape(options: OpenitiOptions, raw: RawStore) -> Iterator[Entry]:
    """Idioms with an explanation; entries without one, and mere references to others, are rejected.

    Raises:
        SourceChanged: A count of heads differs, or too much of the text stands in no entry.
    """
    found, header, path, data = read_book(options)
    credit = options.attribution or (
        f"{header['AuthorNam']}, {header['BookTitle']}; text of the OpenITI corpus"
    )
    provenance = Provenance(
        source="openiti",
        url=f"file:{path.name}",
        licence=options.licence,
        attribution=credit,
        sha256=raw.keep(data),
        parser_version=SOURCE.parser_version,
    )
    book = header.get("BookID") or options.prefix
    genre = options.genre or ("proverb" if found.shape.name in ("quoted", "quotes") else "idiom")
    far = {id(entry) for entry in found.far_longer()}
    for number, entry in enumerate(found.entries, start=1):
        made = _record(entry, f"openiti-{book}-{number}", options.dialect, genre, provenance)
        if id(entry) in far and isinstance(made, Idiom):
            label = f"{entry.words} words, {found.median:g} in the middle of the book"
            made = made.model_copy(update={"source_labels": {"far_longer": label}})
        yield made
    if problems := found.problems(options.least_share):
        raise SourceChanged(f"{path.name}: " + "; ".join(problems))


def _record(
    entry: BookEntry,
    identifier: str,
    dialect: str,
    genre: Literal["idiom", "proverb"],
    provenance: Provenance,
) -> Entry:
    reason = ""
    if not arabic_share(entry.head):
        reason, detail = "language_differs", f"{entry.head!r} has no letter of Arabic"
    elif not entry.paragraphs:
        reason, detail = "explanation_missing", f"{entry.head!r} has no explanation"
    elif is_cross_reference(" ".join(entry.paragraphs)):
        reason, detail = "cross_reference", f"{entry.head!r} only says {entry.paragraphs[0]!r}"
    if reason:
        body = orjson.dumps({"phrase": entry.head, "explanation": entry.paragraphs}).decode()
        return Rejection(record=identifier, source="openiti", reason=reason, detail=detail, body=body)
    return Idiom(
        id=identifier,
        language="ar",
        dialect=dialect,
        genre=genre,
        phrase=Form(raw=entry.head),
        explanation=Form(raw="\n".join(entry.paragraphs)),
        provenance=provenance.model_copy(update={"url": f"{provenance.url}#{entry.line}"}),
    )


SOURCE = register(
    Source(
        name="openiti",
        title="Idiom and proverb books as plain text",
        licence="public-domain",
        home="https://github.com/OpenITI",
        languages=("ar",),
        options=OpenitiOptions,
        parser_version="2",
        scrape=scrape,
        least_yield=50,
    )
)
