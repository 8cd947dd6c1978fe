"""Figures of whole tables from drawn clusters, all columns from the same draws, and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import percentile_interval, ranks, weights
from evaluation.statistics.cluster import LEAST_CLUSTERS
from evaluation.table.column import Column


def with_draws(columns: Sequence[Column], *, seed: int, name: str, resamples: int) -> list[Column]:
    """The columns with their figures from drawn clusters, where there are enough of these.

    A cluster with items in several columns is drawn for all of them at once, so that averages over columns
    keep what binds them. Systems without a figure are NaN throughout.
    """
    clusters = np.unique(np.concatenate([column.groups for column in columns]))
    parts = [_Part(column, clusters) for column in columns]
    blocks: list[list[NDArray[np.float64]]] = [[] for _ in columns]
    for drawn in weights(len(clusters), seed=seed, name=name, resamples=resamples):
        for part, found in zip(parts, blocks, strict=True):
            if part.is_enough:
                found.append(part.figures(drawn))
    return [
        replace(column, drawn=np.concatenate(found)) if found else column
        for column, found in zip(columns, blocks, strict=True)
    ]


def able_in(figures: NDArray[np.float64]) -> list[int]:
    """Places of the systems that have a figure."""
    return [int(place) for place in np.flatnonzero(~np.isnan(figures))]


def standing(
    figures: NDArray[np.float64], drawn: NDArray[np.float64] | None, sign: float = 1.0
) -> list[dict[str, Any]]:
    """Interval and rank interval of each system that has a figure; nothing of the others, or without draws.

    Args:
        figures: One per system.
        drawn: Resamples x systems.
        sign: -1 where less is better.
    """
    found: list[dict[str, Any]] = [{} for _ in figures]
    able = able_in(figures)
    if drawn is None or not able:
        return found
    low, high = percentile_interval(drawn[:, able])
    places = ranks(sign * figures[able], sign * drawn[:, able])
    for at, place in enumerate(able):
        first, last, top = places[at]
        found[place] = {"ci_low": float(low[at]), "ci_high": float(high[at])}
        found[place] |= {"rank_low": first, "rank_high": last, "top": top}
    return found


class _Part:
    """One column's values added up by cluster."""

    def __init__(self, column: Column, clusters: NDArray[np.str_]) -> None:
        self._column = column
        self._own, codes = np.unique(np.searchsorted(clusters, column.groups), return_inverse=True)
        self.is_enough = len(self._own) >= LEAST_CLUSTERS
        size = len(self._own)
        there = ~np.isnan(column.values)
        self._able = able_in(column.figures)
        if column.statistics is None:
            self._sums = _by_cluster(np.where(there, column.values, 0.0), codes, size)
            self._counts = _by_cluster(there.astype(np.float64), codes, size)
        else:
            models, _, kinds = column.statistics.shape
            self._sums = np.zeros((size, models, kinds))
            for model in range(models):
                np.add.at(self._sums[:, model], codes, column.statistics[model])

    def figures(self, drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        """Draws x systems."""
        own = drawn[:, self._own]
        models = len(self._column.models)
        found = np.full((len(drawn), models), np.nan)
        total = self._column.metric.total
        if self._column.statistics is None or total is None:
            with np.errstate(invalid="ignore", divide="ignore"):
                means = (own @ self._sums) / (own @ self._counts)
            # A small data set may have none of its clusters drawn: it then keeps the figure it has.
            whole, drawn_means = self._column.figures[self._able], means[:, self._able]
            found[:, self._able] = np.where(np.isnan(drawn_means), whole, drawn_means)
            return found
        for model in self._able:
            sums = own @ self._sums[:, model]
            found[:, model] = [total(one, self._column.metric.options) for one in sums]
        return found


def _by_cluster(values: NDArray[np.float64], codes: NDArray[np.intp], size: int) -> NDArray[np.float64]:
    """Clusters x systems: each system's values added up."""
    sums = [np.bincount(codes, weights=row, minlength=size) for row in values]
    return np.stack(sums, axis=1).astype(np.float64)
