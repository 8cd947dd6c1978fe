"""Which option has the greatest likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan

from mihakk.evaluation.reading.reading import UNREAD, Reading


def read_likelihoods(likelihoods: Sequence[float], labels: Sequence[str], golds: int = 1) -> Reading:
    """The most likely option, or as many as are right where several are.

    Args:
        likelihoods: Natural logarithm of each label's chance; minus infinity where it was not given.
        labels: One per option.
        golds: How many to take: as many as are right, as in QIMMA's code.

    Raises:
        ValueError: There is not one likelihood per option.
    """
    if len(likelihoods) != len(labels):
        raise ValueError(f"{len(likelihoods)} likelihoods for {len(labels)} options")
    if any(map(isnan, likelihoods)) or all(one == -inf for one in likelihoods):
        return UNREAD
    order = sorted(range(len(labels)), key=lambda place: -likelihoods[place])
    picks = tuple(sorted(order[:golds]))
    is_tie = golds < len(order) and likelihoods[order[golds - 1]] == likelihoods[order[golds]]
    text = ", ".join(labels[place] for place in picks)
    return Reading(text, picks, "greatest/1", ("tie",) if is_tie else (), format_ok=True)
