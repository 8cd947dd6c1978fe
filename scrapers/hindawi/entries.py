"""Blocks of a book into idioms and poems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mihakk.schemas.record import Provenance
from mihakk.scrapers import verse
from mihakk.scrapers.book import BookOptions, Line, idiom
from mihakk.scrapers.book_evidence import BookEntry
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.hindawi.blocks import Block
from mihakk.scrapers.source import Entry


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
    found: Iterable[BookEntry], prefix: str, options: BookOptions, provenance: Provenance
) -> Iterator[Entry]:
    """Idioms; entries that explain nothing are rejected."""
    for number, entry in enumerate(found, start=1):
        identifier = f"{prefix}-{number}"
        body = "\n".join([entry.head, *(entry.paragraphs or [""])])
        yield from rejecting(identifier, idiom(entry, identifier, options, provenance), body)


def poem(
    blocks: Iterable[Block], identifier: str, *, title: str, poet: str, provenance: Provenance
) -> Iterator[Entry]:
    """The verse of one chapter as a poem; chapters without verse give nothing."""
    chapter = list(blocks)
    verses = [(block.text, block.rest or None) for block in chapter if block.kind == "verse"]
    if not verses:
        return
    heading = next((block.text for block in chapter if block.kind == "heading"), title)
    made = verse.poem(
        identifier,
        verse.Arrangement(verses),
        language="ar",
        title=heading,
        poet=poet,
        source_labels={"book": title},
        provenance=provenance,
    )
    yield from rejecting(identifier, made)
