"""Blocks of a book into idioms and poems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from schemas.idiom import Idiom
from schemas.poem import Poem
from schemas.record import Form, Provenance
from schemas.rejection import Rejection
from scrapers.book import BookEntry, Line
from scrapers.heads import is_cross_reference
from scrapers.hindawi.blocks import Block
from scrapers.source import Entry
from scrapers.verse import couplets, split


class ChapterBlocks(NamedTuple):
    """One chapter of a book."""

    part: str
    """Its name in ids."""
    url: str
    blocks: list[Block]


def book_lines(chapters: Iterable[ChapterBlocks]) -> tuple[list[Line], list[int]]:
    """The lines of a book as a declaration reads them, and the number of the first line of each chapter.

    A heading is `# title`, a term stands above `: definition`, paragraphs are parted by blank lines.
    """
    lines: list[str] = []
    starts = []
    for chapter in chapters:
        starts.append(len(lines) + 1)
        for block in chapter.blocks:
            lines += ["\n".join(_lines(block)), ""]
    split_lines = "\n".join(lines).split("\n")
    places = [1]
    for text in lines:
        places.append(places[-1] + text.count("\n") + 1)
    return [Line(n, text) for n, text in enumerate(split_lines, start=1)], [places[n - 1] for n in starts]


def _lines(block: Block) -> list[str]:
    if block.kind == "heading":
        return [f"# {block.text}"]
    if block.kind == "term":
        return [block.text.removesuffix(":").strip(), *(f": {text}" for text in block.rest.split("\n"))]
    return [f"{block.text} … {block.rest}" if block.rest else block.text]


def idioms(
    found: Iterable[BookEntry],
    prefix: str,
    *,
    genre: Literal["idiom", "proverb"],
    dialect: str,
    provenance: Provenance,
) -> Iterator[Entry]:
    """Idioms; entries that explain nothing are rejected."""
    for number, entry in enumerate(found, start=1):
        identifier = f"{prefix}-{number}"
        explanation = "\n".join(entry.paragraphs)
        reason = ""
        if not explanation:
            reason, detail = "explanation_missing", f"{entry.head!r} has no explanation"
        elif is_cross_reference(" ".join(entry.paragraphs)):
            reason, detail = "cross_reference", f"{entry.head!r} only says {explanation!r}"
        if reason:
            body = f"{entry.head}\n{explanation}"
            yield Rejection(record=identifier, source="hindawi", reason=reason, detail=detail, body=body)
            continue
        yield Idiom(
            id=identifier,
            language="ar",
            dialect=dialect,
            genre=genre,
            phrase=Form(raw=entry.head),
            explanation=Form(raw=explanation),
            provenance=provenance,
        )


def poem(
    blocks: Iterable[Block], identifier: str, *, title: str, poet: str, provenance: Provenance
) -> Iterator[Entry]:
    """The verse of one chapter as a poem; chapters without verse give nothing."""
    chapter = list(blocks)
    verses = [(block.text, block.rest or None) for block in chapter if block.kind == "verse"]
    if not verses:
        return
    heading = next((block.text for block in chapter if block.kind == "heading"), title)
    kept, rejected = split(couplets(identifier, verses))
    yield from rejected
    if kept:
        yield Poem(
            id=identifier,
            language="ar",
            title=heading,
            poet=poet,
            couplets=kept,
            source_labels={"book": title},
            provenance=provenance,
        )
