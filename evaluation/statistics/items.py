"""What answers say about the items: many systems' of each, and one system's over repeats."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class ItemWorth(NamedTuple):
    """What each item adds to telling systems apart; NaN where a figure is not defined."""

    total: NDArray[np.float64]
    """Point-biserial: correlation of the item's scores with the systems' totals, its own among them."""
    low: NDArray[np.float64]
    """Lower end of the 95 % interval (Fisher's z) of the correlation with the *other* items."""
    high: NDArray[np.float64]
    without: NDArray[np.float64]
    """Reliability of the test without the item: above that of the whole where the item only adds noise."""
    like: NDArray[np.int64]
    """The first item that the same systems solve, where their accuracies don't explain that; else -1."""


COPIES = 0.01
"""Items of a pattern that chance would give, up to which two that share it are called redundant."""


def reliability(scores: NDArray[np.float64]) -> float:
    """KR-20 (G. Kuder and M. Richardson, 1937), of scores between 0 and 1 Cronbach's alpha; NaN if undefined.

    Systems stand where a test has persons: near 1 another test of as many such items would order them alike.

    Args:
        scores: Systems x items, every system asked every item.
    """
    return float(_alpha(scores.shape[1], scores.var(axis=0).sum(), scores.sum(axis=1).var()))


def item_worth(scores: NDArray[np.float64], rest: NDArray[np.float64]) -> ItemWorth:
    """What each item adds.

    Args:
        scores: Systems x items, every system asked every item.
        rest: Correlation of each with the others, as `item_statistics` gives it.
    """
    systems, items = scores.shape
    totals = scores.sum(axis=1)
    own, whole = scores.var(axis=0), totals.var()
    shared = ((scores - scores.mean(axis=0)) * (totals - totals.mean())[:, None]).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.where(own * whole > 0, shared / np.sqrt(own * whole), np.nan)
        reach = 1.959964 / np.sqrt(systems - 3) if systems > 3 else np.inf
        middle = np.arctanh(np.clip(rest, -1 + 1e-12, 1 - 1e-12))
        without = _alpha(items - 1, own.sum() - own, whole + own - 2 * shared)
    return ItemWorth(total, np.tanh(middle - reach), np.tanh(middle + reach), without, _copies(scores))


def _alpha(items: int, parts: Any, whole: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = items / (items - 1) * (1 - np.asarray(parts) / whole) if items > 1 else np.nan
    return np.where(np.asarray(whole) > 1e-12, found, np.nan)


def _copies(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Items solved by exactly the same systems, where independent systems seldom agree so."""
    items = scores.shape[1]
    like = np.full(items, -1, dtype=np.int64)
    if not np.isin(scores, (0.0, 1.0)).all():
        return like
    ability = np.clip(scores.mean(axis=1), 1e-9, 1 - 1e-9)[:, None]
    log_chance = np.where(scores == 1, np.log(ability), np.log(1 - ability)).sum(axis=0)
    rare = (np.log(items) + log_chance < np.log(COPIES)) & (scores.var(axis=0) > 0)
    first: dict[bytes, int] = {}
    for place in np.flatnonzero(rare):
        pattern = scores[:, place].tobytes()
        like[place] = first.setdefault(pattern, int(place))
        if like[place] == place:
            like[place] = -1
    return like


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
