"""How much of a spread is the items', and how much comes from asking again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Split(NamedTuple):
    """Variance of single scores in its two parts."""

    between: float
    """Of the items' true means; never below 0."""
    within: float
    """Of one item's scores over repeats."""
    repeats: int

    @property
    def share_within(self) -> float | None:
        """Part of a single score's variance that repeats would average out; None where nothing varies."""
        whole = self.between + self.within
        return self.within / whole if whole else None


def split_variance(scores: NDArray[np.float64]) -> Split:
    """Variance between and within items, by analysis of variance.

    Args:
        scores: Items x repeats, at least two of each.

    Raises:
        ValueError: There are fewer.
    """
    items, repeats = scores.shape
    if items < 2 or repeats < 2:
        raise ValueError(f"{items} items x {repeats} repeats: variances need two of each")
    within = float(scores.var(axis=1, ddof=1).mean())
    of_means = float(scores.mean(axis=1).var(ddof=1))
    return Split(max(0.0, of_means - within / repeats), within, repeats)
