"""A book of entries, read by a declaration: what an entry looks like, and where the entries begin and end.

Nothing is inferred from the book. The declaration is the user's; the evidence (`book_evidence.py`) says how
well the book fits it, and what refuses the book until a person has looked.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Literal, NamedTuple

import regex
from pydantic import Field

from mihakk.machinery.errors import RecordRejected, SourceChanged, UsageError
from mihakk.machinery.languages import pack
from mihakk.machinery.text.references import only_refers
from mihakk.machinery.text.script import has_arabic
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Form, Language, Provenance
from mihakk.scrapers.book_evidence import BookEntry, Evidence, Name, evidence
from mihakk.scrapers.heads import begins_with, section_letter
from mihakk.scrapers.source import LocalOptions

SHAPES: Mapping[str, str] = {
    "quoted": r"^«(?P<head>(?:[^«»]|«[^«»]*»)+?)[ .]*»[ .؟!…]*\n(?=\n)",
    "run_in": r"^«(?P<head>[^«»]+)» ?[:–—-] ?(?=\S)",
    "colon": r"(?<=\n\n)(?P<head>[^:\n«»#]{1,120}?(?:\n[^:\n«»#]{1,60}?)?) ?:\n",
    "same_line": r"(?<=\n\n)(?P<head>[^:\n«»#]{1,120}?) ?: (?=\S)",
    "line_each": r"^(?P<head>[^:\n«»#]{1,120}?) ?: (?=\S)",
    "numbered": r"^\(?(?P<number>\d{1,5}) ?[).–-] ?(?P<head>[^:\n]{1,120}?) ?(?::|$)",
    "number_above": (
        r"^\(?(?P<number>\d{1,5})\)?\n+(?P<head>[^\n]+(?:\n[^\n]+){0,3}?) ?(?::\n|(?<![: ])(?=\n\n))"
    ),
    "dash": r"^(?P<head>[^\n–—-]{1,80}?) [–—-] (?=\S)",
    "equals": r"^(?P<head>[^\n=]{1,80}?) ?= ?(?=\S)",
    "capitals": r"(?<=\n\n)(?P<head>[A-Z][A-Z',&() -]{0,60}[A-Z')](?:,? or [A-Z' -]+)?)[.,:;] (?=\S)",
    "marked": r"(?<=\n\n)(?P<mark>[~*_]{1,2})(?P<head>[^~*_\n]{1,80})(?P=mark)[.,:;]? ?(?=\S)",
    "heading": r"^#{2,4} (?P<head>[^\n#|][^\n]*?)$",
    "terms": r"^(?P<head>[^\n:#]+?) ?:?\n(?=: )",
}
"""Ready patterns of an entry, by the name that `layout` gives; `source try --suggest` tries these."""
SECONDS = 20.0
"""A pattern that takes longer over a whole book is refused; others need less than one."""
_NOTE_LINE = re.compile(r"[٠-٩]+")
"""A footnote's digit that a converter set on a line of its own."""
_NO_TEXT = re.compile(r"(?:[٠-٩\d]++\s*+[.،]?+|[ .،:]++)*+")
_RULE = re.compile(r"#META#.*|-{3,}|={3,}|(?:[*⁂~•◆❖] ?){3,}|[-–—] ?[٠-٩۰-۹\d]{1,4} ?[-–—]")
"""A rule or a page's number between two paragraphs."""
_SPACED = re.compile(r"\s(?<!\s\s)\s*+([،؛.:)»])")


class Line(NamedTuple):
    """One line of a book."""

    number: int
    """In its file, from 1; of an EPUB or a page in the text made of it."""
    text: str


class BookOptions(LocalOptions):
    """What a config says of a book of entries; in each pattern `^` and `$` are the ends of lines."""

    entry: str = ""
    """Pattern of an entry: a group `head`, and `number` and `explanation` where these are written in it."""
    layout: str = ""
    """Name of a ready pattern, in place of `entry`."""
    start: str = ""
    """Pattern of the first line of the part that holds entries; the book's first line when empty."""
    end: str = ""
    """Pattern of the first line behind that part; the book's end when empty."""
    sections: str = ""
    """Pattern of the headings under which entries stand; under every heading when empty."""
    lettered: bool = False
    """A head begins with the letter that the heading above it names (`حرف الباء`), and what does not is text;
    only below such headings are entries read."""
    drop: tuple[str, ...] = ()
    """Patterns of lines that are no text, such as running heads."""
    entries: int = Field(default=0, ge=0)
    """How many entries the book has, by its own word or by counting them; 0 where nobody has counted."""
    accept: dict[Name, float] = Field(default_factory=dict)
    """Evidence against the declaration that a person looked at and takes for right: its name and figure."""
    language: Language = "ar"
    genre: Literal["idiom", "proverb"] = "idiom"
    dialect: str = ""


class Leftover(NamedTuple):
    """A line that belongs to no entry."""

    line: int
    text: str
    why: str


@dataclass
class Reading:
    """What a book gave, with an account of all its lines."""

    entries: list[BookEntry]
    headings: int
    leftovers: list[Leftover]
    dropped: list[Line]
    evidence: Sequence[Evidence]

    @property
    def median(self) -> float:
        """Words of an explanation."""
        return median(entry.words for entry in self.entries)

    def problems(self) -> list[str]:
        """What refuses the book: evidence against the declaration that nobody has accepted."""
        found = [f"{one.says} ({one.name})" for one in self.evidence if one.refuses]
        if found:
            told = ", ".join(f"{one.name}: {one.figure:g}" for one in self.evidence if one.refuses)
            found.append(f"correct the declaration; or, where the book is right, say `accept: {{{told}}}`")
        return found


def pattern_of(declared: BookOptions) -> regex.Pattern[str]:
    """The pattern of an entry.

    Raises:
        UsageError: None is declared, or it is no pattern, has no `head` or matches nothing at all.
    """
    if bool(declared.entry) == bool(declared.layout):
        raise UsageError(
            "say what an entry looks like: in `entry`, a pattern with a group `head`, or by the name of "
            f"a ready one in `layout` ({', '.join(SHAPES)}); `mihakk source try FILE --suggest` prints "
            "what fits"
        )
    if declared.layout and declared.layout not in SHAPES:
        raise UsageError(
            f"`layout: {declared.layout}` is none of {', '.join(SHAPES)}: write the pattern in `entry`"
        )
    pattern = _compiled("entry", declared.entry or SHAPES[declared.layout])
    if "head" not in pattern.groupindex:
        raise UsageError(f"`entry` has no group `head`, as in (?P<head>[^:\\n]+): {pattern.pattern!r}")
    if others := set(pattern.groupindex) - {"head", "number", "explanation", "mark"}:
        raise UsageError(
            f"`entry` has a group {sorted(others)[0]!r}: known are head, number and explanation; write "
            "others as (?:...)"
        )
    if pattern.fullmatch(""):
        raise UsageError(
            f"`entry` matches an empty text, so that every place would be an entry: {pattern.pattern!r}"
        )
    return pattern


def _runs_away(option: str, pattern: str) -> UsageError:
    return UsageError(
        f"`{option}` took more than {SECONDS:g} s on this book, as nested repetition such as (a+)+ does: "
        f"{pattern!r}"
    )


def _fits(option: str, pattern: str) -> Callable[[str], bool]:
    """Whether a line fits the pattern of an option, which has `SECONDS` for all lines together."""
    compiled = _compiled(option, pattern)
    left = SECONDS

    def fits(line: str) -> bool:
        nonlocal left
        began = perf_counter()
        try:
            found = compiled.search(line, timeout=left) is not None
        except TimeoutError as error:
            raise _runs_away(option, pattern) from error
        left = max(0.001, left - (perf_counter() - began))
        return found

    return fits


def _compiled(option: str, pattern: str) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise UsageError(f"`{option}` is no pattern: {error}: {pattern!r}") from error


def read(lines: Sequence[Line], declared: BookOptions) -> Reading:
    """All entries of a book, by its declaration.

    An explanation is what stands until the next entry or heading, unless the pattern has a group for it.

    Raises:
        UsageError: A pattern can't be used: see `pattern_of`; or it runs away on this book.
        SourceChanged: `start` or `end` is no line of the book, or `entry` matches nothing in it.
    """
    pattern = pattern_of(declared)
    part, dropped, left = _part(lines, declared)
    text, starts = _joined(part)
    matches = _matches(pattern, text)
    headings = _headings(part, starts, matches, declared)
    if declared.lettered:
        matches = _lettered(matches, headings)
    above = headings.above(match.start() for match in matches)
    taken = [(match, title) for match, title in zip(matches, above, strict=True) if title is not None]
    if not taken:
        seen = next((line for line in part if line.text), Line(0, ""))
        raise SourceChanged(
            f"`entry` matches nothing in {len(part)} lines, and {len(matches)} places under headings that "
            f"are not read; the first line is {seen.number}, {seen.text[:60]!r}: the pattern is "
            f"{pattern.pattern!r}"
        )
    stops = [*(match.start() for match in matches), *headings.starts, len(text)]
    stops.sort()
    explained, numbered = (group in pattern.groupindex for group in ("explanation", "number"))
    entries, covered = [], []
    for match, title in taken:
        stop = stops[bisect_left(stops, match.end())]
        given = match["explanation"] if explained else None
        body = given if given is not None else text[match.end() : stop]
        number = match["number"] if numbered else None
        entries.append(
            BookEntry(
                line=part[bisect_right(starts, match.start("head")) - 1].number,
                head=" ".join(match["head"].split()),
                paragraphs=list(paragraphs(body.split("\n"))),
                number=int(number) if number and number.isdecimal() else None,
                title=title,
            )
        )
        covered.append((match.start(), match.end() if given is not None else stop))
    left += _uncovered(part, starts, covered, headings)
    letters = sum(len(line.text) for line in part)
    outside = sum(len(one.text) for one in left if one.why != _NOT_READ)
    return Reading(
        entries=entries,
        headings=len(headings.starts),
        leftovers=left,
        dropped=dropped,
        evidence=evidence(
            entries,
            1 - outside / letters if letters else 0.0,
            numbered=numbered,
            stated=declared.entries,
            accept=declared.accept,
        ),
    )


_NOT_READ = "outside `start` and `end`, or under a heading that is not read"


def _part(lines: Sequence[Line], declared: BookOptions) -> tuple[list[Line], list[Line], list[Leftover]]:
    """Lines between `start` and `end`, those dropped among them, and the others."""
    first, last = 0, len(lines)
    if declared.start:
        first = _line_of("start", declared.start, lines, 0)
    if declared.end:
        last = _line_of("end", declared.end, lines, first + 1)
    drop = [_fits("drop", one) for one in declared.drop]
    part: list[Line] = []
    dropped: list[Line] = []
    for line in lines[first:last]:
        (dropped if any(dropped_by(line.text) for dropped_by in drop) else part).append(line)
    outside = [*lines[:first], *lines[last:]]
    return part, dropped, [Leftover(*line, _NOT_READ) for line in outside if line.text]


def _line_of(option: str, pattern: str, lines: Sequence[Line], after: int) -> int:
    fits = _fits(option, pattern)
    place = next((n for n, line in enumerate(lines[after:], after) if fits(line.text)), None)
    if place is None:
        raise SourceChanged(
            f"no line{' behind `start`' if after else ''} fits `{option}`, {pattern!r}: this is another "
            "edition or conversion of the book, or the pattern is wrong"
        )
    return place


def _joined(part: Sequence[Line]) -> tuple[str, list[int]]:
    """The lines as one text, with a blank line before the first; and where each begins."""
    starts, place = [], 2
    for line in part:
        starts.append(place)
        place += len(line.text) + 1
    return "\n\n" + "\n".join(line.text for line in part) + "\n", starts


def _matches(pattern: regex.Pattern[str], text: str) -> list[regex.Match[str]]:
    try:
        return [match for match in pattern.finditer(text, timeout=SECONDS) if match["head"].strip()]
    except TimeoutError as error:
        raise _runs_away("entry", pattern.pattern) from error


def _lettered(matches: Sequence[regex.Match[str]], headings: _Headings) -> list[regex.Match[str]]:
    """Those whose head begins with its section's letter."""
    above = headings.above(match.start() for match in matches)
    letters = [section_letter(title or "") for title in above]
    if not any(letters):
        raise SourceChanged("`lettered` is said, and no heading above an entry names a letter")
    return [one for one, letter in zip(matches, letters, strict=True) if begins_with(one["head"], letter)]


class _Headings:
    """Lines that part a book: marked by `#`, or named by `sections`; no part of an entry."""

    def __init__(self, starts: list[int], titles: list[str | None]) -> None:
        self.starts = starts
        self._titles = titles
        """Of each, or None where what stands under it is not read."""

    def above(self, places: Iterator[int]) -> list[str | None]:
        """Title of the heading above each place."""
        return [self._titles[bisect_right(self.starts, place)] for place in places]


def _headings(
    part: Sequence[Line], starts: Sequence[int], matches: Sequence[regex.Match[str]], declared: BookOptions
) -> _Headings:
    wanted = _fits("sections", declared.sections) if declared.sections else None
    spans = [(match.start(), match.end()) for match in matches]
    places: list[int] = []
    titles: list[str | None] = [None if wanted or declared.lettered else ""]
    for start, line in zip(starts, part, strict=True):
        named = bool(wanted and wanted(line.text))
        if not (named or line.text.startswith("#")):
            continue
        before = bisect_right(spans, (start, len(line.text) + start)) - 1
        if before >= 0 and spans[before][0] <= start < spans[before][1]:
            continue  # an entry's own head
        places.append(start)
        title = line.text.strip("#| ")
        read_below = (named or wanted is None) and bool(not declared.lettered or section_letter(title))
        titles.append(title if read_below else None)
    return _Headings(places, titles)


def _uncovered(
    part: Sequence[Line], starts: Sequence[int], covered: Sequence[tuple[int, int]], headings: _Headings
) -> list[Leftover]:
    """Lines that begin in no entry; headings aside."""
    parting = set(headings.starts)
    titles = headings.above(iter(starts))
    begins = [start for start, _ in covered]
    found = []
    for start, line, title in zip(starts, part, titles, strict=True):
        place = bisect_right(begins, start + len(line.text)) - 1
        inside = place >= 0 and (start < covered[place][1])
        if line.text and not inside and start not in parting:
            found.append(Leftover(*line, "in no entry" if title is not None else _NOT_READ))
    return found


def paragraphs(texts: Sequence[str]) -> Iterator[str]:
    """Paragraphs of an explanation, each on one line: what a page's width wrapped, joined again."""
    block: list[str] = []
    defines = False
    for text in [*map(str.strip, texts), ""]:
        if block and (not text or (defines and text.startswith(": "))):
            kept = [line for line in block if not _NOTE_LINE.fullmatch(line)]
            whole = " ".join(kept or block)
            whole = _SPACED.sub(r"\1", whole).replace("%~%", "/")
            if not _NO_TEXT.fullmatch(whole):
                yield whole
            block = []
        if text and _RULE.fullmatch(text) is None:
            defines = text.startswith(": ") if not block else defines
            block.append(text.removeprefix(": ").strip())


def idiom(
    entry: BookEntry, identifier: str, declared: BookOptions, provenance: Provenance
) -> Iterator[Idiom]:
    """The entry as an idiom.

    Raises:
        RecordRejected: `language_differs`, `explanation_missing`, `cross_reference`.
    """
    if has_arabic(entry.head) != (pack(declared.language).script == "Arab"):
        raise RecordRejected(
            "language_differs", f"{entry.head!r} is not in the letters of {declared.language}"
        )
    if not entry.paragraphs:
        raise RecordRejected("explanation_missing", f"{entry.head!r} has no explanation")
    if only_refers(" ".join(entry.paragraphs), declared.language):
        raise RecordRejected("cross_reference", f"{entry.head!r} only says {entry.paragraphs[0]!r}")
    yield Idiom(
        id=identifier,
        language=declared.language,
        dialect=declared.dialect,
        genre=declared.genre,
        phrase=Form(raw=entry.head),
        explanation=Form(raw="\n".join(entry.paragraphs)),
        source_labels={} if section_letter(entry.title) or not entry.title else {"theme": entry.title},
        provenance=provenance,
    )
