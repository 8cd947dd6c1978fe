"""Lines of verse into couplets or lines, the same way for every source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev

from mihakk.errors import RecordRejected
from mihakk.text import canonicalize, poem_rhyme
from schemas.poem import Couplet, CoupletKind
from schemas.record import Form, Language
from schemas.rejection import Rejection

FREE_SPREAD = 0.28
"""Spread of line lengths (deviation by mean) from which lines are free verse, whatever rhymes: 51 classical
poems of a site have 0.14 at most and 495 ghazals 0.12, 17 poems in free verse 0.29 and more."""
UNRHYMED_SPREAD = 0.18
"""The same where the second lines share no rhyme either."""
FREE_LINES = 5
"""Fewest lines from which a spread says anything."""
RAJAZ_LINES = 5
"""Fewest lines with one rhyme from which they are lines of their own and no couplets."""
_LETTER = re.compile(r"[^\W\d_]")
_DEDICATION = re.compile(
    r"^\W*(?:مهدا[ةه]|[إا]هداء|[إا]لى روح|مناسبة القصيدة|نظمت|كتبت|قيلت|ألقيت|تقدیم به|تقديم به)(?!\w)"
)


@dataclass(frozen=True)
class Arrangement:
    """Lines as a poem has them."""

    units: list[tuple[str, str | None]]
    """Two hemistichs each, or one line and None."""
    form: str = ""
    """`free_verse`, `rajaz_lines` (one hemistich a line, all of one rhyme), `lines` (as the source says), or
    nothing for couplets."""
    stanza_breaks: int = 0
    """Rows that held no letter."""
    dropped: tuple[str, ...] = ()
    """Dedications above or below the verse."""

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
    is not paired with the next. `declared` is how many couplets the source says there are.

    Raises:
        RecordRejected: `odd_hemistichs` or `hemistichs_shifted`: no pairing can be trusted.
    """
    stanzas, breaks = _stanzas(rows)
    stanzas, dropped = _without_dedications(stanzas)
    lines = [line for stanza in stanzas for line in stanza]
    if is_free_verse(lines, language):
        return Arrangement([(line, None) for line in lines], "free_verse", breaks, dropped)
    paired = declared is not None and declared * 2 == len(lines)
    if not paired and language == "ar" and len(lines) >= RAJAZ_LINES and _one_rhyme(lines):
        return Arrangement([(line, None) for line in lines], "rajaz_lines", breaks, dropped)
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


def _without_dedications(stanzas: list[list[str]]) -> tuple[list[list[str]], tuple[str, ...]]:
    """The stanzas without a first or last row that says for whom the poem was written.

    Looked for only where a row is too many: a verse may begin with the same words.
    """
    dropped: list[str] = []
    if sum(map(len, stanzas)) % 2 == 0:
        return stanzas, ()
    kept = [list(stanza) for stanza in stanzas]
    if kept and _DEDICATION.match(kept[0][0]):
        dropped.append(kept[0].pop(0))
    elif kept and _DEDICATION.match(kept[-1][-1]):
        dropped.append(kept[-1].pop())
    return [stanza for stanza in kept if stanza], tuple(dropped)


def is_free_verse(lines: Sequence[str], language: Language) -> bool:
    """Lines of very different length, or of different length and without a common rhyme."""
    lengths = [len(_LETTER.findall(line)) for line in lines]
    if language == "en" or len(lengths) < FREE_LINES or not any(lengths):
        return False
    spread = pstdev(lengths) / mean(lengths)
    return spread >= FREE_SPREAD or (spread >= UNRHYMED_SPREAD and not _rhyme(lines[1::2], language))


def _one_rhyme(lines: Sequence[str]) -> bool:
    """First and second lines alike end in one rhyme."""
    return bool(rhyme := _rhyme(lines[::2], "ar")) and rhyme == _rhyme(lines[1::2], "ar")


def _rhyme(lines: Sequence[str], language: Language) -> str:
    return poem_rhyme([canonicalize(line, language).text for line in lines], language) if lines else ""


def pairs(hemistichs: Sequence[str]) -> list[tuple[str, str]]:
    """Hemistichs two by two.

    Raises:
        RecordRejected: `odd_hemistichs`: one is missing or too many, so no pairing can be trusted.
    """
    if len(hemistichs) % 2:
        raise RecordRejected("odd_hemistichs", f"{len(hemistichs)} hemistichs can't be paired")
    return list(zip(hemistichs[::2], hemistichs[1::2], strict=True))


def couplets(
    poem: str, units: Iterable[tuple[str, str | None]], kind: CoupletKind = "couplet"
) -> Iterator[Couplet | Rejection]:
    """Numbered couplets of a poem; one with an empty hemistich is rejected and leaves its number free.

    A unit holds two hemistichs, or one line and None.
    """
    for position, (first, second) in enumerate(units):
        identifier = f"{poem}:{position}"
        if not first.strip() or (second is not None and not second.strip()):
            yield Rejection(
                record=identifier,
                reason="hemistich_empty",
                detail=f"couplet {position + 1} has an empty hemistich",
                body=f"{first}\n{second or ''}",
            )
            continue
        yield Couplet(
            id=identifier,
            position=position,
            kind=kind if second is not None or kind != "couplet" else "line",
            first=Form(raw=first),
            second=None if second is None else Form(raw=second),
        )


def dedications(poem: str, arrangement: Arrangement) -> list[Rejection]:
    """A rejection for every row that is a dedication and no verse."""
    return [
        Rejection(
            record=f"{poem}:d{number}",
            reason="dedication",
            detail=f"a dedication, not verse: {row[:120]!r}",
            body=row,
        )
        for number, row in enumerate(arrangement.dropped)
    ]


def split(entries: Iterable[Couplet | Rejection]) -> tuple[tuple[Couplet, ...], tuple[Rejection, ...]]:
    """Couplets and rejections apart, each in order."""
    kept: list[Couplet] = []
    rejected: list[Rejection] = []
    for entry in entries:
        if isinstance(entry, Rejection):
            rejected.append(entry)
        else:
            kept.append(entry)
    return tuple(kept), tuple(rejected)
