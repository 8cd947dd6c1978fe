"""Books of idioms and proverbs in OpenITI's plain text: heads and explanations as paragraphs.

Known from Ahmad Taymur's two books: al-Kinayat (`layout: colon`, a head is a short line ending in a colon)
and al-Amthal (`layout: quoted`, a head is a paragraph wholly in «»). The converter has dropped the harakat,
hard-wrapped the lines and left footnote digits standing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import orjson

from mihakk.errors import SourceChanged, UsageError
from schemas.idiom import Idiom
from schemas.record import Form, Provenance
from schemas.rejection import Rejection
from scrapers.heads import is_cross_reference, is_short_head, quoted_head, section_letter
from scrapers.place import find
from scrapers.raw import RawStore
from scrapers.shape import check_fields
from scrapers.source import Entry, Source, SourceOptions, register

_HEADER = re.compile(r"\A######OpenITI#\s*(\{.*\})\s*#META#Header#End#\s*", re.DOTALL)
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
_SECTION = re.compile(r"^# \| (.*)$", re.MULTILINE)
_FOOTNOTE = re.compile(r"[٠-٩]+\s*[.،]?")
Layout = Literal["colon", "quoted"]


class OpenitiOptions(SourceOptions):
    """Which book and how its entries are laid out."""

    path: str
    layout: Layout = "colon"
    sections: str = "حرف"
    """Only sections whose title starts with this are read; a preface or an appendix holds no entries."""
    dialect: str = ""
    licence: str = "public-domain"


@dataclass
class BookEntry:
    """One head with the paragraphs under it."""

    line: int
    """Of the head, counted from 1."""
    head: str
    paragraphs: list[str] = field(default_factory=list)


def parse(text: str, layout: Layout, sections: str) -> Iterator[BookEntry]:
    """Entries of a book in their order.

    Raises:
        SourceChanged: No section has such a title, or text stands in one before its first head.
    """
    marks = list(_SECTION.finditer(text))
    chosen = [
        (mark.group(1).strip(), mark.end(), following.start() if following else len(text))
        for mark, following in zip(marks, [*marks[1:], None], strict=True)
        if mark.group(1).strip().startswith(sections)
    ]
    if not chosen:
        titles = ", ".join(mark.group(1).strip() for mark in marks[:8]) or "none"
        raise SourceChanged(f"no section's title starts with {sections!r}; titles: {titles}")
    for title, start, end in chosen:
        yield from _section(title, list(_blocks(text, start, end)), layout)


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, list[str]]]:
    """Paragraphs between two places: line number of the first line, and the lines."""
    number = text.count("\n", 0, start) + 1
    block: list[str] = []
    for offset, line in enumerate([*text[start:end].split("\n"), ""]):
        stripped = line.strip(" \u200f\t")
        if stripped:
            block.append(stripped)
        elif block:
            yield number + offset - len(block), block
            block = []


def _section(title: str, blocks: list[tuple[int, list[str]]], layout: Layout) -> Iterator[BookEntry]:
    letter = section_letter(title)
    entry: BookEntry | None = None
    for index, (line, lines) in enumerate(blocks):
        following = blocks[index + 1][1] if index + 1 < len(blocks) else []
        head = _head(lines, following, letter, layout)
        if head:
            if entry is not None:
                yield entry
            entry = BookEntry(line, head)
            continue
        paragraph = _unwrap(lines)
        if _FOOTNOTE.sub("", paragraph).strip(" .،") == "":
            continue
        if entry is None:
            raise SourceChanged(f"line {line}: {paragraph[:60]!r} stands before the first head of {title!r}")
        entry.paragraphs.append(paragraph)
    if entry is not None:
        yield entry


def _head(lines: list[str], following: list[str], letter: str, layout: Layout) -> str:
    """The head that a paragraph is, or nothing.

    Two heads of al-Kinayat have lost colon and explanation to a footnote; they are known by the footnote's
    digit that follows.
    """
    text = _unwrap(lines)
    if layout == "quoted":
        return quoted_head(text)
    bare = text.removesuffix(":").strip()
    if len(lines) != 1 or not is_short_head(bare, letter):
        return ""
    orphan = bool(following) and bool(letter) and _FOOTNOTE.fullmatch(" ".join(following)) is not None
    return bare if text.endswith(":") or orphan else ""


def _unwrap(lines: list[str]) -> str:
    """One paragraph on one line; a mark that the converter set on its own line goes back to its word."""
    kept = [line for line in lines if not re.fullmatch(r"[٠-٩]+", line)]
    return re.sub(r"\s+([،؛.:)»])", r"\1", " ".join(kept or lines))


def _header(text: str) -> tuple[dict[str, str], int]:
    found = _HEADER.match(text)
    if found is None:
        raise SourceChanged("the text does not begin with an OpenITI header")
    fields = orjson.loads(found.group(1))
    check_fields(fields, required=_HEADER_USED, ignored=_HEADER_IGNORED, where="OpenITI header")
    return fields, found.end()


def scrape(options: OpenitiOptions, raw: RawStore) -> Iterator[Entry]:
    """Idioms with an explanation; entries without one, and mere references to others, are rejected."""
    path = find(options.path)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8, which OpenITI's texts are: {error}") from error
    header, _ = _header(text)
    provenance = Provenance(
        source="openiti",
        url=f"file:{path.name}",
        licence=options.licence,
        attribution=f"{header['AuthorNam']}, {header['BookTitle']}; text of the OpenITI corpus",
        sha256=raw.keep(data),
        parser_version=SOURCE.parser_version,
    )
    for number, entry in enumerate(parse(text, options.layout, options.sections), start=1):
        yield _record(entry, f"openiti-{header['BookID']}-{number}", options, provenance)


def _record(entry: BookEntry, identifier: str, options: OpenitiOptions, provenance: Provenance) -> Entry:
    reason = ""
    if not entry.paragraphs:
        reason, detail = "explanation_missing", f"{entry.head!r} has no explanation"
    elif is_cross_reference(" ".join(entry.paragraphs)):
        reason, detail = "cross_reference", f"{entry.head!r} only says {entry.paragraphs[0]!r}"
    if reason:
        body = orjson.dumps({"phrase": entry.head, "explanation": entry.paragraphs}).decode()
        return Rejection(record=identifier, source="openiti", reason=reason, detail=detail, body=body)
    return Idiom(
        id=identifier,
        language="ar",
        dialect=options.dialect,
        genre="idiom" if options.layout == "colon" else "proverb",
        phrase=Form(raw=entry.head),
        explanation=Form(raw="\n".join(entry.paragraphs)),
        provenance=provenance.model_copy(update={"url": f"{provenance.url}#{entry.line}"}),
    )


SOURCE = register(
    Source(
        name="openiti",
        title="Idiom and proverb books in OpenITI's text",
        licence="public-domain",
        home="https://github.com/OpenITI",
        languages=("ar",),
        options=OpenitiOptions,
        parser_version="1",
        scrape=scrape,
        least_yield=50,
    )
)
