"""Resamples whole tables by cluster: intervals of ranks and averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import CONFIDENCE

RESAMPLES: Final = 2000
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


class Rank(NamedTuple):
    """Where a system stands, as an interval; 1 is best."""

    low: int
    high: int
    top: bool
    """Not separable from the best: the best system's lead over it may be none."""


def ranks(figures: Sequence[float] | NDArray[np.float64], drawn: NDArray[np.float64]) -> list[Rank]:
    """Rank interval (95 %) of each system, and whether it belongs to the top group.

    Args:
        figures: One per system, higher is better.
        drawn: Resamples x systems: the same figures from drawn clusters.
    """
    # Equal figures share the best of their ranks at the low end and the worst at the high end.
    better = (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2) + 1
    not_worse = (drawn[:, None, :] >= drawn[:, :, None]).sum(axis=2)
    low = np.floor(np.percentile(better, 2.5, axis=0, method="inverted_cdf"))
    high = np.ceil(np.percentile(not_worse, 97.5, axis=0, method="inverted_cdf"))
    best = int(np.argmax(figures))
    lead = np.percentile(drawn[:, [best]] - drawn, 2.5, axis=0)
    return [
        Rank(int(first), int(last), bool(place == best or lead[place] <= 0))
        for place, (first, last) in enumerate(zip(low, high, strict=True))
    ]
