"""Figures of whole tables from drawn clusters, all columns from the same draws, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.statistics.bootstrap import drawn_error, ranks, weights
from mihakk.evaluation.statistics.cluster import LEAST_CLUSTERS, Values, bounded
from mihakk.evaluation.table.column import Column
from mihakk.machinery.stats import t_quantile


def with_draws(columns: Sequence[Column], *, seed: int, name: str, resamples: int) -> list[Column]:
    """The columns with their figures from drawn clusters, where there are enough of these.

    A cluster with items in several columns is drawn for all of them at once, so that averages over columns
    keep what binds them. Systems without a figure are NaN throughout.
    """
    clusters = np.unique(np.concatenate([column.groups for column in columns]))
    makers = [_figures_from(column, clusters) for column in columns]
    blocks: list[list[NDArray[np.float64]]] = [[] for _ in columns]
    for drawn in weights(len(clusters), seed=seed, name=name, resamples=resamples):
        for make, found in zip(makers, blocks, strict=True):
            if make is not None:
                found.append(make(drawn))
    return [
        replace(column, drawn=np.concatenate(found)) if found else column
        for column, found in zip(columns, blocks, strict=True)
    ]


def able_in(figures: NDArray[np.float64]) -> list[int]:
    """Places of the systems that have a figure."""
    return [int(place) for place in np.flatnonzero(~np.isnan(figures))]


def standing(
    figures: NDArray[np.float64],
    drawn: NDArray[np.float64] | None,
    degrees: float,
    sign: float = 1.0,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> list[dict[str, Any]]:
    """Interval and rank interval of each system that has a figure; nothing of the others, or without draws.

    Args:
        figures: One per system.
        drawn: Resamples x systems.
        degrees: Of freedom of the drawn errors.
        sign: -1 where less is better.
        bounds: Least and greatest figure; None where it has none.
    """
    found: list[dict[str, Any]] = [{} for _ in figures]
    able = able_in(figures)
    if drawn is None or not able:
        return found
    places = ranks(sign * figures[able], sign * drawn[:, able], degrees)
    for place, (first, last) in zip(able, places, strict=True):
        figure, se = float(figures[place]), drawn_error(drawn[:, place], degrees)
        reach = t_quantile(degrees) * se
        ends = (figure - reach, figure + reach)
        if bounds:
            ends = bounded(figure, se, bounds, degrees=degrees, even=degrees + 1)
        found[place] = {"se": se, "ci_low": ends[0], "ci_high": ends[1]}
        found[place] |= {"rank_low": first, "rank_high": last, "top": first == 1}
    return found


def _figures_from(column: Column, clusters: NDArray[np.str_]) -> Callable[[Values], Values] | None:
    """Makes figures (draws x systems) of how often each cluster is drawn; None of a column with too few."""
    own, codes = np.unique(np.searchsorted(clusters, column.groups), return_inverse=True)
    size, able, total = len(own), able_in(column.figures), column.metric.total
    if size < LEAST_CLUSTERS:
        return None

    def by_cluster(values: Values) -> Values:
        """Clusters x systems: each system's values added up."""
        return np.stack(
            [np.bincount(codes, weights=row, minlength=size) for row in values], axis=1, dtype=float
        )

    there = ~np.isnan(column.values)
    sums, counts = by_cluster(np.where(there, column.values, 0.0)), by_cluster(there.astype(np.float64))

    def means(drawn: Values) -> Values:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (drawn[:, own] @ sums) / (drawn[:, own] @ counts)
        # A small data set may have none of its clusters drawn: it then keeps the figure it has.
        found = np.where(np.isnan(found), column.figures, found)
        found[:, np.isnan(column.figures)] = np.nan
        return found

    if column.statistics is None or total is None:
        return means
    parts = [by_cluster(column.statistics[model].T) for model in range(len(column.models))]

    def totals(drawn: Values) -> Values:
        found = np.full((len(drawn), len(column.models)), np.nan)
        for model in able:
            found[:, model] = [total(one, column.metric.options) for one in drawn[:, own] @ parts[model]]
        return found

    return totals
