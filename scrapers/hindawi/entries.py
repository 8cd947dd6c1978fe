"""Blocks of a book into idioms and poems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from schemas.idiom import Idiom
from schemas.poem import Poem
from schemas.record import Form, Provenance
from schemas.rejection import Rejection
from scrapers.book import Reading, read
from scrapers.book_doubts import Sign
from scrapers.heads import is_cross_reference, is_short_head, quoted_head, section_letter
from scrapers.hindawi.blocks import Block
from scrapers.source import Entry
from scrapers.verse import couplets, split

Layout = Literal["", "terms", "colon", "quoted"]


@dataclass
class HeadWithExplanation:
    """A head and what stands under it."""

    head: str
    explanation: list[str] = field(default_factory=list)


class ChapterBlocks(NamedTuple):
    """One chapter of a book."""

    part: str
    """Its name in ids."""
    url: str
    blocks: list[Block]


def whole_book(
    chapters: Iterable[ChapterBlocks], accept: Collection[Sign] = (), stated: int = 0
) -> tuple[Reading, list[list[HeadWithExplanation]]]:
    """The entries of a book by the shape found from it, chapter by chapter, with an account of all its text.

    Raises:
        SourceChanged: No shape of entries fits the book, or two do.
    """
    lines: list[str] = []
    starts = []
    for chapter in chapters:
        starts.append(len(lines) + 1)
        for block in chapter.blocks:
            lines += "\n".join([*_lines(block), ""]).split("\n")
    reading = read("\n".join(lines), accept=accept, stated=stated)
    found: list[list[HeadWithExplanation]] = [[] for _ in starts]
    for entry in reading.entries:
        place = sum(start <= entry.line for start in starts) - 1
        found[place].append(HeadWithExplanation(entry.head, entry.paragraphs))
    return reading, found


def _lines(block: Block) -> list[str]:
    if block.kind == "heading":
        return [f"# | {block.text}"]
    if block.kind == "term":
        return [block.text.removesuffix(":").strip(), ": " + block.rest.replace("\n", "\n\n")]
    return [f"{block.text} … {block.rest}" if block.rest else block.text]


def entries(blocks: Iterable[Block], layout: Layout) -> Iterator[HeadWithExplanation]:
    """Heads with their explanations.

    Args:
        blocks: Of one chapter.
        layout: `terms`: a definition list. `colon`: a paragraph `head: explanation` whose head begins with
            the letter of its chapter. `quoted`: a paragraph wholly in «» before its explanation.
    """
    letter = ""
    current: HeadWithExplanation | None = None
    for block in blocks:
        if block.kind == "heading":
            letter = section_letter(block.text)
            if current is not None:
                yield current
            current = None
            continue
        found = _head(block, layout, letter)
        if found is not None:
            if current is not None:
                yield current
            current = found
        elif current is not None and layout != "terms":
            current.explanation.append(f"{block.text} … {block.rest}" if block.rest else block.text)
    if current is not None:
        yield current


def _head(block: Block, layout: Layout, letter: str) -> HeadWithExplanation | None:
    if layout == "terms":
        if block.kind != "term":
            return None
        return HeadWithExplanation(block.text.removesuffix(":").strip(), [block.rest] if block.rest else [])
    if block.kind != "paragraph":
        return None
    if layout == "quoted":
        head = quoted_head(block.text)
        return HeadWithExplanation(head) if head else None
    head, mark, rest = block.text.partition(":")
    if not mark or not is_short_head(head, letter):
        return None
    return HeadWithExplanation(head.strip(), [rest.strip()] if rest.strip() else [])


def idioms(
    found: Iterable[HeadWithExplanation],
    prefix: str,
    *,
    genre: Literal["idiom", "proverb"],
    dialect: str,
    provenance: Provenance,
) -> Iterator[Entry]:
    """Idioms; entries that explain nothing are rejected."""
    for number, entry in enumerate(found, start=1):
        identifier = f"{prefix}-{number}"
        explanation = "\n".join(entry.explanation)
        reason = ""
        if not explanation:
            reason, detail = "explanation_missing", f"{entry.head!r} has no explanation"
        elif is_cross_reference(" ".join(entry.explanation)):
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
