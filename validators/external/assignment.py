"""The assignment of columns to roles that scores best as a whole."""

from __future__ import annotations

from collections.abc import Sequence

_TIE = 1e-9
"""Sums that differ by less are one sum, added up in another order."""


def assign(scores: Sequence[Sequence[float]]) -> dict[int, int]:
    """Which column each row takes, no column twice, so that the scores add up to most.

    Exact, by the best sum of each set of rows, so meant for few rows; at a tie the first columns stay.

    Args:
        scores: A score for each column, by row; only one above 0 can assign its column.
    """
    best: dict[frozenset[int], tuple[float, dict[int, int]]] = {frozenset(): (0.0, {})}
    for column in range(len(scores[0]) if scores else 0):
        before = list(best.items())
        for row, line in enumerate(scores):
            if line[column] <= 0:
                continue
            for taken, (total, chosen) in before:
                more = taken | {row}
                if row not in taken and total + line[column] > best.get(more, (0.0,))[0] + _TIE:
                    best[more] = (total + line[column], chosen | {row: column})
    return max(best.values(), key=lambda one: one[0])[1]
