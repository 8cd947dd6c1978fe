"""Least squares with clustered errors, adjusting for what does not matter."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from mihakk.evaluation.statistics.cluster import Codes, Values
from mihakk.machinery.stats import t_quantile


class Coefficient(NamedTuple):
    """One coefficient and its interval (95 %, t with as many degrees as clusters less one)."""

    value: float
    low: float
    high: float


def regression(rows: Values, values: Values, clusters: Codes) -> list[Coefficient] | None:
    """Coefficients of values on the columns of `rows`; None where they are not determined.

    The covariance is the sandwich's with the factors of statsmodels: C/(C-1) (n-1)/(n-k) (A. C. Cameron and
    D. L. Miller, 2015, section II.B).

    Args:
        rows: Answers x columns; a constant is a column like any other.
        values: One per answer.
        clusters: Of the answers.
    """
    size, width = rows.shape
    count = len(np.unique(clusters))
    if size <= width or count < 2 or np.linalg.matrix_rank(rows) < width:
        return None
    inverse = np.linalg.inv(rows.T @ rows)
    found = inverse @ rows.T @ values
    residuals = values - rows @ found
    sums = np.zeros((int(clusters.max()) + 1, width))
    np.add.at(sums, clusters, rows * residuals[:, None])
    factor = count / (count - 1) * (size - 1) / (size - width)
    covariance = factor * inverse @ (sums.T @ sums) @ inverse
    reach = t_quantile(count - 1)
    return [
        Coefficient(float(one), float(one) - reach * sqrt(spread), float(one) + reach * sqrt(spread))
        for one, spread in zip(found, np.maximum(np.diag(covariance), 0), strict=True)
    ]
