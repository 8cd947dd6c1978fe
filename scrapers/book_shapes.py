"""Shapes of entries in books as text: how heads are told from the text around them, and which shape fits.

Each known shape proposes its heads; the one whose heads are most, explained, different and begin with the
letter of their section wins. A second expression for each counts heads another way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import NamedTuple

from mihakk.errors import SourceChanged
from scrapers.heads import closes_itself, is_short_head, section_letter

FOOTNOTE = re.compile(r"[٠-٩\d]+\s*[.،]?")
PAGE = re.compile(r"#META#.*|-{3,}|={3,}|(?:[*⁂~•◆❖] ?){3,}|[-–—] ?[٠-٩۰-۹\d]{1,4} ?[-–—]")
"""A line that is no text: a page's number, a rule, a line of OpenITI's header."""
_LEAST_HEADS = 3
_LABEL = 0.2
"""A head that makes up more than this share of all heads is a label ("They said:"), not an entry."""
_RIVAL = 0.6
"""A second shape whose score comes this near to the best one's makes the book ambiguous."""
GLOSS = ("أي", "اي", "انظر", "والمراد", "المراد", "والمعنى", "ويروى", "يروى", "قال", "وقال", "مثل", "مثال")
LABELLED = "¶"
"""Before a head that bore a label (`المثل: ...`)."""
HEADING = "##"
"""Before a head that stands in a heading of any kind (`### `, `### ||`, `===`), as the sections leave it."""
_NUMBER = r"[\d٠-٩۰-۹]{1,5} ?[).–-]"
_NUMBERED = re.compile(rf"^{_NUMBER} ?")
_LESS = 0.98
"""A colon or `=` stands in sentences too: another mark that gives nearly as many heads is the heads' own."""
_GAP = re.compile(r"\t+| {3,}")
"""What parts two columns of a line."""
_ENCLOSED_HEAD = re.compile(r"(?:«([^«»]+)»|\*\*([^*]+)\*\*) ?[:–—-] ?(?=\S|\Z)|\*\*([^*]+)\*\*\s+(?=\S)")
"""A head between marks, which may hold a colon, before its explanation."""
_ENCLOSED = 160
"""Most characters of a head between two marks."""
_LONGEST_HEAD = 5
"""Lines over which a converter may have wrapped a head."""
_IN_SENTENCES = (":", "=")
"""Marks that sentences hold too, so that only a short text before one is a head."""
_ALONE = 0.9
"""Of heads that stand above a blank line, so that one above a line of text was wrapped."""
_PAGE_WIDTHS = (30, 130)
_WRAPPED = 0.5
"""Lines of a wrapped text, but the last of a paragraph, that the next word would not have fitted behind."""
_LONG_HEAD = 20
"""Words of a head before a mark that stands between spaces."""


class Line(NamedTuple):
    """One line of the book."""

    number: int
    """Counted from 1."""
    text: str
    """Without the spaces around it; empty for a blank line."""
    indented: bool = False


@dataclass
class Section:
    """The lines under one heading."""

    title: str
    lines: list[Line] = field(default_factory=list)
    book: Book | None = None
    """What holds for all sections read; the section stands alone where there is none."""

    @cached_property
    def letter(self) -> str:
        """The letter that all its heads begin with, folded; empty for other sections."""
        return section_letter(self.title)


@dataclass
class Book:
    """The sections read, and what is told from all of them."""

    sections: Sequence[Section]
    habits: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    """By the expression of a mark, whether a colon ends most of the heads that bear it, and whether they
    stand above a blank line."""

    @cached_property
    def page(self) -> int:
        """Letters of the page at whose width the text is wrapped; 0 where it is not."""
        return page_width([one for section in self.sections for _, one in fittings(section.lines)])


class Head(NamedTuple):
    """Where a head stands among the lines of its section, and what it says."""

    start: int
    stop: int
    """The line after its last."""
    text: str
    rest: str = ""
    """Explanation on the head's own line."""


def with_text(section: Section, heads: Sequence[Head]) -> Iterator[tuple[Head, list[Line]]]:
    """Each head of a section with the lines under it."""
    for head, following in zip_longest(heads, heads[1:]):
        yield head, section.lines[head.stop : following.start if following else len(section.lines)]


def fittings(lines: Sequence[Line]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Lines that are not their paragraph's last: their letters, and these with the next line's first word."""
    for place, (above, below) in enumerate(pairwise(lines)):
        if above.text and below.text:
            yield place, (len(above.text), len(above.text) + 1 + len((below.text.split() or [""])[0]))


def page_width(found: Sequence[tuple[int, int]]) -> int:
    """Letters of the page at whose width lines (`fittings`) are wrapped; 0 where they are not."""
    widths = sorted(width for width, _ in found)
    page = widths[-1 - len(widths) // 50] if widths else 0
    wrapped = sum(needed > page for _, needed in found) >= _WRAPPED * len(found)
    return page if wrapped and _PAGE_WIDTHS[0] <= page <= _PAGE_WIDTHS[1] else 0


def unwrap(lines: Sequence[str]) -> str:
    """One paragraph on one line; a mark that the converter set on its own line goes back to its word."""
    lines = [line.removeprefix("~~").strip() for line in lines]
    kept = [line for line in lines if not re.fullmatch(r"[٠-٩]+", line)]
    return re.sub(r"\s+([،؛.:)»])", r"\1", " ".join(kept or lines))


def _blank(lines: Sequence[Line], place: int) -> bool:
    """No line stands there, or one without text."""
    return not 0 <= place < len(lines) or not lines[place].text


def _quoted(section: Section) -> Iterator[Head]:
    """One or more lines wholly in «», before a blank line; the line before need not be blank."""
    lines = section.lines
    for start, line in enumerate(lines):
        if not line.text.startswith("«"):
            continue
        for stop in range(start + 1, min(start + _LONGEST_HEAD, len(lines)) + 1):
            text = unwrap([one.text for one in lines[start:stop]])
            inner = closes_itself(text)
            if inner:
                if _blank(lines, stop):
                    yield Head(start, stop, inner)
                break
            if _blank(lines, stop):
                break


def _colon(section: Section) -> Iterator[Head]:
    """A short paragraph of one line that ends in a colon.

    Two heads of al-Kinayat have lost colon and explanation to a footnote; they are known by the footnote's
    digit that follows.
    """
    lines = section.lines
    for place, line in enumerate(lines):
        if not line.text or not (_blank(lines, place - 1) and _blank(lines, place + 1)):
            continue
        bare = line.text.removesuffix(":").strip()
        if not is_short_head(bare, section.letter):
            continue
        following = next((one.text for one in lines[place + 1 :] if one.text), "")
        if line.text.endswith(":") or (section.letter and FOOTNOTE.fullmatch(following)):
            yield Head(place, place + 1, bare)


def _colon_line(section: Section) -> Iterator[Head]:
    """The first line of a block of lines, short and ending in a colon, without any other mark."""
    lines = section.lines
    for place, line in enumerate(lines):
        if line.text.endswith(":") and _blank(lines, place - 1) and not _blank(lines, place + 1):
            bare = line.text.removesuffix(":").strip()
            if bare[:1].isalpha() and is_short_head(bare, section.letter) and bare not in GLOSS:
                yield Head(place, place + 1, bare)


def is_mark(text: str) -> bool:
    """A blank line, a footnote's digit or a page mark."""
    return not text or FOOTNOTE.fullmatch(text) is not None or PAGE.fullmatch(text) is not None


def head_on_line(text: str, mark: str) -> tuple[str, str] | None:
    """A short head and what stands after its mark; between spaces a mark may follow a long head."""
    head, *rest = re.split(mark, text, maxsplit=1)
    if not rest or not rest[0].strip() or "\t" in head:  # a tab parts columns
        return None
    if mark in _IN_SENTENCES:
        short = is_short_head(head, "")
    else:
        short = is_short_head(head.replace(":", " "), "", _LONG_HEAD)
    return (head, rest[0]) if short else None


def _same_line(mark: str) -> Callable[[Section], Iterator[Head]]:
    """A paragraph that begins with a short head, a mark and its explanation."""
    marked = re.compile(mark)

    def heads(section: Section) -> Iterator[Head]:
        lines = section.lines
        for place, line in enumerate(lines):
            # Few lines of a book in another shape hold the mark at all.
            if not marked.search(line.text) or not (
                _blank(lines, place - 1) or ends_sentence(lines[place - 1].text)
            ):
                continue
            head, rest = head_on_line(line.text, mark) or ("", "")
            head = _NUMBERED.sub("", head).strip(" «»“”*_")
            if head and head not in GLOSS and begins_with(head, section.letter):
                yield Head(place, place + 1, head, rest.strip())

    return heads


def ends_sentence(line: str) -> bool:
    """Whether a new entry may begin after it without a blank line."""
    return line.endswith((".", "؟", "!", "»", "…"))


def _marked(pattern: str) -> Callable[[Section], Iterator[Head]]:
    """A line with a mark of its own: a number, a bullet, OpenITI's `### $`.

    A colon ends the head where most of these lines in the book have one; elsewhere it belongs to it ("He
    asked: ...").
    """
    mark = re.compile(pattern)

    def marked(section: Section) -> list[tuple[int, str]]:
        found = [(place, mark.match(line.text)) for place, line in enumerate(section.lines)]
        return [(place, section.lines[place].text[one.end() :]) for place, one in found if one]

    def habits(book: Book) -> tuple[bool, bool]:
        if pattern not in book.habits:
            found = [(one.lines, place, text) for one in book.sections for place, text in marked(one)]
            parted = 2 * sum(":" in text for _, _, text in found) > len(found)
            alone = sum(_blank(lines, place + 1) for lines, place, _ in found) >= _ALONE * len(found)
            book.habits[pattern] = parted, alone
        return book.habits[pattern]

    def heads(section: Section) -> Iterator[Head]:
        texts = marked(section)
        if not texts:
            return
        book = section.book or Book([section])
        parted, alone = habits(book)
        page = book.page if alone and not parted else 0
        full = {place for place, (_, needed) in fittings(section.lines) if needed > page} if page else set()
        for place, first in texts:
            text, stop = first, place + 1
            while stop - 1 in full and stop - place < _LONGEST_HEAD:
                text, stop = unwrap([text, section.lines[stop].text]), stop + 1
            while "«" in text[:1] and "»" not in text and stop - place < _LONGEST_HEAD:
                if _blank(section.lines, stop):
                    break
                text, stop = unwrap([text, section.lines[stop].text]), stop + 1
            if enclosed := _ENCLOSED_HEAD.match(text):
                head = next(filter(None, enclosed.groups()))
                yield Head(place, stop, head.strip(" .:"), text[enclosed.end() :].strip())
                continue
            head, _, rest = text.partition(":") if parted else (text, "", "")
            if head.strip(" «».*_:"):
                yield Head(place, stop, head.strip(" «».*_:"), rest.strip())

    return heads


def _enclosed(left: str, right: str, *, run_in: bool = False) -> Callable[[Section], Iterator[Head]]:
    """A paragraph that begins with a head between two marks, on one line or wrapped, its number left aside.

    In the section of a letter, a head that begins with it may follow any line. Not so between marks of
    quotations (`run_in`), which also need the explanation on the same line.
    """
    number, outside = rf"(?:{_NUMBER} ?)?", re.escape(left + right)
    mark = re.compile(
        rf"{number}{re.escape(left)}{number}([^{outside}]{{1,{_ENCLOSED}}}){re.escape(right)} ?[:.،–-]?(.*)"
    )

    def heads(section: Section) -> Iterator[Head]:
        lines = section.lines
        for start, line in enumerate(lines):
            before = _blank(lines, start - 1) or ends_sentence(lines[start - 1].text)
            if not (before or (section.letter and not run_in)) or left not in line.text:
                continue
            stop = start + 1
            while not (found := mark.fullmatch(unwrap([one.text for one in lines[start:stop]]))):
                if _blank(lines, stop) or stop - start == _LONGEST_HEAD:
                    break
                stop += 1
            if found and begins_with(found[1], section.letter) and (found[2].strip() or not run_in):
                yield Head(start, stop, found[1].strip(" .:"), found[2].strip())

    return heads


def _columns(section: Section) -> Iterator[Head]:
    """Two columns: head and explanation on a line with a gap between them, the rest below, indented.

    In the section of a letter, a line at the margin without a second column is a head that nothing explains.
    """
    margin = [
        (place, line.text) for place, line in enumerate(section.lines) if line.text and not line.indented
    ]
    gaps = sum(_GAP.search(text) is not None for _, text in margin)
    for place, text in margin if 2 * gaps > len(margin) else ():
        head, rest = [*_GAP.split(text, maxsplit=1), ""][:2]
        if (rest or section.letter) and begins_with(head, section.letter):
            yield Head(place, place + 1, head.rstrip(" :"), rest)


def _definition(section: Section) -> Iterator[Head]:
    """A term on a line of its own, its definition after a colon on the next line, or below a blank one."""
    lines = section.lines
    for place, line in enumerate(lines[:-1]):
        if not line.text or _defines(line.text):
            continue
        below = lines[place + 1].text
        if not below and not line.indented and _blank(lines, place - 1):
            below = lines[min(place + 2, len(lines) - 1)].text
        if _defines(below):
            yield Head(place, place + 1, line.text.strip(" «»:;"))


def _defines(text: str) -> bool:
    return text == ":" or text.startswith(": ")


def _indented(section: Section) -> Iterator[Head]:
    """A short line at the margin with indented lines under it."""
    lines = section.lines
    for place, line in enumerate(lines[:-1]):
        below = lines[place + 1]
        alone = line.text and not line.indented and not _GAP.search(line.text)
        if alone and below.text and below.indented:
            yield Head(place, place + 1, line.text.strip(" «»:."))


def _first_line(section: Section) -> Iterator[Head]:
    """The first line of a block of lines, shorter than what follows it."""
    lines = section.lines
    for place, line in enumerate(lines[:-1]):
        below = lines[place + 1]
        alone = line.text and _blank(lines, place - 1) and below.text and not below.indented
        alone = alone and not _defines(below.text)
        if alone and len(line.text.split()) <= 10 and not line.text.endswith((".", "،", ":")):
            yield Head(place, place + 1, line.text.strip(" «»"))


_BLANK_BEFORE = r"(?:\A|\n[^\S\n]*\n)[^\S\n]*"
_ENTRY_BEFORE = r"(?:\A|(?:\n|[.؟!»…])[^\S\n]*\n)[^\S\n]*"
_INSIDE = r"(?:[^«»\n]|\n(?![^\S\n]*\n))*"


def _short_before(mark: str) -> str:
    """Up to eight words, then the mark and text on the same line."""
    word = f"[^\\s{mark.strip()}]+"
    return rf"{_ENTRY_BEFORE}(?:{word}[^\S\n]+){{0,7}}{word}[^\S\n]*{mark}[^\S\n]*(?=[^\s])"


def _long_before(marks: str) -> str:
    """Up to twenty words, then a mark between spaces and text on the same line."""
    word = rf"(?![{marks}][^\S\n])\S+"
    return rf"{_ENTRY_BEFORE}{word}(?:[^\S\n]+{word}){{0,{_LONG_HEAD - 1}}} [{marks}] (?=\S)"


def _enclosing(left: str, right: str) -> str:
    """A line that opens with two marks around a text, wherever it stands."""
    number, outside, left, right = (
        rf"(?:{_NUMBER} ?)?",
        re.escape(left + right),
        re.escape(left),
        re.escape(right),
    )
    inside = rf"(?:[^{outside}\n]|\n(?!\n)){{1,{_ENCLOSED}}}"
    return rf"^{number}{left}{number}(?=[\d\W]*[^\d\W]){inside}{right}"


ON_ONE_LINE = {"same_line": ":", "dash": " [-–—] ", "equals": "=", "slash": " / "}
"""Shapes that have head and explanation on one line, with the mark between them."""
ENCLOSED = {"parentheses": "()", "brackets": "[]", "bold": ("**", "**"), "straight_quotes": '""'}
"""Shapes whose heads stand between two marks, with the marks."""
SHAPES: dict[str, tuple[str, Callable[[Section], Iterator[Head]], str]] = {
    "quoted": (
        "heads are lines wholly in «» before a blank line",
        _quoted,
        rf"^[^\S\n]*«{_INSIDE}(?:«{_INSIDE}»{_INSIDE}){{0,6}}»[.؟!…]{{0,3}}[^\S\n]*(?:\n[^\S\n]*\n|\n?\Z)",
    ),
    "colon": (
        "heads are short paragraphs that end in a colon",
        _colon,
        rf"{_BLANK_BEFORE}[^\n:]{{1,60}}:[^\S\n]*(?=\n[^\S\n]*\n)",
    ),
    "colon_line": (
        "the first line of each block is its head and ends in a colon",
        _colon_line,
        rf"{_BLANK_BEFORE}[^\W\d_][^\n:]{{,59}}:[^\S\n]*(?=\n[^\S\n]*\S)",
    ),
    **{
        name: (
            f"paragraphs begin with a head in {left} {right}",
            _enclosed(left, right),
            _enclosing(left, right),
        )
        for name, left, right in (("parentheses", "(", ")"), ("brackets", "[", "]"), ("bold", "**", "**"))
    },
    "quotes": (
        "paragraphs begin with a head in «» before the explanation",
        _enclosed("«", "»", run_in=True),
        rf"{_ENTRY_BEFORE}(?:{_NUMBER} ?)?«(?:[^«»\n]|\n(?!\n)){{1,{_ENCLOSED}}}» ?[:.،–-]?[^\S\n]*[^\s»]",
    ),
    "straight_quotes": ('paragraphs begin with a head in " "', _enclosed('"', '"'), _enclosing('"', '"')),
    "dash": ("paragraphs begin with a head and a dash", _same_line(" [-–—] "), _long_before("-–—")),
    "slash": ("paragraphs begin with a head and a slash", _same_line(" / "), _long_before("/")),
    "equals": ("paragraphs begin with a head and `=`", _same_line("="), _short_before("=")),
    "numbered": (
        "heads are numbered",
        _marked(r"[(\[]?[\d٠-٩۰-۹]{1,5}(?:[)\].]|\s?[.–—ـ-])\s*(?=\D)"),
        r"^[^\S\n]*[(\[]?[\d٠-٩۰-۹]{1,5}(?:[)\].]|[^\S\n]?[.–—ـ-])[^\S\n]*[^\d\s]",
    ),
    "bulleted": ("heads bear a bullet", _marked(r"[•●▪◦*–-]\s+"), r"^[^\S\n]*[•●▪◦*–-][^\S\n]+\S"),
    "mark": ("heads bear OpenITI's `### $`", _marked(rf"### \$+[A-Z_$]* ?(?:{_NUMBER} ?)?"), r"^### \$"),
    "labelled": ("heads bear a label such as `المثل:`", _marked(rf"{LABELLED} "), rf"^{LABELLED} "),
    "heading": (
        "heads stand in headings of one level",
        _marked(rf"{HEADING} (?:{_NUMBER} ?)?"),
        rf"^{HEADING} ",
    ),
    "same_line": ("paragraphs begin with a head and a colon", _same_line(":"), _short_before(":")),
    "definition": (
        "terms stand above definitions that begin with a colon",
        _definition,
        r"^(?!: )[^\n]*[^\s\n][^\n]*\n(?:[^\S\n]*\n)?:(?: |$)",
    ),
    "columns": ("heads stand in a first column", _columns, r"^[^\W\d]"),
    "indented": ("explanations are indented under their heads", _indented, r"^\S[^\n]*\n[ \t]+\S"),
    "first_line": (
        "the first line of each block is its head",
        _first_line,
        rf"{_BLANK_BEFORE}(?:[^\s]+[^\S\n]+){{0,9}}[^\s]*[^\s.،:](?=\n(?!:[ \n])\S)",
    ),
}
"""Name to what it means, the heads it proposes, and an expression that counts heads another way.

Of two that give as many heads the first is taken.
"""


@dataclass(frozen=True)
class Shape:
    """The shape of a book's entries, with the evidence for it."""

    name: str
    heads: int
    explained: int
    """Heads with text under them."""
    lettered: int
    """Heads that stand in the section of a letter."""
    in_order: int
    """Of these, the ones that begin with it."""
    rivals: tuple[tuple[str, int], ...] = ()
    """Other shapes that some lines would fit, and how many heads each would give."""

    def __str__(self) -> str:
        text = f"{self.name}: {SHAPES[self.name][0]} ({self.heads} heads, {self.explained} of them explained"
        if self.lettered:
            text += f", {self.in_order} of {self.lettered} begin with the letter of their section"
        text += ")"
        others = ", ".join(f"{name} {count}" for name, count in self.rivals)
        return f"{text}; other shapes would give: {others}" if others else text


def find_shape(found: Sequence[Section], headed: Sequence[Section] = ()) -> Shape:
    """The shape of the entries in these sections.

    Args:
        found: Sections of the book.
        headed: The same where headings may be heads, and are lines.

    Raises:
        SourceChanged: None fits, or two fit about as well and give different heads.
    """
    where = dict.fromkeys(SHAPES, found) | {"heading": headed}
    scored = sorted(
        ((score, shape) for name in SHAPES for score, shape in [_score(name, where[name])] if score > 0),
        key=lambda pair: -pair[0] * (_LESS if pair[1].name in ("same_line", "equals") else 1.0),
    )
    if not scored:
        labels = next((label for name in SHAPES if (label := _label(name, found))), "")
        raise SourceChanged(
            "no shape of entries is seen in the book (heads in «», with a colon, dash, number or bullet, or "
            "on lines of their own)"
            + (f"; {labels!r} begins many entries and is a label, not a head" if labels else "")
            + ": name the sections that hold entries, or make a table of the book"
        )
    best, shape = scored[0]
    rivals = tuple((other.name, other.heads) for _, other in scored[1:4])
    near = [other for score, other in scored[1:] if score >= _RIVAL * best]
    near = [other for other in near if _overlap(shape.name, other.name, where) < 0.8]
    if near:
        raise SourceChanged(
            f"the book has entries of two shapes: {shape}; and {near[0]}: name one of them in the option "
            "`layout`, and the sections that it holds for in `sections`"
        )
    return replace(shape, rivals=rivals)


def measure(name: str, found: Sequence[Section]) -> Shape:
    """A shape that the config names, with what it finds.

    Raises:
        SourceChanged: The book has no head of that shape.
    """
    _, shape = _score(name, found)
    if not shape.heads:
        raise SourceChanged(f"no head of the layout {name!r} ({SHAPES[name][0]}) is in the book")
    return shape


def _score(name: str, found: Sequence[Section]) -> tuple[float, Shape]:
    heads = explained = ordered = lettered = 0
    for section in found:
        for head, under in with_text(section, list(SHAPES[name][1](section))):
            heads += 1
            explained += bool(head.rest) or any(line.text for line in under)
            if section.letter:
                lettered += 1
                ordered += begins_with(head.text, section.letter)
    shape = Shape(name, heads, explained, lettered, ordered)
    order = ordered / lettered if lettered else 1.0
    enough = heads >= _LEAST_HEADS and explained >= 0.6 * heads and order >= 0.5 and not _label(name, found)
    return (explained * order if enough else 0.0), shape


def _label(name: str, found: Sequence[Section]) -> str:
    """What far too many heads of a shape say before a colon or after one, as labels do; else empty."""
    heads = [head.text for one in found for head in SHAPES[name][1](one)]
    said = Counter(part.strip() for head in heads for part in dict.fromkeys(head.split(":", 1)) if part)
    label, count = said.most_common(1)[0] if said else ("", 0)
    return label if count >= _LEAST_HEADS and count > _LABEL * len(heads) else ""


def begins_with(head: str, letter: str) -> bool:
    """Whether a head begins with the letter of its section, its article left aside."""
    return is_short_head(" ".join(head.replace(":", " ").split()[:3]), letter)


def _overlap(one: str, other: str, where: Mapping[str, Sequence[Section]]) -> float:
    """Share of the second shape's heads that the first has too."""
    first, second = (
        {section.lines[head.start].number for section in where[name] for head in SHAPES[name][1](section)}
        for name in (one, other)
    )
    return len(first & second) / len(second) if second else 1.0
