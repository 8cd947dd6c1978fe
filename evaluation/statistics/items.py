"""What answers say about the items: many systems' of each, and one system's over repeats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ItemStatistics(NamedTuple):
    """One figure per item."""

    right: NDArray[np.float64]
    """Mean score over systems."""
    rest: NDArray[np.float64]
    """Correlation of the item's scores with the systems' mean over all others; NaN where one is constant."""
    inverted: NDArray[np.float64]
    """Mean score of the weaker half of the systems less that of the stronger half."""


def item_statistics(scores: NDArray[np.float64]) -> ItemStatistics:
    """How hard each item is, and whether those who know the others know it.

    Args:
        scores: Systems x items, every system asked every item.

    Raises:
        ValueError: There are fewer than two systems or items.
    """
    systems, items = scores.shape
    if systems < 2 or items < 2:
        raise ValueError(f"{systems} systems x {items} items: these figures need two of each")
    rest = (scores.sum(axis=1, keepdims=True) - scores) / (items - 1)
    one, other = scores - scores.mean(axis=0), rest - rest.mean(axis=0)
    spread = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(spread > 1e-12, (one * other).sum(axis=0) / spread, np.nan)
    order = np.argsort(rest, axis=0, kind="stable")
    half = systems // 2
    weak = np.take_along_axis(scores, order[:half], axis=0).mean(axis=0)
    strong = np.take_along_axis(scores, order[-half:], axis=0).mean(axis=0)
    return ItemStatistics(scores.mean(axis=0), correlation, weak - strong)


def share_within(scores: NDArray[np.float64]) -> float | None:
    """Part of a single score's variance that repeats would average out; None where nothing varies.

    By analysis of variance: of one item's scores over repeats, against that of the items' true means.

    Args:
        scores: Items x repeats, at least two of each.

    Raises:
        ValueError: There are fewer.
    """
    items, repeats = scores.shape
    if items < 2 or repeats < 2:
        raise ValueError(f"{items} items x {repeats} repeats: variances need two of each")
    within = float(scores.var(axis=1, ddof=1).mean())
    between = max(0.0, float(scores.mean(axis=1).var(ddof=1)) - within / repeats)
    return within / (between + within) if between + within else None
