"""Resamples whole tables by cluster: intervals of ranks and averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import erfc, inf, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import CONFIDENCE, t_quantile

RESAMPLES: Final = 2000
_NONE: Final = 1e-12
"""Standard errors below it are rounding."""
_BLOCK: Final = 1 << 22
"""Clusters drawn at once."""


def weights(
    clusters: int, *, seed: int, name: str, resamples: int = RESAMPLES
) -> Iterator[NDArray[np.float64]]:
    """How often each cluster is drawn: blocks of resamples x clusters, drawn with replacement.

    Args:
        clusters: How many there are.
        seed: Of the suite.
        name: What is drawn; the draws depend on it and the seed alone.
        resamples: How many in all.
    """
    draws = np.random.default_rng(rng(seed, name, "cluster_bootstrap").getrandbits(128))
    rows = max(1, _BLOCK // clusters)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = draws.integers(0, clusters, size=(count, clusters), dtype=np.int64)
        drawn += np.arange(count, dtype=np.int64)[:, None] * clusters
        counted = np.bincount(drawn.ravel(), minlength=count * clusters)
        yield counted.reshape(count, clusters).astype(np.float64)


def percentile_interval(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower and upper ends (2 x ...) of the 95 % interval over the first axis."""
    tail = 100 * (1 - CONFIDENCE) / 2
    ends: NDArray[np.float64] = np.percentile(drawn, [tail, 100 - tail], axis=0)
    return ends


def drawn_error(drawn: NDArray[np.float64], degrees: float = inf) -> float:
    """Standard error of a figure from its draws, which are narrower by a degree of freedom."""
    return float(drawn.std()) * (sqrt((degrees + 1) / degrees) if degrees < inf else 1.0)


class Rank(NamedTuple):
    """Where a system stands, as an interval; 1 is best. All intervals of a table hold together (95 %)."""

    low: int
    """One more than there are systems that are better beyond doubt."""
    high: int
    """Likewise, how many are not worse beyond doubt."""

    @property
    def top(self) -> bool:
        """Nobody is better beyond doubt."""
        return self.low == 1


def ranks(
    figures: Sequence[float] | NDArray[np.float64], drawn: NDArray[np.float64], degrees: float = inf
) -> list[Rank]:
    """Rank interval of each system, from all pairs of systems that can be told apart.

    Differences over their drawn standard error are held against the greatest of all drawn ones, so that among
    equal systems any is told apart in one table of twenty, however many there are; what is told apart is left
    out, and the rest is held against the greatest of what is left (the step-down max-T of J. P. Romano and M.
    Wolf, 2005; ranks from pairs: M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, 2024).

    Args:
        figures: One per system, higher is better.
        drawn: Resamples x systems: the same figures from drawn clusters.
        degrees: Of freedom of the standard errors, where clusters are few.
    """
    one, other = np.triu_indices(len(figures), 1)
    found = np.asarray(figures)[one] - np.asarray(figures)[other]
    errors = np.array(
        [drawn_error(drawn[:, i] - drawn[:, j], degrees) for i, j in zip(one, other, strict=True)]
    )
    # Two systems that differ alike in every draw tell nothing of their spread.
    sizes = np.abs(found) / np.where(errors > _NONE, errors, inf)
    left = np.ones(len(found), dtype=bool)
    while left.any():
        greatest = np.zeros(len(drawn))
        for place in np.flatnonzero(left & (errors > _NONE)):
            away = drawn[:, one[place]] - drawn[:, other[place]] - found[place]
            np.maximum(greatest, np.abs(away) / errors[place], out=greatest)
        reach = float(np.quantile(greatest, CONFIDENCE, method="higher"))
        if degrees < inf:
            reach = t_quantile(degrees, erfc(reach / sqrt(2)))
        told = left & (sizes > reach)
        if not told.any():
            break
        left &= ~told
    better = np.zeros((len(figures), len(figures)), dtype=bool)
    better[one, other] = ~left & (found > 0)
    better[other, one] = ~left & (found < 0)
    return [
        Rank(1 + int(above), len(figures) - int(below))
        for above, below in zip(better.sum(axis=0), better.sum(axis=1), strict=True)
    ]
