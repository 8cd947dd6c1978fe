"""How surprising a count is if nothing but chance is at work."""

from collections.abc import Sequence
from math import erfc, exp, lgamma, log, sqrt


def uniform(counts: Sequence[int]) -> float:
    """Probability of counts at least this uneven (chi-square against equal shares)."""
    total = sum(counts)
    if not total or len(counts) < 2:
        return 1.0
    expected = total / len(counts)
    return _upper_gamma((len(counts) - 1) / 2, sum((n - expected) ** 2 for n in counts) / expected / 2)


def at_least(hits: float, trials: int, chance: float) -> float:
    """Probability of this many hits or more (normal approximation; give it 30 trials or more)."""
    deviation = sqrt(trials * chance * (1 - chance))
    return 0.5 * erfc((hits - trials * chance) / deviation / sqrt(2)) if deviation else 1.0


def _upper_gamma(a: float, x: float) -> float:
    """Regularised upper incomplete gamma function Q(a, x)."""
    if x <= 0:
        return 1.0
    front = exp(-x + a * log(x) - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-15:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    b = x + 1 - a
    c = 1e300
    d = fraction = 1 / b
    for i in range(1, 500):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        fraction *= (step := d * c)
        if abs(step - 1) < 1e-15:
            break
    return front * fraction
