"""Golds that the answers of many systems speak against: which option the answers would be likeliest under."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import erfc, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.statistics.cluster import Values

SHARED: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Correlations between systems that are tried: how far they fail on the same items."""
SPREAD: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Concentrations tried: small where all who err fall for one option, large where they scatter."""
WRONG: Final = 0.033
"""Share of wrong golds to begin with: the mean of ten test sets (C. Northcutt et al., 2021)."""
_WEIGHT: Final = 0.1
"""What that counts for beside the items, as a share of them."""
_ROUNDS: Final = 200
"""Of re-estimating the share of wrong golds."""
_NODES: Final = 41
"""Of the Gauss-Hermite quadrature over how easy an item is; eleven are coarse at a correlation of .95."""
_FITTED: Final = 2_000
"""Items that the two numbers are estimated on, evenly spaced where there are more."""
_BLOCK: Final = 2_000
"""Items worked on at once."""
_FAR: Final = -30.0
"""Below it the mass is the first terms of its asymptotic series; a double holds none below -38."""


class GoldOdds(NamedTuple):
    """One figure per item, and what they rest on."""

    odds: Values
    """Log of how much likelier the answers are if one of the others is right and not the gold."""
    other: NDArray[np.int64]
    """The option that speaks loudest against the gold; 0 where nobody chose another."""
    confidence: Values
    """Chance that another answer is right and not the gold."""
    shared: float
    """Correlation between systems: how far they fail on the same items."""
    spread: float
    """How far wrong answers scatter over the wrong options."""


def gold_odds(shares: Values, options: NDArray[np.int64]) -> GoldOdds:
    """The odds against each gold, under a model of who errs and where those who err end up.

    Whether a system is right follows from how often it is right on all *other* items and from how easy the
    item is for all (a normal copula with one factor, so systems fail together); wrong answers fall on wrong
    options by a Dirichlet-multinomial (so they may all fall for one). Both numbers are those under which the
    answers are likeliest, with the golds taken as right, as most are. Voting with weights (S. Nitzan and
    J. Paroush, 1982; A. P. Dawid and A. M. Skene, 1979) takes systems to err by themselves, and so mistakes a
    hard item with a trap for a wrong gold, and takes fourteen systems that fail together for fourteen
    witnesses. The confidence takes the share of wrong golds from all items' odds. Whoever is below chance
    counts as guessing.

    Args:
        shares: Items x systems x options: the share of a system's answers (orders, wordings, repeats) that
            chose the option; the gold is option 0. A system that chose nothing has none.
        options: How many options each item has, at least two.

    Raises:
        ValueError: There are fewer than two items.
    """
    items, systems, width = shares.shape
    if items < 2 or systems < 1 or width < 2:
        raise ValueError(f"{items} items x {systems} systems x {width} options: too few to vote")
    skill = _skill(shares, options)
    fitted = np.unique(np.linspace(0, items - 1, min(items, _FITTED)).astype(np.int64))
    golds = np.zeros(1, dtype=np.int64)
    own = shares[fitted], skill[fitted], options[fitted]
    shared = max(SHARED, key=lambda one: float(_right(own[0], own[1], one, golds).sum()))
    spread = max(SPREAD, key=lambda one: float(_wrong(own[0], own[2], one)[:, 0].sum()))
    found = np.concatenate(
        [
            _right(shares[part], skill[part], shared, np.arange(width))
            + _wrong(shares[part], options[part], spread)
            for part in _blocks(items)
        ]
    )
    found[np.arange(width) >= options[:, None]] = -np.inf
    others = np.logaddexp.reduce(found[:, 1:], axis=1) - np.log(options - 1)
    odds = others - found[:, 0]
    # Nobody speaks against the gold of an item that nobody missed, however likely a trap for all is.
    nobody = shares[:, :, 1:].sum(axis=(1, 2)) == 0
    odds[nobody] = odds.min()
    other = np.where(nobody, 0, found[:, 1:].argmax(axis=1) + 1).astype(np.int64)
    return GoldOdds(odds, other, _confidence(odds), shared, spread)


def _confidence(odds: Values) -> Values:
    """Chance that each gold is wrong, the share of wrong ones being what the items say (EM)."""
    share, found = WRONG, odds
    for _ in range(_ROUNDS):
        found = np.exp(-np.logaddexp(0.0, log((1 - share) / share) - odds))
        share = (float(found.mean()) + _WEIGHT * WRONG) / (1 + _WEIGHT)
    return found


def _skill(shares: Values, options: NDArray[np.int64]) -> Values:
    """Items x systems: the normal quantile of how often each is right on the other items, chance at least."""
    right, answered = shares[:, :, 0], shares.sum(axis=2)
    elsewhere, asked = right.sum(axis=0) - right, answered.sum(axis=0) - answered
    # One right and one wrong answer more than there were, so that nobody is beyond doubt.
    able = np.maximum((elsewhere + 1) / (asked + 2), 1 / options[:, None])
    return _of_each(NormalDist().inv_cdf, able)


def _right(shares: Values, skill: Values, shared: float, which: NDArray[np.int64]) -> Values:
    """Items x options: log-likelihood of who is right, if each of these options were."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    # Few skills are unlike: a system's is the same over all items that it has right, and over all others.
    skills, places = np.unique(skill, return_inverse=True)
    reach = (skills[:, None] + np.sqrt(shared) * nodes) / np.sqrt(1 - shared)
    able, unable = _of_each(_log_below, reach), _of_each(_log_below, -reach)
    places = places.reshape(skill.shape)
    none = np.einsum("is,isn->in", shares.sum(axis=2), unable[places])
    gain = shares[:, :, which].transpose(0, 2, 1) @ (able - unable)[places]
    log_weights = np.log(weights / weights.sum())
    found: Values = np.logaddexp.reduce(none[:, None] + gain + log_weights, axis=2)
    return found


def _wrong(shares: Values, options: NDArray[np.int64], spread: float) -> Values:
    """Items x options: log-likelihood of where the wrong answers fall, if each option were right."""
    counts = shares.sum(axis=1)
    each = spread / (options[:, None] - 1)
    parts = _of_each(lgamma, counts + each) - _of_each(lgamma, each)
    wrong = counts.sum(axis=1, keepdims=True) - counts
    drawn = _of_each(lgamma, wrong + spread) - lgamma(spread)
    found: Values = parts.sum(axis=1, keepdims=True) - parts - drawn
    return found


def _of_each(function: Callable[[float], float], values: Values) -> Values:
    """The function's value of each number, found once for numbers that are alike: most are."""
    unlike, places = np.unique(values, return_inverse=True)
    found: Values = np.array([function(one) for one in unlike.tolist()])[places].reshape(values.shape)
    return found


def _log_below(value: float) -> float:
    """Log of the normal's mass below a value."""
    if value > 0:
        return log1p(-erfc(value / sqrt(2)) / 2)
    if value > _FAR:
        return log(erfc(-value / sqrt(2)) / 2)
    least = 1 / value**2
    series = -least * (1 - 3 * least * (1 - 5 * least * (1 - 7 * least)))
    return -(value**2) / 2 - log(-value * sqrt(2 * pi)) + log1p(series)


def _blocks(items: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, items, _BLOCK))
