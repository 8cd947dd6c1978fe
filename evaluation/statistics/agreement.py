"""Two series of scores of the same answers: how far they agree, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

import numpy as np

from mihakk.evaluation.statistics.bootstrap import RESAMPLES, percentile_interval
from mihakk.evaluation.statistics.bootstrap import weights as drawn_weights
from mihakk.evaluation.statistics.cluster import Codes, Values

Weighting = Literal["linear", "quadratic"]
WEAKEST: Final = 3
"""Systems left out to see whether a correlation lives on the weakest alone."""


class WithInterval(NamedTuple):
    """A statistic and its interval (95 %, percentiles of a cluster bootstrap)."""

    value: float | None
    """None where it is not defined: one of the series is constant."""
    low: float | None = None
    high: float | None = None


def kappas(x: Values, y: Values, weights: Values, weighting: Weighting = "quadratic") -> Values:
    """Weighted kappa of two series under each row of weights (J. Cohen, 1968); NaN where both are constant.

    1 - mean disagreement / mean disagreement of x with a y drawn independently. Scores need not be whole
    numbers; of whole ones it is the usual weighted kappa.

    Args:
        x: One score per answer.
        y: The other.
        weights: Draws x answers.
        weighting: Whether disagreement grows with the difference or its square.
    """
    total = weights.sum(axis=1)
    if weighting == "quadratic":
        observed = weights @ (x - y) ** 2 / total
        mean_x, mean_y = weights @ x / total, weights @ y / total
        expected = weights @ x**2 / total + weights @ y**2 / total - 2 * mean_x * mean_y
    else:
        observed = weights @ np.abs(x - y) / total
        (of_x, place_x), (of_y, place_y) = (np.unique(one, return_inverse=True) for one in (x, y))
        share_x = weights @ np.eye(len(of_x))[place_x] / total[:, None]
        share_y = weights @ np.eye(len(of_y))[place_y] / total[:, None]
        expected = ((share_x @ np.abs(of_x[:, None] - of_y[None, :])) * share_y).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 1e-12, 1 - observed / expected, np.nan)


def correlations(x: Values, y: Values, weights: Values) -> Values:
    """Pearson's correlation of two series under each row of weights; NaN where one is constant."""
    total = weights.sum(axis=1)
    mean_x, mean_y = weights @ x / total, weights @ y / total
    joint = weights @ (x * y) / total - mean_x * mean_y
    spread = (weights @ x**2 / total - mean_x**2) * (weights @ y**2 / total - mean_y**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 1e-18, joint / np.sqrt(np.maximum(spread, 0)), np.nan)


class Sampled(NamedTuple):
    """Answers that were scored twice."""

    x: Values
    y: Values
    weights: Values
    """How many answers each stands for."""
    clusters: Codes

    def statistic(
        self,
        of: Callable[[Values, Values, Values], Values],
        *,
        seed: int,
        name: str,
        resamples: int = RESAMPLES,
    ) -> WithInterval:
        """A statistic of the two series with the percentile interval over drawn clusters.

        Args:
            of: Takes both series and draws x answers of weights.
            seed: Of the suite.
            name: What is measured; the draws depend on it and the seed alone.
            resamples: Cluster bootstraps.
        """
        (value,) = of(self.x, self.y, self.weights[None, :])
        if np.isnan(value):
            return WithInterval(None)
        count = int(self.clusters.max()) + 1
        if count < 2:
            return WithInterval(float(value))
        blocks = drawn_weights(count, seed=seed, name=name, resamples=resamples)
        drawn = np.concatenate(
            [of(self.x, self.y, block[:, self.clusters] * self.weights) for block in blocks]
        )
        drawn = drawn[~np.isnan(drawn)]
        if 2 * len(drawn) <= resamples:
            return WithInterval(float(value))
        low, high = percentile_interval(drawn)
        return WithInterval(float(value), float(low), float(high))


def system_correlations(systems: Codes, without: int = 0) -> Callable[[Values, Values, Values], Values]:
    """A statistic for `Sampled`: Pearson's correlation of the systems' means.

    Args:
        systems: System of each answer, from 0.
        without: So many systems are left out, those of the lowest means by the second series.
    """

    def of(x: Values, y: Values, weights: Values) -> Values:
        member = np.eye(int(systems.max()) + 1)[systems]
        with np.errstate(divide="ignore", invalid="ignore"):
            means_x = (weights * x) @ member / (weights @ member)
            means_y = (weights * y) @ member / (weights @ member)
        # Who is weak is settled by all answers, not draw by draw.
        counts = member.sum(axis=0)
        order = np.argsort((y @ member) / np.maximum(counts, 1), kind="stable")
        kept = np.sort(order[without:])
        found: Values = np.array(
            [
                correlations(one, other, np.ones((1, len(kept))))[0]
                for one, other in zip(means_x[:, kept], means_y[:, kept], strict=True)
            ]
        )
        return found

    return of
