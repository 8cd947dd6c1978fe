"""Blocks of rows whose cells belong to the row beside them, and keys that count from another place."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Final, NamedTuple

from mihakk.validators.checks.restated import Asked

LEAST_TABLE: Final = 30
"""Rows of a table from which its own say how questions and answers go together."""
MOST_AT_ONCE: Final = 20_000
"""Rows of a table looked at together: their words are held as sets."""
RARE: Final = 0.05
"""Share of a table's rows up to which a word ties a question to its answers."""
LEAST_TIE: Final = 0.5
"""Nats by which a question must fit one row's answers better than another's."""
LEAST_LEAD: Final = 2.0
"""How many times as often rows must fit themselves as the row beside them."""
STRAY: Final = 4.0
"""Nats for a gold that names none of its own options but one of the row beside it."""
SURE: Final = 10.0
"""Nats beyond the logarithm of a table's rows from which a block is shifted."""
OFFSETS: Final = (1, -1, 2, -2)
OWN_LEAD: Final = 3
"""How many times as clearly a block must fit the row beside it as any other row around."""
LEAST_BLOCK: Final = 5
_MOST_BLOCKS: Final = 10
LEAST_KEYED: Final = 20
"""Rows of a part from which the places of its golds say anything."""
UNLIKELY: Final = 1e-5
"""Chance that no gold of a part stands at a place where others' do."""


class Placed(NamedTuple):
    """One row of a table."""

    table: str
    number: int
    asked: Asked
    stray: frozenset[int]
    """Words of a gold that names none of its options; none where it names one."""


class Block(NamedTuple):
    """Rows next to each other whose questions and answers belong to different rows."""

    rows: tuple[str, ...]
    by: int
    """Places by which the question stands before its answers: 1 where they are in the next row."""


def shifted_blocks(rows: Iterable[Placed]) -> list[Block]:
    """Blocks of rows in which the questions fit the answers of the row beside them.

    How well a question fits is told by the rare words that it shares with answers. How often rows of the
    table fit themselves better than their neighbours says how much each row's fit weighs.
    """
    tables: dict[str, list[Placed]] = defaultdict(list)
    for row in rows:
        tables[row.table].append(row)
    found: list[Block] = []
    for _, table in sorted(tables.items()):
        table.sort(key=lambda row: row.number)
        parts = (table[start : start + MOST_AT_ONCE] for start in range(0, len(table), MOST_AT_ONCE))
        found += (block for part in parts if len(part) >= LEAST_TABLE for block in _of_table(part))
    return found


def _of_table(table: Sequence[Placed]) -> Iterator[Block]:
    questions = [frozenset(row.asked.words) for row in table]
    options = [row.asked.unpacked() for row in table]
    answers = [frozenset().union(*one) for one in options]
    counts = Counter(word for one in questions for word in one)
    counts.update(word for one in answers for word in one)
    most = max(2.0, RARE * len(table))
    ties = {word: math.log(len(table) / count) for word, count in counts.items() if count <= most}
    questions = [frozenset(ties.keys() & one) for one in questions]

    @cache
    def signs(by: int) -> list[int]:
        places = range(len(table))
        return [
            _sign(questions[at], questions[at + by], answers[at], answers[at + by], ties)
            if 0 <= at + by < len(table)
            else 0
            for at in places
        ]

    for by in (1, -1):
        lead = signs(by)
        weight = _weight(lead)
        evidence = [weight * sign for sign in lead]
        strays = _strays(table, options, by)
        evidence = [one + other for one, other in zip(evidence, strays, strict=True)]
        for start, end in _dense(evidence, math.log(len(table)) + SURE):
            around = max(sum(signs(other)[start:end]) for other in OFFSETS if other != by)
            # Rows on one subject fit all that stand around them.
            if sum(strays[start:end]) > 0 or sum(lead[start:end]) >= OWN_LEAD * around:
                yield Block(tuple(row.asked.item for row in table[start:end]), by)


def _weight(lead: Sequence[int]) -> float:
    """Nats that one row's fit says of a shift, by how rows fit outside the likeliest stretch."""
    rest = list(lead)
    for start, end in _dense(lead, 1, left=0):
        rest[start:end] = []
    better, worse = rest.count(1) + 1, rest.count(-1) + 1
    return math.log(worse / better) if worse >= LEAST_LEAD * better else 0.0


def _sign(
    question: Set[int], beside: Set[int], own: Set[int], theirs: Set[int], ties: Mapping[int, float]
) -> int:
    """Whether a question fits the answers beside it better (1) or its own (-1); 0 where neither is told.

    Only what the two rows do not share tells: rows next to each other may ask about one passage.
    """
    if question.isdisjoint(own) and question.isdisjoint(theirs):
        return 0
    asked = question - beside
    lead = sum(ties[word] for word in asked & (theirs - own)) - sum(
        ties[word] for word in asked & (own - theirs)
    )
    return 0 if abs(lead) < LEAST_TIE else 1 if lead > 0 else -1


def _strays(table: Sequence[Placed], options: Sequence[Sequence[frozenset[int]]], by: int) -> list[float]:
    """Weighs golds written as texts, where those that name no option of their row name one beside it."""
    fits = [
        bool(row.stray) and 0 <= at - by < len(table) and row.stray in options[at - by]
        for at, row in enumerate(table)
    ]
    if sum(fits) < LEAST_BLOCK:
        return [0.0] * len(table)
    return [STRAY if fit else 0.0 if row.stray else -STRAY for row, fit in zip(table, fits, strict=True)]


def _dense(
    evidence: Sequence[float], least: float, start: int = 0, left: int = _MOST_BLOCKS
) -> list[tuple[int, int]]:
    """The stretches of greatest sum, each at least `least`, that do not overlap (Kadane)."""
    best, at, total, begins, ends = 0.0, 0, 0.0, 0, 0
    for place, one in enumerate(evidence):
        if total <= 0:
            total, at = 0.0, place
        total += one
        if total > best:
            best, begins, ends = total, at, place + 1
    if best < least or ends - begins < LEAST_BLOCK:
        return []
    if not left:
        return [(start + begins, start + ends)]
    return [
        *_dense(evidence[:begins], least, start, left - 1),
        (start + begins, start + ends),
        *_dense(evidence[ends:], least, start + ends, left - 1),
    ]


def keys_off_by_one(places: Mapping[tuple[str, int, int], int]) -> dict[str, int]:
    """Parts of a set whose golds count one too far: some lie beyond the options, none is first.

    A key that turns round at the end (the last became the first) can't be told from a sound one by this.

    Args:
        places: Rows by part, number of options and place of the gold, from 0.

    Returns:
        Part to the number of its rows.
    """
    rows: Counter[str] = Counter()
    first: Counter[str] = Counter()
    beyond: Counter[str] = Counter()
    hoped: dict[str, float] = defaultdict(float)
    for (part, options, place), count in places.items():
        rows[part] += count
        first[part] += count * (place == 0)
        beyond[part] += count * (place == options)
        hoped[part] += count * math.log1p(-1 / max(options, 2))
    return {
        part: count
        for part, count in sorted(rows.items())
        if count >= LEAST_KEYED and beyond[part] and not first[part] and hoped[part] <= math.log(UNLIKELY)
    }
