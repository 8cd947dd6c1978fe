"""All pairs of systems of one column."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.cluster import codes_of
from evaluation.statistics.comparison import Comparison, SignFlips, compare
from evaluation.table.column import Column
from mihakk.stats import holm


def pairs_of(
    column: Column, drawn: NDArray[np.float64] | None, *, seed: int, resamples: int
) -> list[dict[str, Any]]:
    """One row per pair of systems that both have a figure; p-values adjusted (Holm) for all of them.

    `drawn` (resamples x systems) holds the figures from drawn clusters, for metrics whose figure is no mean.
    """
    able = [place for place in range(len(column.models)) if column.figure(place) is not None]
    if column.statistics is not None:
        rows = (
            [_drawn_pair(column, drawn, *pair) for pair in combinations(able, 2)] if drawn is not None else []
        )
    else:
        rows = _permuted_pairs(column, able, seed=seed, resamples=resamples)
    adjusted = holm([row["p"] for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def _permuted_pairs(column: Column, able: list[int], *, seed: int, resamples: int) -> list[dict[str, Any]]:
    values = column.values
    is_whole = not np.isnan(values[able]).any()
    groups = codes_of(column.groups)
    width = (column.bounds[1] - column.bounds[0]) if column.bounds else None
    bounds = (-width, width) if width is not None else None
    flips = None
    if is_whole and able:
        sums = np.stack([np.bincount(groups, weights=values[place]) for place in able], axis=1, dtype=float)
        flips = SignFlips(sums, seed=seed, name=column.name, resamples=resamples)
    rows = []
    for (one, first), (other, second) in combinations(enumerate(able), 2):
        if flips is not None:
            found = flips.compare(values[first], values[second], groups, one, other, bounds=bounds)
        else:
            common = ~np.isnan(values[first]) & ~np.isnan(values[second])
            if not common.any():
                continue
            found = compare(
                values[first][common],
                values[second][common],
                codes_of(column.groups[common]),
                seed=seed,
                name=f"{column.name} {column.models[first]} {column.models[second]}",
                resamples=resamples,
                bounds=bounds,
            )
        rows.append(_row(column, first, second, found))
    return rows


def _row(column: Column, first: int, second: int, found: Comparison) -> dict[str, Any]:
    difference = found.difference
    return _head(column, first, second) | {
        "difference": difference.mean,
        "se": difference.se,
        "ci_low": difference.low,
        "ci_high": difference.high,
        "p": found.p,
        "test": found.test,
        "alike": found.alike,
        "items": difference.items,
        "clusters": difference.clusters,
    }


def _drawn_pair(column: Column, drawn: NDArray[np.float64], first: int, second: int) -> dict[str, Any]:
    """A pair whose figures are no means: the interval and p-value are those of the drawn differences."""
    one, other = column.figure(first) or 0.0, column.figure(second) or 0.0
    return _head(column, first, second) | {
        "difference": one - other,
        "se": float((drawn[:, first] - drawn[:, second]).std(ddof=1)),
        **drawn_interval(drawn[:, first] - drawn[:, second]),
        "test": "bootstrap",
        "alike": float(np.mean((column.statistics[first] == column.statistics[second]).all(axis=1)))
        if column.statistics is not None
        else None,
        "items": len(column.items),
        "clusters": int(codes_of(column.groups).max()) + 1,
    }


def drawn_interval(differences: NDArray[np.float64]) -> dict[str, float]:
    """Interval of drawn differences, and their p-value: twice the share on the rarer side of 0, never 0."""
    low, high = np.percentile(differences, [2.5, 97.5])
    size = len(differences)
    below = (int((differences <= 0).sum()) + 1) / (size + 1)
    above = (int((differences >= 0).sum()) + 1) / (size + 1)
    return {"ci_low": float(low), "ci_high": float(high), "p": min(1.0, 2 * min(below, above))}


def _head(column: Column, first: int, second: int) -> dict[str, Any]:
    return {
        "release": column.release,
        "config": column.config,
        "metric": column.metric.name,
        "method": column.method,
        "first": column.models[first],
        "second": column.models[second],
    }
