"""All pairs of systems of one column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.statistics.bootstrap import drawn_error
from mihakk.evaluation.statistics.cluster import codes_of
from mihakk.evaluation.statistics.comparison import Comparison, SignFlips, compare
from mihakk.evaluation.table.column import Column
from mihakk.evaluation.table.draws import able_in
from mihakk.machinery.stats import holm, t_p_value, t_quantile


def pairs_of(column: Column, *, seed: int, resamples: int) -> list[dict[str, Any]]:
    """One row per pair of systems that both have a figure; p-values adjusted (Holm) for all of them."""
    if column.statistics is None:
        rows = _permuted_pairs(column, able_in(column.figures), seed=seed, resamples=resamples)
    else:
        counts = column.statistics
        rows = [
            column.row
            | row
            | {
                "test": "bootstrap",
                "alike": float(np.mean((counts[first] == counts[second]).all(axis=1))),
                "items": len(column.items),
                "clusters": int(codes_of(column.groups).max()) + 1,
            }
            for (first, second), row in drawn_pairs(
                column.models, column.figures, column.drawn, column.degrees
            )
        ]
    return with_holm(rows)


def drawn_pairs(
    models: Sequence[str],
    figures: NDArray[np.float64],
    drawn: NDArray[np.float64] | None,
    degrees: float,
) -> list[tuple[tuple[int, int], dict[str, Any]]]:
    """Places and row of every pair whose figures are no means; none without draws.

    Interval and p-value are Student's, of the drawn differences' error and these degrees of freedom.
    """
    found: list[tuple[tuple[int, int], dict[str, Any]]] = []
    if drawn is None:
        return found
    for first, second in combinations(able_in(figures), 2):
        difference = float(figures[first] - figures[second])
        se = drawn_error(drawn[:, first] - drawn[:, second], degrees)
        reach = t_quantile(degrees) * se
        row = {
            "first": models[first],
            "second": models[second],
            "difference": difference,
            "se": se,
            "ci_low": difference - reach,
            "ci_high": difference + reach,
            "p": t_p_value(difference, se, degrees),
        }
        found.append(((first, second), row))
    return found


def with_holm(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with their p-values adjusted for their number."""
    adjusted = holm([row["p"] for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def _permuted_pairs(column: Column, able: list[int], *, seed: int, resamples: int) -> list[dict[str, Any]]:
    values = column.values
    is_whole = not np.isnan(values[able]).any()
    groups = codes_of(column.groups)
    bounds = None
    if column.bounds:
        width = column.bounds[1] - column.bounds[0]
        bounds = (-width, width)
    flips = None
    if is_whole and able:
        sums = np.stack([np.bincount(groups, weights=values[place]) for place in able], axis=1, dtype=float)
        # Of many pairs the least p-value there can be has to outlast Holm's correction.
        enough = max(resamples, 20 * len(able) * (len(able) - 1))
        flips = SignFlips(sums, seed=seed, name=column.name, resamples=enough)
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
    return column.row | {
        "first": column.models[first],
        "second": column.models[second],
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
