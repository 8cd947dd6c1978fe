"""A book of entries as text: its sections, its entries by the shape found, and an account of every line.

What belongs to no entry is a heading, a page mark or a leftover, and leftovers are reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from mihakk.errors import SourceChanged
from scrapers.book_doubts import FAR, Seen, Sign, doubts
from scrapers.book_fields import as_entries
from scrapers.book_head_signs import counted_by_numbers
from scrapers.book_notes import without_notes
from scrapers.book_order import STRANGE, Alphabet, alphabet
from scrapers.book_pages import without_pages
from scrapers.book_sections import book_lines, chosen, entry_headings, sections
from scrapers.book_shapes import (
    FOOTNOTE,
    ON_ONE_LINE,
    PAGE,
    SHAPES,
    Book,
    Head,
    Section,
    Shape,
    begins_with,
    find_shape,
    head_on_line,
    is_mark,
    measure,
    unwrap,
    with_text,
)
from scrapers.book_table import as_columns
from scrapers.heads import section_letter

_STATED = 0.01
"""Of the entries that people counted, as many may be missing or too many."""
_COUNTED_BY_EYE = 50
"""Books of fewer entries are looked at whole; the sources' least yield refuses them where nobody says so."""
_QUOTATIONS = 0.02
"""Of heads in «», which quotations stand in too, so few may be far from their place in the alphabet."""
SWALLOWED = 0.25
"""So many lines in explanations, a head, that open as heads do make it likely that entries run together."""
SWALLOWED_OF_LETTER = 0.02
"""The same of lines that begin with the letter of their section."""
ENDED = 0.9
"""Where so many explanations end in a full stop or its like, a book whose last one doesn't is cut short."""
_ENDS = (".", "!", "؟", "…", "؛")
_VERSE_WORDS = 8
_NOTE_MARK = re.compile(r"\s*(?:\^?[(\[]\^?[\d٠-٩۰-۹]{1,3}[)\]]|[⁰¹²³⁴-⁹]+)\Z")
"""A footnote's mark at the end of a head."""


@dataclass
class BookEntry:
    """One head with the paragraphs under it."""

    line: int
    head: str
    paragraphs: list[str] = field(default_factory=list)

    @property
    def words(self) -> int:
        """Of the explanation."""
        return sum(len(text.split()) for text in self.paragraphs)


# --- reading ----------------------------------------------------------------------------------------------
class Leftover(NamedTuple):
    """Lines that belong to no entry."""

    line: int
    text: str
    why: str


@dataclass
class Reading:
    """What a book gave, with an account of all its text."""

    shape: Shape
    entries: list[BookEntry]
    headings: int
    leftovers: list[Leftover]
    pages: Sequence[tuple[int, str]]
    """Line and text of the page marks and running heads that were taken out."""
    counted: int
    """Heads by an expression for the same shape: it checks how the lines were read, not the shape."""
    alphabet: Alphabet
    """The count that knows nothing of the shape."""
    share: float
    """Of the letters in the sections read, those that stand in entries."""
    doubts: Mapping[Sign, str] = field(default_factory=dict)
    """Signs that it was misread, but those accepted."""
    accepted: Mapping[Sign, str] = field(default_factory=dict)
    """Signs that the config says were looked at and are right."""
    stated: int = 0
    """Entries that the book has by a count of people; 0 where nobody has counted."""

    @property
    def median(self) -> float:
        """Words of an explanation."""
        return median(entry.words for entry in self.entries) if self.entries else 0.0

    @property
    def head_median(self) -> float:
        """Words of a head."""
        return median(len(entry.head.split()) for entry in self.entries) if self.entries else 0.0

    def problems(self, least_share: float) -> list[str]:
        """Why the yield can't be trusted; empty when it can.

        Args:
            least_share: Of the text of the sections read, what must stand in entries.
        """
        found = []
        if self.stated and abs(self.stated - len(self.entries)) > _STATED * self.stated:
            found.append(f"{len(self.entries)} entries were read and `entries` says {self.stated}")
        if abs(self.counted - len(self.entries)) > max(1, 0.02 * len(self.entries)):
            found.append(
                f"{len(self.entries)} entries were read and an expression for the shape {self.shape.name!r} "
                f"counts {self.counted} heads: look at `mihakk source try`, then name another `layout`"
            )
        if self.head_median > self.median > 0:
            found.append(
                f"heads have {self.head_median:g} words in the middle and what stands under them "
                f"{self.median:g}: the book may say the meaning before the phrase; make a table of it"
            )
        found += [f"{text} ({name})" for name, text in self.doubts.items()]
        if self.doubts:
            found.append(
                f"what of this is right, an option such as `accept: [{', '.join(self.doubts)}]` says"
            )
        if self.share < least_share:
            first = self.leftovers[0]
            found.append(
                f"{self.share:.0%} of the text stands in entries, {least_share:.0%} must; first left over: "
                f"line {first.line}, {first.text[:60]!r} ({first.why})"
            )
        return found

    def far_longer(self) -> list[BookEntry]:
        """Entries whose explanation is far beyond the book's median: heads below it may have been missed."""
        limit = FAR * max(self.median, 5.0)
        return [entry for entry in self.entries if entry.words > limit]


def read(
    text: str,
    *,
    layout: str = "",
    title: str = "",
    first_line: int = 1,
    accept: Collection[Sign] = (),
    stated: int = 0,
) -> Reading:
    """All entries of a book.

    Args:
        text: Of the book, without a header.
        layout: Name of a shape; found from the book when empty.
        title: Beginning of the titles of sections that hold entries; found from the book when empty.
        first_line: Number of the text's first line in its file.
        accept: Signs of a misreading that were looked at and are right.
        stated: Entries that the book has by a count of people; 0 where nobody has counted.

    Raises:
        SourceChanged: No shape fits, or two do, or a section of letters holds no head of the shape.
    """
    table = as_columns(text)
    pages: list[tuple[int, str]] = []
    notes: list[tuple[int, str]] = []
    if not table.counted:
        text, pages = without_pages(text)
        text, notes = without_notes(text)
        table = as_entries(text, first_line)
    every, taken, shape = _shaped(table.text, layout, title, first_line)
    others = [one for one in every if one not in taken]
    left = [*_not_read(others), *_empty(taken)]
    left += [Leftover(first_line + place, said, why) for place, said, why in table.unread]
    left += [Leftover(first_line + place, note, "a footnote") for place, note in notes]
    entries: list[BookEntry] = []
    places: list[tuple[Section, list[Head]]] = []
    outside = total = 0
    for section in taken:
        heads = list(SHAPES[shape.name][1](section))
        places.append((section, heads))
        found, before = _entries(section, heads)
        entries += found
        left += before
        total += sum(len(line.text) for line in section.lines if not is_mark(line.text))
        outside += sum(len(one.text) for one in before)
        _refuse_silence(section, found, shape)
    counted = _count(taken, shape.name)
    seen = Seen(places, [" ".join(entry.paragraphs) for entry in entries])
    order = alphabet(places)
    swallowed = list(_swallowed(taken, shape.name, {one.line for one in entries}))
    signs: dict[Sign, str] = {
        **dict(order.problems(_QUOTATIONS if shape.name == "quotes" else STRANGE)),
        **_open_as_heads(swallowed, len(entries)),
        **({"labels": table.doubt} if table.doubt else {}),
        **doubts(seen),
        **_passed_over(others, places, shape),
        **({} if stated or table.counted else _uncounted(order, shape, places)),
        **(_cut_short(entries) if taken[-1] is every[-1] else {}),
    }
    return Reading(
        shape=shape,
        entries=entries,
        headings=sum(bool(section.title) for section in every),
        leftovers=left,
        pages=[(first_line + place, mark) for place, mark in pages],
        counted=counted,
        alphabet=order,
        share=(total - outside) / total if total else 0.0,
        doubts={name: sign for name, sign in signs.items() if name not in accept},
        accepted={name: sign for name, sign in signs.items() if name in accept},
        stated=stated,
    )


def _shaped(
    text: str, layout: str, title: str, first_line: int
) -> tuple[list[Section], list[Section], Shape]:
    """All sections, those that hold entries, and their shape.

    Headings of one level may be the heads; then they part no sections.
    """
    lines = book_lines(text, first_line=first_line)
    plain = sections(lines)
    headed = entry_headings(lines) if layout in ("", "heading") else []
    if title and not any(section.title.startswith(title) for section in headed):
        headed = []
    taken, parted = (_with_book(chosen(found, title)) if found else [] for found in (plain, headed))
    shape = measure(layout, parted if layout == "heading" else taken) if layout else find_shape(taken, parted)
    return (headed, parted, shape) if shape.name == "heading" else (plain, taken, shape)


def _with_book(taken: list[Section]) -> list[Section]:
    book = Book(taken)
    for section in taken:
        section.book = book
    return taken


def _not_read(others: Sequence[Section]) -> Iterator[Leftover]:
    for section in others:
        for line in section.lines:
            if line.text and not section_letter(line.text):
                yield Leftover(line.number, line.text, f"section {section.title!r} is not read")


def _empty(taken: Sequence[Section]) -> Iterator[Leftover]:
    """Sections of letters without any text; the line of a table of contents has its section elsewhere."""
    filled = {section.title for section in taken if any(line.text for line in section.lines)}
    for section in taken:
        if section.letter and section.lines and section.title not in filled:
            yield Leftover(section.lines[0].number - 1, section.title, "a section without text")


def _open_as_heads(lines: Sequence[tuple[int, bool]], entries: int) -> dict[Sign, str]:
    lettered = [line for line, begins in lines if begins]
    if len(lettered) > max(2, SWALLOWED_OF_LETTER * entries):
        found, how = lettered, "with the letter of their section "
    elif len(lines) > max(2, SWALLOWED * entries):
        found, how = [line for line, _ in lines], ""
    else:
        return {}
    return {
        "opens_as_heads": f"{len(found)} lines inside explanations open {how}as the {entries} heads do, "
        f"line {found[0]} first: put blank lines between entries"
    }


def _passed_over(
    others: Sequence[Section], places: Sequence[tuple[Section, Sequence[Head]]], shape: Shape
) -> dict[Sign, str]:
    """Sections not read that hold heads of the shape: their titles were not taken for letters."""
    read_ones = {head.text for _, found in places for head in found}
    found = [
        (section, section.lines[head.start].number)
        for section in others
        for head in SHAPES[shape.name][1](section)
        if head.text not in read_ones  # as a table of contents has them
    ]
    if len(found) < 3 or len(found) <= 0.02 * shape.heads:
        return {}
    section, line = found[0]
    return {
        "sections_passed_over": f"sections that are not read hold {len(found)} heads of the shape, "
        f"{section.title!r} first (line {line}): write their titles as the others', or name the `sections`"
    }


def _uncounted(
    order: Alphabet, shape: Shape, places: Sequence[tuple[Section, Sequence[Head]]]
) -> dict[Sign, str]:
    """Nothing but the shape says how many entries a book has: no numbers, letters or alphabet."""
    if order.counted is not None or order.heads < _COUNTED_BY_EYE:
        return {}
    if (2 * shape.lettered > shape.heads and shape.name != "quotes") or counted_by_numbers(places):
        return {}
    return {
        "unsorted": f"{order.in_order} of {order.heads} heads are in alphabetical order, so that nothing but "
        "the shape counts the entries: say in `entries` how many the book has"
    }


def _cut_short(entries: Sequence[BookEntry]) -> dict[Sign, str]:
    """The book ends within a sentence, though its explanations end with theirs; verse has no stops."""
    ended = [_ended(entry.paragraphs[-1:]) for entry in entries]
    if len(ended) < 2 or ended[-1] or sum(ended[:-1]) < ENDED * (len(ended) - 1):
        return {}
    last = entries[-1]
    *before, text = last.paragraphs or [""]
    if before and not _ended(before[-1:]) and len(text.split()) <= _VERSE_WORDS:
        return {}
    return {
        "cut_short": f"the text ends within the entry of line {last.line}, {last.head[:60]!r}: fetch the "
        "whole file again, or end it after its last whole entry"
    }


def _ended(texts: Sequence[str]) -> bool:
    return all(text.rstrip(" »”\"')").endswith(_ENDS) for text in texts)


def _swallowed(taken: Sequence[Section], name: str, heads: set[int]) -> Iterator[tuple[int, bool]]:
    """Lines that open with a short head and the mark of the shape, and were not taken for heads.

    Yields:
        The line's number, and whether it begins with the letter of its section.
    """
    mark = ON_ONE_LINE.get(name)
    for within, line in ((one, line) for one in taken for line in one.lines) if mark else ():
        wraps = line.text.startswith("~~")
        if line.number not in heads and mark and not wraps and (found := head_on_line(line.text, mark)):
            yield line.number, bool(within.letter) and begins_with(found[0], within.letter)


def _count(taken: Sequence[Section], name: str) -> int:
    """Heads by an expression over the whole text of each section; the first pass reads line by line."""
    expression = re.compile(SHAPES[name][2], re.MULTILINE)
    total = 0
    for section in taken:
        text = "\n\n" + "\n".join(("  " if line.indented else "") + line.text for line in section.lines)
        total += len(expression.findall(text))
    return total


def _refuse_silence(section: Section, found: list[BookEntry], shape: Shape) -> None:
    """A section with text and no head, in a book whose other sections have them, is another layout."""
    words = sum(len(line.text.split()) for line in section.lines)
    if section.letter and not found and words >= 60:
        raise SourceChanged(
            f"section {section.title!r} (line {section.lines[0].number}) holds {words} words and no head of "
            f"the shape {shape.name!r}, which the other sections have: name its layout in a second source"
        )


def _entries(section: Section, heads: Sequence[Head]) -> tuple[list[BookEntry], list[Leftover]]:
    lines = section.lines
    first = heads[0].start if heads else len(lines)
    before = [
        Leftover(line.number, line.text, f"before the first head of {section.title!r}")
        for line in lines[:first]
        if not is_mark(line.text)
    ]
    found = []
    for head, under in with_text(section, heads):
        body = [head.rest] if head.rest else []
        entry = BookEntry(lines[head.start].number, _NOTE_MARK.sub("", head.text) or head.text)
        entry.paragraphs = list(_paragraphs([*body, *(line.text for line in under)]))
        found.append(entry)
    return found, before


def _paragraphs(texts: Sequence[str]) -> Iterator[str]:
    block: list[str] = []
    for text in [*texts, ""]:
        if text and PAGE.fullmatch(text) is None:
            block.append(text.removeprefix(": ").strip())
        elif not text and block:
            whole = unwrap(block).replace("%~%", "/")
            if FOOTNOTE.sub("", whole).strip(" .،:"):
                yield whole
            block = []
