"""Intervals, tails, quantiles and corrections that several stages report.

They are written out because SciPy alone would take a quarter of a bare installation; the tests hold each
beside SciPy's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from math import erfc, exp, inf, lgamma, log, log1p, sqrt
from typing import Final, Literal, NamedTuple

CONFIDENCE: Final = 0.95
"""Of every interval."""
_Z: Final = 1.959963984540054
"""Standard deviations that such an interval reaches to each side of a normal mean."""
_STEPS: Final = 2**53
"""Places of a share that are told apart."""


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def wilson(hits: float, cases: int) -> Interval:
    """Wilson's 95 % score interval of a share; 0 to 1 without cases (E. B. Wilson, 1927).

    Args:
        hits: Cases that count, 0 to `cases`; a fraction where ties are shared.
        cases: All cases.
    """
    if cases == 0:
        return Interval(0.0, 1.0)
    share = hits / cases
    centre = share + _Z * _Z / (2 * cases)
    reach = _Z * sqrt(share * (1 - share) / cases + _Z * _Z / (4 * cases * cases))
    scale = 1 + _Z * _Z / cases
    return Interval(max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale))


def clopper_pearson(hits: float, cases: float, side: Literal["both", "upper", "lower"] = "both") -> Interval:
    """Exact 95 % interval of a share; 0 to 1 without cases (C. J. Clopper and E. S. Pearson, 1934).

    Args:
        hits: Cases that count.
        cases: All cases; a fraction where it is the effective number of a weighted sample.
        side: `upper` for the most a rate could be (0 hits of 300 give 0.99 %): a one-sided 95 % bound, the
            other end is then 0 or 1.
    """
    if cases == 0:
        return Interval(0.0, 1.0)
    tail = (1 - CONFIDENCE) / (2 if side == "both" else 1)
    low = 0.0 if hits == 0 or side == "upper" else _beta_quantile(hits, cases - hits + 1, tail)
    high = 1.0 if hits >= cases or side == "lower" else 1 - _beta_quantile(cases - hits, hits + 1, tail)
    return Interval(low, high)


def _beta_quantile(a: float, b: float, share: float) -> float:
    """Where the beta distribution has a share of its mass below."""
    return bisect_left(range(_STEPS), share, key=lambda step: _beta_below(a, b, step / _STEPS)) / _STEPS


def _beta_below(a: float, b: float, x: float) -> float:
    """Mass of the beta distribution below `x`.

    By the continued fraction of the incomplete beta function (DLMF 8.17.22) and Lentz's method; within 1e-12
    for `a + b` up to a million.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction is quick below the mean alone
        return 1 - _beta_below(b, a, 1 - x)
    scale = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    c, d, m = 1.0, 1 / (1 - (a + b) * x / (a + 1)), 0
    fraction = d
    step = 0.0
    while abs(step - 1) > 1e-15:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            step = d * c
            fraction *= step
    return scale * fraction


def chi_square_tail(value: float, degrees: int) -> float:
    """Probability of a chi-square of this value or more, as the finite sum that whole degrees have."""
    half = value / 2
    if half <= 0:
        return 1.0
    powers = [degrees % 2 / 2 + n for n in range(degrees // 2)]
    start = erfc(sqrt(half)) if degrees % 2 else 0.0
    return start + sum(exp(power * log(half) - half - lgamma(power + 1)) for power in powers)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Student's 95 % interval of a mean; None of fewer than two values."""
    from statistics import fmean, stdev

    if len(values) < 2:
        return None
    centre = fmean(values)
    reach = t_quantile(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Interval(centre - reach, centre + reach)


def binomial_tail(hits: int, cases: int, share: float) -> float:
    """Probability of so many hits or more, where each of the cases is one with this chance."""
    if not 0 < hits <= cases:
        return float(hits <= 0)
    return _beta_below(hits, cases - hits + 1, share)


def t_tails(value: float, degrees: float) -> float:
    """Probability of a value of Student's t this far from 0 or farther, to both sides.

    Args:
        value: Not negative.
        degrees: Of freedom; infinitely many for a normal.
    """
    if degrees == inf:
        return erfc(value / sqrt(2))
    square = value * value
    if square < 2:  # near 0 the share beyond is 1 but for rounding, the one within is not
        return 1 - _beta_below(0.5, degrees / 2, square / (degrees + square))
    return _beta_below(degrees / 2, 0.5, degrees / (degrees + square))


@cache
def t_quantile(degrees: float, tails: float = 1 - CONFIDENCE) -> float:
    """How far Student's t reaches to both sides of 0; what lies beyond has the probability `tails`."""
    low, high = 0.0, 1.0
    while t_tails(high, degrees) > tails:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if t_tails(middle, degrees) > tails else (low, middle)
    return high


def t_p_value(value: float, error: float, degrees: float) -> float:
    """Two-sided p-value of a figure by Student's t; 1 where it is 0, but for rounding."""
    if abs(value) < 1e-12:
        return 1.0
    return t_tails(abs(value) / error, degrees) if error else 0.0


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number, in the order given (S. Holm, 1979)."""
    import numpy as np

    found = np.array(p_values, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    found[order] = np.minimum(1.0, np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1)))
    return [float(one) for one in found]


def fisher_mean(correlations: Sequence[float]) -> float:
    """Mean of correlations through Fisher's z; 1 or -1 where one of them is.

    Raises:
        ValueError: There is none, or one lies outside -1 to 1, or both ends are among them.
    """
    from math import atanh, tanh

    if not correlations or any(not -1 <= one <= 1 for one in correlations):
        raise ValueError(f"not correlations: {list(correlations)}")
    ends = {one for one in correlations if abs(one) == 1}
    if ends:
        if len(ends) > 1:
            raise ValueError("correlations of both 1 and -1 have no mean")
        return ends.pop()
    return tanh(sum(map(atanh, correlations)) / len(correlations))
