"""Means of items that are not independent: those about one poem or idiom are one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.stats import CONFIDENCE, clopper_pearson, t_quantile

Values = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Number of the cluster of each item, from 0."""

LEAST_CLUSTERS: Final = 10
"""Fewer say nothing of their spread: there is no interval then."""
LEAST_EVEN: Final = 3.0
"""Likewise, of clusters of one size that would weigh as much: one or two hold nearly all items."""
_ALIKE: Final = 1e-12
"""Standard errors below it are rounding."""


class Estimate(NamedTuple):
    """A mean and how sure it is."""

    mean: float
    se: float | None
    """None where there are fewer than two clusters."""
    low: float | None
    """Lower end of the 95 % interval; None where it is withheld (`says_enough`)."""
    high: float | None
    items: int
    clusters: int
    effective: float
    """Clusters of one size that would tell as much of the spread: degrees of freedom and one."""


def codes_of(names: Sequence[Any] | NDArray[Any]) -> Codes:
    """Clusters numbered in the order of their names."""
    _, codes = np.unique(np.asarray(names), return_inverse=True)
    return codes.astype(np.int64)


def says_enough(sizes: Values) -> bool:
    """Whether clusters are enough for an interval, and not one or two of them hold nearly all items."""
    return len(sizes) >= LEAST_CLUSTERS and _even(sizes) >= LEAST_EVEN


def _even(sizes: Values) -> float:
    """How many clusters of one size would weigh as much: over one and the squared variation of the sizes."""
    return float(sizes.sum() ** 2 / (sizes @ sizes))


def effective_clusters(sizes: Values, alike: float = 1.0) -> float:
    """How many clusters of one size tell as much of the spread of a mean as these.

    One more than the degrees of freedom that Satterthwaite's rule gives the clustered variance (R. M. Bell
    and D. F. McCaffrey, 2002; G. Imbens and M. Kolesar, 2016): those with which a chi-square has its mean and
    variance, where two items of a cluster correlate by `alike`. Clusters of one size count in full.

    Args:
        sizes: Items of each cluster, or their weight.
        alike: Correlation within clusters; 1 gives the fewest degrees.
    """
    if len(sizes) < 2:
        return float(len(sizes))
    share = sizes / sizes.sum()
    spread = sizes * (1 + (sizes - 1) * alike)
    # The residual sums of clusters are (I - share 1') s, where s has the variances `spread`.
    total, squares = spread.sum(), float(share @ share)
    trace = total - 2 * float(share @ spread) + total * squares
    square = (
        float(spread @ spread)
        - 4 * float(share @ spread**2)
        + 2 * (float(spread @ spread) * squares + float(share @ spread) ** 2)
        + 2 * total * float(share**2 @ spread)
        - 4 * total * squares * float(share @ spread)
        + (total * squares) ** 2
    )
    return float(trace**2 / square) + 1


def t_estimate(mean: float, se: float, items: int, sizes: Values, alike: float = 1.0) -> Estimate:
    """A mean with its t interval, of the degrees that clusters of these sizes leave.

    Args:
        mean: The figure.
        se: Its clustered error.
        items: What it is a mean of.
        sizes: Items of each cluster, or their weight.
        alike: Correlation within clusters.
    """
    count, effective = len(sizes), effective_clusters(sizes, alike)
    if not says_enough(sizes):
        return Estimate(mean, se, None, None, items, count, effective)
    reach = t_quantile(effective - 1) * se
    return Estimate(mean, se, mean - reach, mean + reach, items, count, effective)


def clustered(values: Values, clusters: Codes, bounds: tuple[float, float] | None = None) -> Estimate:
    """Mean with its clustered standard error and interval.

    SE = sqrt(C/(C-1) sum_c (sum_i (s_ci - m))^2) / n (E. Miller, 2024, app. A, with the factor for few
    clusters). The degrees of freedom are those of `effective_clusters`. Of values with bounds the interval is
    Clopper and Pearson's, of the effective number of items (E. L. Korn and B. I. Graubard, 1998): it stays
    inside the bounds, and holds near them and where clusters are few and unlike.

    Args:
        values: One per item.
        clusters: One per item.
        bounds: Least and greatest value there can be; the plain t interval without them.

    Raises:
        ValueError: There is no item.
    """
    size = len(values)
    if size == 0:
        raise ValueError("a mean of nothing")
    mean = float(values.mean())
    sums = np.bincount(clusters, weights=values - mean).astype(np.float64)
    sizes = np.bincount(clusters).astype(np.float64)
    if not sizes.all():  # numbers that no item has are no clusters
        sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    count = len(sizes)
    if count < 2:
        return Estimate(mean, None, None, None, size, count, float(count))
    se = sqrt(count / (count - 1) * float(sums @ sums)) / size
    spread = float(values.var())
    found = t_estimate(mean, se, size, sizes, _alike(sums, sizes, spread))
    if bounds is None or found.low is None:
        return found
    farthest = max(float(values.max()) - mean, mean - float(values.min()))
    low, high = _inside(found, sizes, spread, farthest, bounds)
    return found._replace(low=low, high=high)


def _alike(sums: Values, sizes: Values, spread: float) -> float:
    """Correlation of two items of a cluster, 0 to 1, by analysis of variance.

    Args:
        sums: Of each cluster's values less the mean.
        sizes: Items of each cluster.
        spread: Variance of the items.
    """
    items, count = float(sizes.sum()), len(sizes)
    if items == count or spread < _ALIKE:
        return 0.0
    explained = float((sums**2 / sizes).sum())
    between, within = explained / (count - 1), (items * spread - explained) / (items - count)
    usual = (items - float(sizes @ sizes) / items) / (count - 1)
    return min(1.0, max(0.0, (between - within) / (between + (usual - 1) * within)))


def _inside(
    found: Estimate, sizes: Values, spread: float, farthest: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """The ends of the interval of a mean of bounded values, of variance `spread`, none `farthest` off it."""
    width, items = bounds[1] - bounds[0], found.items
    share, variance = (found.mean - bounds[0]) / width, ((found.se or 0.0) / width) ** 2
    even = _even(sizes)
    if variance >= _ALIKE**2:
        spread /= width**2
        # Two items more, as far off as any: few unlike ones may be few by chance (Bonett and Price, 2012).
        variance *= 1 + 2 * min(share * (1 - share), (farthest / width) ** 2) / (items * spread)
        # One cluster more, all of whose items are alike: so may be those that were not drawn.
        variance = (found.clusters * variance + spread / even) / (found.clusters + 1)
    return bounded(found.mean, width * sqrt(variance), bounds, degrees=found.effective - 1, even=even)


def bounded(
    mean: float, se: float, bounds: tuple[float, float], *, degrees: float, even: float
) -> tuple[float, float]:
    """The ends of the 95 % interval of a figure that has bounds.

    Where all clusters have the same mean, their spread says nothing: then the ends are those of what the
    share of unlike clusters may still be (Clopper and Pearson for none of them) and move the mean at most.

    Args:
        mean: The figure.
        se: Its standard error.
        bounds: Least and greatest figure there can be.
        degrees: Of freedom of the standard error.
        even: Clusters of one size that would weigh as much.
    """
    least, width = bounds[0], bounds[1] - bounds[0]
    share, spread = min(1.0, max(0.0, (mean - least) / width)), se / width
    most = share * (1 - share)
    if spread < _ALIKE or most <= 0:
        unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / even)
        return mean - unseen * share * width, mean + unseen * (1 - share) * width
    cases = most / spread**2 * (t_quantile(inf) / t_quantile(degrees)) ** 2
    low, high = clopper_pearson(share * cases, cases)
    return least + width * low, least + width * high


def moved(before: Values, after: Values, of_before: Codes, of_after: Codes) -> Estimate:
    """Mean of `after` less that of `before`, two sets that may share clusters or items.

    The standard error is that of the linearised difference: what each cluster adds to either mean, less what
    it adds to the other (of the same items in both it is `clustered` of their differences; of a regression on
    "is after" it is the cluster-robust error of the slope).

    Args:
        before: Values of one set.
        after: Of the other.
        of_before: Cluster of each, numbered over both sets.
        of_after: Likewise.

    Raises:
        ValueError: One of the sets is empty.
    """
    if not len(before) or not len(after):
        raise ValueError("a mean of nothing")
    size = int(max(of_before.max(), of_after.max())) + 1
    parts = np.bincount(of_after, weights=after - after.mean(), minlength=size) / len(after)
    parts -= np.bincount(of_before, weights=before - before.mean(), minlength=size) / len(before)
    difference = float(after.mean() - before.mean())
    count = len(set(of_before) | set(of_after))
    items = len(before) + len(after)
    sizes = np.bincount(of_before, minlength=size) / len(before) + np.bincount(
        of_after, minlength=size
    ) / len(after)
    if count < 2:
        return Estimate(difference, None, None, None, items, count, float(count))
    se = sqrt(count / (count - 1) * float(parts @ parts))
    return t_estimate(difference, se, items, sizes[sizes > 0])


def plain_se(share: float, items: int) -> float | None:
    """sqrt(p (1-p) / (n-1)): what lm-eval prints, as if every item stood alone; None for one item."""
    return sqrt(share * (1 - share) / (items - 1)) if items > 1 else None
