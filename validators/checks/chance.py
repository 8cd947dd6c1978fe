"""How surprising a count is if nothing but chance is at work, and whether it is worth an objection."""

from collections.abc import Iterator, Sequence
from math import erfc, sqrt

from validators.checks.gathering import Tally
from validators.checks.setindex import SetIndex

LEAST_ITEMS = 30
SURPRISE = 0.001
MARGIN = 0.05
"""How far a share must lie above chance: in a large set the least unevenness is no chance."""


def uniform(counts: Sequence[int]) -> float:
    """Probability of counts at least this uneven (chi-square against equal shares)."""
    from scipy.special import chdtrc

    total = sum(counts)
    if not total or len(counts) < 2:
        return 1.0
    expected = total / len(counts)
    return float(chdtrc(len(counts) - 1, sum((n - expected) ** 2 for n in counts) / expected))


def at_least(hits: float, trials: int, chance: float) -> float:
    """Probability of this many hits or more (normal approximation; give it 30 trials or more)."""
    deviation = sqrt(trials * chance * (1 - chance))
    return 0.5 * erfc((hits - trials * chance) / deviation / sqrt(2)) if deviation else 1.0


def choices(index: SetIndex) -> Iterator[tuple[str, int, Tally]]:
    """Name, number of options and tally of each group of choice items."""
    for (subset, task, options), tally in sorted(index.tallies.items(), key=lambda pair: pair[0]):
        if options >= 2:
            yield f"{task} {subset}".strip(), options, tally


def beats_chance(hits: float, items: int, options: int) -> str:
    """What somebody with so many hits gets, in words, where it is far more than chance; else empty."""
    if items < LEAST_ITEMS:
        return ""
    chance, share = 1 / options, hits / items
    surprise = at_least(hits, items, chance)
    if surprise >= SURPRISE or share - chance < MARGIN:
        return ""
    return f"gets {share:.1%} of {items} items, chance {chance:.1%} (p = {surprise:.1g})"
