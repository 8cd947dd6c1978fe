"""Couplets that share one hemistich: half lines, other versions, and quotation of one poet by another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mihakk.machinery.dedup._near import Pair, near_duplicates

LEAST_LETTERS: Final = 10
"""A shorter hemistich is a formula that any poet may use."""


def shared_halves(couplets: Sequence[tuple[str, ...]], threshold: float) -> Iterator[Pair]:
    """Pairs of couplets, each its one or two folded hemistichs, that have one at least `threshold` alike."""
    halves = [half_key(couplet, side) for couplet in couplets for side in (0, 1)]
    yield from of_halves(near_duplicates(halves, threshold))


def half_key(couplet: Sequence[str], side: int) -> str:
    """One hemistich as it is compared; empty where there is none or it is too short to say anything."""
    half = couplet[side] if side < len(couplet) else ""
    return half if len(half) >= LEAST_LETTERS else ""


def of_halves(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs of couplets from pairs of hemistichs (twice the couplet's number, one more for the second)."""
    best: dict[tuple[int, int], float] = {}
    for pair in pairs:
        first, second = pair.first >> 1, pair.second >> 1
        if first != second:
            couple = (min(first, second), max(first, second))
            best[couple] = max(best.get(couple, 0.0), pair.similarity)
    yield from (Pair(first, second, alike) for (first, second), alike in sorted(best.items()))
