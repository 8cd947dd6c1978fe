"""Means where people scored few answers and judges all (A. N. Angelopoulos et al., Science 2023)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.statistics.cluster import Codes, Estimate, Values, t_estimate


class Labelled(NamedTuple):
    """All answers of one system, some of them scored by people."""

    judge: Values
    """One per answer."""
    people: Values
    """NaN where nobody scored it."""
    weights: Values
    """How many answers each scored one stands for; 0 where nobody scored it."""
    known: NDArray[np.bool_]
    """Where the judge's score is not in doubt: answers that are not there have the least by rule."""
    clusters: Codes


def corrected_mean(found: Labelled, bounds: tuple[float, float] | None = None) -> Estimate:
    """The judge's mean over all answers plus the mean of (people - judge) over those that people scored.

    Unbiased however wrong the judge is; the better it is, the narrower the interval. The error is clustered
    and counts both parts: each answer's pull on the sum is (judge - its mean) / all, and where people scored
    it, the share of doubtful answers times its weighted pull on the correction. Degrees of freedom are those
    of `effective_clusters`, of the clusters that people scored. The interval counts one scored answer more,
    which the judge misses by the most it missed any: few misses may be few by chance.

    Args:
        found: The answers.
        bounds: Least and greatest score there can be, between which the interval stays.

    Raises:
        ValueError: People scored none.
    """
    size = len(found.judge)
    scored = ~np.isnan(found.people) & (found.weights > 0)
    if not scored.any():
        raise ValueError("no answer was scored by people")
    doubtful = 1 - float(found.known.mean())
    gap = np.where(scored, np.nan_to_num(found.people) - found.judge, 0.0)
    share = np.where(scored, found.weights, 0.0)
    share /= share.sum()
    correction = float(share @ gap)
    base = float(found.judge.mean())
    pull = (found.judge - base) / size + doubtful * share * (gap - correction)
    sums = np.bincount(found.clusters, weights=pull)
    of_judge = np.bincount(found.clusters) * found.judge.std() / size
    of_people = np.bincount(found.clusters, weights=share).astype(np.float64)
    labelled = of_people > 0
    count = int(labelled.sum())
    mean = base + doubtful * correction
    if count < 2:
        return Estimate(mean, None, None, None, size, count, float(count))
    variance = count / (count - 1) * float(sums @ sums)
    most = float(np.abs(gap - correction)[scored].max()) or (
        bounds[1] - bounds[0] if bounds else float(np.ptp(found.judge))
    )
    unseen = (most / int(scored.sum())) ** 2
    misses = sqrt(float(share @ (gap - correction) ** 2) + unseen)
    leverage = (of_judge + doubtful * misses * of_people)[labelled]
    leverage = leverage if leverage.any() else of_people[labelled]
    made = t_estimate(mean, sqrt(variance + doubtful**2 * unseen), size, leverage)
    made = made._replace(se=sqrt(variance))
    if bounds is None or made.low is None or made.high is None:
        return made
    return made._replace(low=max(bounds[0], made.low), high=min(bounds[1], made.high))


def drawn_means(found: Labelled, draws: Values) -> Values:
    """The corrected mean under each draw of clusters (draws x clusters), for ranks."""
    scored = ~np.isnan(found.people) & (found.weights > 0)
    gap = np.where(scored, np.nan_to_num(found.people) - found.judge, 0.0)
    weights = np.where(scored, found.weights, 0.0)
    drawn = draws[:, found.clusters]
    size, labelled = drawn.sum(axis=1), drawn @ weights
    with np.errstate(divide="ignore", invalid="ignore"):
        base = drawn @ found.judge / size
        doubtful = 1 - drawn @ found.known.astype(np.float64) / size
        means = base + doubtful * (drawn @ (weights * gap) / labelled)
    # A draw without any scored answer says nothing: it counts as the estimate itself.
    return np.where(np.isnan(means), corrected_mean(found).mean, means)
