"""Two systems on the items both were asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.statistics.cluster import Codes, Estimate, Values, clustered
from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import binomial_tail

RESAMPLES: Final = 10_000
POWER_80: Final = 2.8
"""z(.975) + z(.8): a true difference of this many standard errors is found four times in five."""
_BLOCK: Final = 1 << 22
"""Signs drawn at once."""
_EQUAL: Final = 1e-9
"""Within which two permuted sums are the same: the order of additions must not decide a p-value."""


class Comparison(NamedTuple):
    """The first system less the second."""

    difference: Estimate
    p: float
    test: str
    """`permutation` (signs of whole clusters), `exact permutation` or `McNemar`."""
    alike: float
    """Share of items on which both have the same value."""


def compare(
    first: Values,
    second: Values,
    clusters: Codes,
    *,
    seed: int,
    name: str,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] | None = None,
) -> Comparison:
    """Paired difference, clustered, and its p-value.

    The p-value comes from flipping the signs of whole clusters, or from McNemar's exact test where each is
    one item and every value 0 or 1.

    Args:
        first: Values of one system, an item each.
        second: Values of the other, for the same items.
        clusters: Of the items.
        seed: Of the suite.
        name: What is compared; the draws depend on it and the seed alone.
        resamples: Permutations drawn where there are too many to go through.
        bounds: Least and greatest difference there can be.
    """
    sums = np.stack([_sums(first, clusters), _sums(second, clusters)], axis=1)
    permuted = SignFlips(sums, seed=seed, name=name, resamples=resamples)
    return permuted.compare(first, second, clusters, 0, 1, bounds=bounds)


class SignFlips:
    """Permutations of many systems at once: the sum of a flipped difference is a difference of flipped sums.

    Args:
        sums: Clusters x systems: the sum of each cluster's values.
        seed: Of the suite.
        name: What is compared.
        resamples: Permutations to draw; all are gone through where there are no more than that.
    """

    def __init__(
        self, sums: NDArray[np.float64], *, seed: int, name: str, resamples: int = RESAMPLES
    ) -> None:
        clusters = len(sums)
        self.exact = clusters < 63 and 2**clusters <= resamples
        blocks = _all_signs(clusters) if self.exact else _drawn_signs(clusters, resamples, seed, name)
        self._flipped = np.concatenate([block @ sums for block in blocks])
        self._sums = sums.sum(axis=0)

    def p_value(self, first: int, second: int) -> float:
        """Two-sided, of the difference between two systems."""
        observed = abs(self._sums[first] - self._sums[second])
        flipped = np.abs(self._flipped[:, first] - self._flipped[:, second])
        beyond = int(np.count_nonzero(flipped >= observed - _EQUAL * max(1.0, observed)))
        # The drawn permutations leave out the one that was seen; going through all meets it.
        return beyond / len(flipped) if self.exact else (beyond + 1) / (len(flipped) + 1)

    def compare(
        self,
        first: Values,
        second: Values,
        clusters: Codes,
        one: int,
        other: int,
        *,
        bounds: tuple[float, float] | None = None,
    ) -> Comparison:
        """The comparison of the systems of columns `one` and `other`, whose values are given."""
        difference = clustered(first - second, clusters, bounds=bounds)
        alike = float(np.mean(first == second))
        if difference.clusters == difference.items and _is_binary(first) and _is_binary(second):
            return Comparison(difference, mcnemar(first, second), "McNemar", alike)
        test = "exact permutation" if self.exact else "permutation"
        return Comparison(difference, self.p_value(one, other), test, alike)


def mcnemar(first: Values, second: Values) -> float:
    """Exact two-sided p-value of McNemar's test on 0/1 values (binomial over the discordant items)."""
    gained = int(np.count_nonzero(first > second))
    lost = int(np.count_nonzero(first < second))
    return min(1.0, 2 * binomial_tail(max(gained, lost), gained + lost, 0.5))


def _sums(values: Values, clusters: Codes) -> Values:
    return np.bincount(clusters, weights=values).astype(np.float64)


def _is_binary(values: Values) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _drawn_signs(clusters: int, resamples: int, seed: int, name: str) -> Iterator[Values]:
    draws = np.random.default_rng(rng(seed, name, "sign_flips").getrandbits(128))
    width = -(-clusters // 8)
    rows = max(1, _BLOCK // clusters)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = np.frombuffer(draws.bytes(count * width), dtype=np.uint8).reshape(count, width)
        yield 1.0 - 2.0 * np.unpackbits(drawn, axis=1, count=clusters).astype(np.float64)


def _all_signs(clusters: int) -> Iterator[Values]:
    numbers = np.arange(2**clusters, dtype=np.uint64)[:, None]
    yield 1.0 - 2.0 * ((numbers >> np.arange(clusters, dtype=np.uint64)) & np.uint64(1)).astype(np.float64)
