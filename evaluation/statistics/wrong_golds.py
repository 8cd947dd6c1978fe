"""Golds that the answers of many systems speak against: voting with weights, as naive Bayes has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.cluster import Values


class GoldOdds(NamedTuple):
    """One figure an item each."""

    odds: Values
    """Log of how much likelier the answers are if `other` is right and not the gold."""
    other: NDArray[np.int64]
    """The option that speaks loudest against the gold; 0 where nobody chose another."""


def gold_odds(shares: Values, options: NDArray[np.int64]) -> GoldOdds:
    """The odds against each gold.

    A system that is right on a share a of the *other* items, of k options, votes with the weight
    log(a (k-1) / (1-a)): the optimal weights where systems err by themselves (S. Nitzan and J. Paroush, 1982;
    A. P. Dawid and A. M. Skene, 1979, with golds in the place of the unknown classes). Whoever is no better
    than chance has no vote.

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
    right = shares[:, :, 0]
    answered = shares.sum(axis=2)
    elsewhere = right.sum(axis=0) - right
    asked = answered.sum(axis=0) - answered
    # One right and one wrong answer more than there were, so that nobody's vote is beyond doubt.
    accuracy = (elsewhere + 1) / (asked + 2)
    weight = np.maximum(np.log(accuracy * (options[:, None] - 1) / (1 - accuracy)), 0)
    votes = np.einsum("is,iso->io", weight, shares)
    other = votes[:, 1:].argmax(axis=1) + 1
    odds = votes[np.arange(items), other] - votes[:, 0]
    nobody = shares[:, :, 1:].sum(axis=(1, 2)) == 0
    return GoldOdds(odds, np.where(nobody, 0, other).astype(np.int64))
