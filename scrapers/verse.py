"""Lines of verse into couplets or lines, the same way for every source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Any

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.languages import pack
from mihakk.machinery.text import canonicalize, poem_rhyme, words
from mihakk.machinery.text.notes import ADDRESS, BRACKETED, FOOTNOTE, HEADING, HEADING_WORDS, NOTE, is_dated
from mihakk.schemas.poem import Couplet, CoupletKind, Poem
from mihakk.schemas.record import Form, Language
from mihakk.schemas.rejection import Rejection

FREE_SPREAD = 0.28
"""Spread of line lengths (deviation by mean) from which lines are free verse, whatever rhymes: 51 classical
poems of a site have 0.14 at most and 495 ghazals 0.12, 17 poems in free verse 0.29 and more."""
UNRHYMED_SPREAD = 0.18
"""The same where the second lines share no rhyme either."""
FREE_LINES = 5
"""Fewest lines from which a spread says anything."""
RAJAZ_LINES = 5
"""Fewest lines with one rhyme from which they are lines of their own and no couplets."""
STROPHES = (3, 5, 7)
"""Odd numbers of lines that a stanza of one rhyme and a refrain may have (a mukhammas or takhmis has 5)."""
PARTED = 0.5
"""Share of rows that hold two hemistichs from which the others, with one, are no accident of free verse."""
_LETTER = re.compile(r"[^\W\d_]")
_BETWEEN = re.compile(r"\s*(?:\.{3,}|…+|\*+|#+|={1,}|\t+|\s{3,}|\|+|/{1,}|(?<=\s)[-–—]+(?=\s))\s*")
"""What scrapers and typists set between the two hemistichs of one row."""
_MOST_UNEVEN = 2.0
"""Letters of the longer hemistich by those of the shorter, at most."""
_ATTRIBUTION = re.compile(r"^\s*(?:[-–—~]\s*\S+|[(\[].*[)\]]\s*$)")
"""`- name` or `(name)` below a quotation that opens a poem."""
_EPIGRAPH = 4
"""Most rows of such a quotation with its author."""
_DEDICATION = re.compile(
    r"^\W*(?:مهدا[ةه]|[إا]هداء|[إا]لى روح|مناسبة القصيدة|نظمت|كتبت|قيلت|ألقيت|تقدیم به|تقديم به)(?!\w)"
)
_TO = re.compile(r"^\W*[إا]لى(?!\w)")


@dataclass(frozen=True)
class Arrangement:
    """Lines as a poem has them."""

    units: list[tuple[str, str | None]]
    """Two hemistichs each, or one line and None."""
    form: str = ""
    """`free_verse`, `rajaz_lines` (one hemistich a line, all of one rhyme), `strophic` (stanzas of an odd
    number of lines with a common last rhyme), `lines` (as the source says), or nothing for couplets."""
    stanza_breaks: int = 0
    """Rows that held no letter."""
    dropped: tuple[tuple[str, str], ...] = ()
    """Reason and text of the rows around the verse that are none."""

    @property
    def kind(self) -> CoupletKind:
        """Of the units."""
        return "line" if self.form else "couplet"

    @property
    def labels(self) -> dict[str, str]:
        """What a record notes of it."""
        found = {"form_found": self.form} if self.form not in ("", "lines") else {}
        return found | ({"stanza_breaks": str(self.stanza_breaks)} if self.stanza_breaks else {})


def arrange(rows: Sequence[str], language: Language = "ar", declared: int | None = None) -> Arrangement:
    """Rows of a poem, a hemistich or line each, as couplets or as the lines that they are.

    Rows without a letter part stanzas; a couplet never reaches over one, so that a line that lost its partner
    is not paired with the next. Where every row holds two hemistichs (`sadr ... ajuz`), each is a couplet.
    `declared` is how many couplets the source says there are.

    Raises:
        RecordRejected: `odd_hemistichs`, `hemistichs_shifted` or `hemistichs_mixed`: no pairing can be
            trusted.
    """
    stanzas, breaks = _stanzas(rows)
    stanzas, dropped = _without_notes(stanzas)
    lines = [line for stanza in stanzas for line in stanza]
    halves = [_halves(line) or (line,) for line in lines]
    parted = [both for both in halves if len(both) == 2]
    if parted and len(parted) == len(lines):
        return Arrangement(list(parted), "", breaks, dropped)
    if len(parted) >= PARTED * len(lines) > 0 and not is_free_verse(sum(halves, ()), language):
        raise RecordRejected(
            "hemistichs_mixed", f"{len(parted)} of {len(lines)} rows hold two hemistichs, the others one"
        )
    if is_free_verse(lines, language):
        return Arrangement([(line, None) for line in lines], "free_verse", breaks, dropped)
    paired = declared is not None and declared * 2 == len(lines)
    if not paired and pack(language).rhyme == "rawi" and len(lines) >= RAJAZ_LINES and _one_rhyme(lines):
        return Arrangement([(line, None) for line in lines], "rajaz_lines", breaks, dropped)
    if pack(language).rhyme != "last_word" and any(_strophic(lines, size, language) for size in STROPHES):
        return Arrangement([(line, None) for line in lines], "strophic", breaks, dropped)
    units: list[tuple[str, str | None]] = []
    for number, stanza in enumerate(stanzas, start=1):
        if len(stanza) % 2:
            where = f" of stanza {number}" if len(stanzas) > 1 else ""
            raise RecordRejected("odd_hemistichs", f"{len(stanza)} hemistichs{where} can't be paired")
        units.extend(zip(stanza[::2], stanza[1::2], strict=True))
    if len(units) >= 4 and not _rhyme(lines[1::2], language) and _rhyme(lines[::2], language):
        raise RecordRejected(
            "hemistichs_shifted",
            "the first hemistichs rhyme and the second do not: one before them is missing",
        )
    return Arrangement(units, "", breaks, dropped)


def as_lines(rows: Sequence[str]) -> Arrangement:
    """Rows that the source itself calls lines; those without a letter part stanzas."""
    stanzas, breaks = _stanzas(rows)
    return Arrangement([(line, None) for stanza in stanzas for line in stanza], "lines", breaks)


def _stanzas(rows: Sequence[str]) -> tuple[list[list[str]], int]:
    """Lines by stanza, and how many rows parted them."""
    stanzas: list[list[str]] = [[]]
    breaks = 0
    for row in rows:
        if _LETTER.search(row):
            stanzas[-1].append(row)
        elif row.strip():
            breaks += 1
            if stanzas[-1]:
                stanzas.append([])
    return [stanza for stanza in stanzas if stanza], breaks


def _without_notes(stanzas: list[list[str]]) -> tuple[list[list[str]], tuple[tuple[str, str], ...]]:
    """The stanzas without the rows that are no verse, and those rows with the reason of each.

    Labelled notes, numbered glosses, a date at the end and a quotation above the first break always go. What
    a verse may look like too (a dedication, a row in brackets, `and he said`) goes only where it stands at an
    edge of a stanza that has one row too many.
    """
    dropped: list[tuple[str, str]] = []
    kept: list[list[str]] = []
    first = stanzas[0] if len(stanzas) > 1 else []
    if 1 < len(first) <= _EPIGRAPH and _ATTRIBUTION.match(first[-1]):
        dropped += [("epigraph", row) for row in first]
        stanzas = stanzas[1:]
    for stanza in stanzas:
        reasons = [_sure_note(row, last=row is stanzas[-1][-1]) for row in stanza]
        dropped += [(reason, row) for reason, row in zip(reasons, stanza, strict=True) if reason]
        rows = [row for reason, row in zip(reasons, stanza, strict=True) if not reason]
        for place in (0, -1):
            if len(rows) % 2 and (reason := _likely_note(rows[place], alone=len(rows) == 1)):
                dropped.append((reason, rows.pop(place)))
        kept.append(rows)
    return [rows for rows in kept if rows], tuple(dropped)


def _sure_note(row: str, *, last: bool) -> str:
    """Why a row is no verse wherever it stands; empty where it may be one."""
    if FOOTNOTE.match(row):
        return "footnote"
    if NOTE.match(row) or ADDRESS.match(row):
        return "editorial_note"
    return "place_and_date" if last and is_dated(row) else ""


def _likely_note(row: str, *, alone: bool) -> str:
    """Why a row that is one too many, or a stanza by itself, is no verse; empty where nothing says so."""
    if _DEDICATION.match(row) or (alone and _TO.match(row)):
        return "dedication"
    if BRACKETED.match(row):
        return "editorial_note"
    return "heading" if HEADING.match(row) and len(words(row)) <= HEADING_WORDS else ""


def _halves(row: str) -> tuple[str, str] | None:
    """The two hemistichs of a row that holds both, about equally long; None where it does not."""
    parts = [part.strip() for part in _BETWEEN.split(row) if _LETTER.search(part)]
    if len(parts) != 2:
        return None
    short, long = sorted(len(_LETTER.findall(part)) for part in parts)
    return (parts[0], parts[1]) if long <= _MOST_UNEVEN * short else None


def _strophic(lines: Sequence[str], size: int, language: Language) -> bool:
    """Stanzas of so many lines: each of one rhyme but for the last line, the last lines of another."""
    if len(lines) % size or len(lines) < max(10, 2 * size):
        return False
    stanzas = [lines[place : place + size] for place in range(0, len(lines), size)]
    rhymes = [_rhyme(stanza[:-1], language) for stanza in stanzas]
    refrain = _rhyme([stanza[-1] for stanza in stanzas], language)
    return all(rhymes) and bool(refrain) and len({*rhymes, refrain}) > 2


def is_free_verse(lines: Sequence[str], language: Language) -> bool:
    """Lines of very different length, or of different length and without a common rhyme."""
    lengths = [len(_LETTER.findall(line)) for line in lines]
    if pack(language).rhyme == "last_word" or len(lengths) < FREE_LINES or not any(lengths):
        return False
    spread = pstdev(lengths) / mean(lengths)
    return spread >= FREE_SPREAD or (spread >= UNRHYMED_SPREAD and not _rhyme(lines[1::2], language))


def _one_rhyme(lines: Sequence[str]) -> bool:
    """First and second lines alike end in one rhyme."""
    return bool(rhyme := _rhyme(lines[::2], "ar")) and rhyme == _rhyme(lines[1::2], "ar")


def _rhyme(lines: Sequence[str], language: Language) -> str:
    return poem_rhyme([canonicalize(line, language).text for line in lines], language) if lines else ""


def pairs(hemistichs: Sequence[str]) -> list[tuple[str, str | None]]:
    """Hemistichs two by two.

    Raises:
        RecordRejected: `odd_hemistichs`: one is missing or too many, so no pairing can be trusted.
    """
    if len(hemistichs) % 2:
        raise RecordRejected("odd_hemistichs", f"{len(hemistichs)} hemistichs can't be paired")
    return list(zip(hemistichs[::2], hemistichs[1::2], strict=True))


def poem(
    identifier: str, found: Arrangement, beside: Mapping[str, Sequence[str]] | None = None, **fields: Any
) -> Iterator[Poem | Rejection]:
    """The poem of an arrangement, behind a rejection for every row around it and couplet that is none.

    A couplet with an empty hemistich leaves its number free.

    Args:
        identifier: Of the poem.
        found: Its verse.
        beside: Field of a couplet to a text for each unit, empty where it has none.
        fields: Of the poem.

    Raises:
        RecordRejected: `verses_missing`: no couplet can be used.
    """
    for number, (reason, row) in enumerate(found.dropped):
        detail = f"not verse: {row[:120]!r}"
        yield Rejection(record=f"{identifier}:n{number}", reason=reason, detail=detail, body=row)
    kept: list[Couplet] = []
    for position, (first, second) in enumerate(found.units):
        name = f"{identifier}:{position}"
        if not first.strip() or (second is not None and not second.strip()):
            yield Rejection(
                record=name,
                reason="hemistich_empty",
                detail=f"couplet {position + 1} has an empty hemistich",
                body=f"{first}\n{second or ''}",
            )
            continue
        texts = {field: given[position] for field, given in (beside or {}).items() if given[position].strip()}
        kept.append(
            Couplet(
                id=name,
                position=position,
                kind=found.kind if second is not None or found.form else "line",
                first=Form(raw=first),
                second=None if second is None else Form(raw=second),
                **texts,  # type: ignore[arg-type]
            )
        )
    if not kept:
        raise RecordRejected("verses_missing", "no couplet of the poem can be used")
    yield Poem.model_validate({"id": identifier, "couplets": tuple(kept), **fields})
