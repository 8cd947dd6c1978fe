"""Whether larger systems are better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SizeEffect(NamedTuple):
    """A straight line through figures over sizes (Kinayat, appendix E)."""

    slope: float
    """Of the figure, a billion parameters."""
    intercept: float
    r_squared: float
    p: float
    systems: int


def size_effect(billions: Sequence[float], figures: Sequence[float]) -> SizeEffect:
    """Least squares of the figures on the sizes.

    Raises:
        ValueError: There are fewer than three systems, or all are of one size.
    """
    from scipy.stats import linregress

    if len(billions) < 3 or len(set(billions)) < 2:
        raise ValueError("a line needs three systems of at least two sizes")
    found = linregress(billions, figures)
    return SizeEffect(
        float(found.slope),
        float(found.intercept),
        float(found.rvalue) ** 2,
        float(found.pvalue),
        len(billions),
    )
