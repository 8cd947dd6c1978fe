"""Figures that only many answers together have: of pairs, positions, wrong picks and repeated tries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from mihakk.evaluation.statistics.cluster import Codes, Values, clustered
from mihakk.machinery.stats import chi_square_tail

VERSION: Final = "1"
"""Raised with every change after which the same scores give another figure."""
FLAG: Final = 3.0
"""Standard errors above its due from which a place is flagged."""


@dataclass(frozen=True)
class Scores:
    """All scores of one metric that one system has, by one method, in one data set."""

    values: Values
    clusters: Codes
    items: Sequence[str]
    pairs: Sequence[str]
    """What joins the two orders of a question, wording and repeat included; empty where there is none."""
    orders: Sequence[int]
    details: Sequence[Mapping[str, Any]]

    def by_pair(self) -> list[tuple[int, int]]:
        """Places of the two orders of each question asked in both."""
        found: dict[str, dict[int, int]] = {}
        for place, (pair, order) in enumerate(zip(self.pairs, self.orders, strict=True)):
            if pair:
                found.setdefault(pair, {})[order] = place
        return [(both[0], both[1]) for both in found.values() if both.keys() == {0, 1}]


class Measured(NamedTuple):
    """A figure of many answers, with its 95 % interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    units: int = 0
    """Answers, pairs or items it was made of."""
    detail: Mapping[str, Any] = {}


def mean_of(
    values: Sequence[float] | Values,
    clusters: Codes,
    detail: Mapping[str, Any] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Measured:
    """The mean of units, none outside the bounds, with its clustered interval."""
    found = clustered(np.asarray(values, dtype=float), clusters, bounds=bounds)
    return Measured(found.mean, found.low, found.high, found.items, {"se": found.se, **(detail or {})})


def chance_adjusted(scores: Scores) -> Measured | None:
    """(a - c) / (1 - c), c being the share of right options: 0 for guessing, 1 for all right."""
    chance = float(np.mean([len(one["gold"]) / one["options"] for one in scores.details]))
    if chance >= 1:
        return None
    adjusted = (scores.values - chance) / (1 - chance)
    return mean_of(adjusted, scores.clusters, {"chance": chance}, bounds=(-chance / (1 - chance), 1.0))


def consistency(scores: Scores) -> Measured | None:
    """Share of questions where the same option, by its words, was chosen in both orders, right or wrong.

    A question that was not read in one of the orders is not consistent.
    """
    pairs = scores.by_pair()
    if not pairs:
        return None
    options = [one.get("option") for one in scores.details]
    same = [options[one] is not None and options[one] == options[other] for one, other in pairs]
    return mean_of(np.array(same, dtype=float), scores.clusters[[one for one, _ in pairs]])


def order_gap(scores: Scores) -> Measured | None:
    """Accuracy with the right option in the earlier of its two places less that in the later, by question.

    Signed; the interval is that of the paired difference. Where there are two options: first less last.
    """
    gaps, clusters = [], []
    for one, other in scores.by_pair():
        first, second = scores.details[one]["gold"][0], scores.details[other]["gold"][0]
        if first == second:
            continue
        sign = 1.0 if first < second else -1.0
        gaps.append(sign * (scores.values[one] - scores.values[other]))
        clusters.append(scores.clusters[one])
    return mean_of(gaps, np.array(clusters), bounds=(-1.0, 1.0)) if gaps else None


def pair_accuracy(scores: Scores) -> Measured | None:
    """Share of questions answered right in both orders, of those asked in both."""
    pairs = np.array(scores.by_pair())
    if not pairs.size:
        return None
    return mean_of(np.minimum(*scores.values[pairs.T]), scores.clusters[pairs[:, 0]])


def pass_at_k(tries: int, solved: int, k: int) -> float:
    """Unbiased estimate of the chance that one of k tries solves a problem: 1 - C(n-c, k) / C(n, k).

    Raises:
        ValueError: There are fewer than k tries, or more solved than tried.
    """
    if not 0 <= solved <= tries or not 1 <= k <= tries:
        raise ValueError(f"pass@{k} of {solved} solved in {tries} tries")
    return 1 - comb(tries - solved, k) / comb(tries, k)


def pass_at_1(scores: Scores) -> Measured | None:
    """Mean over problems of the share of tries that solve one (M. Chen et al., 2021)."""
    return _passed(scores, 1)


def pass_at_10(scores: Scores) -> Measured | None:
    """Mean over problems of the unbiased estimate for ten tries; None where one was tried less often."""
    return _passed(scores, 10)


def _passed(scores: Scores, k: int) -> Measured | None:
    tries: dict[str, list[int]] = {}
    for place, item in enumerate(scores.items):
        tries.setdefault(item, []).append(place)
    if min(map(len, tries.values()), default=0) < k:
        return None
    values = [pass_at_k(len(places), int(scores.values[places].sum()), k) for places in tries.values()]
    return mean_of(values, np.array([scores.clusters[places[0]] for places in tries.values()]))


def position_preference(scores: Scores) -> Measured | None:
    """The largest share of picks that one place takes beyond its due, with a G-test over all places.

    Its due is what a system without preferences gives a place: the share of right options that stand there,
    as often as the system is right, and an equal part of its wrong picks; 1/k where right options stand at
    all k places alike. Of the questions with the number of options that most have, without unread replies.
    The detail has the picks of each place, `p`, and `flagged` where one takes over three standard errors
    more than its due.
    """
    sizes = [one["options"] for one in scores.details]
    size = max(sorted(set(sizes)), key=sizes.count)
    read = [one for one in scores.details if one["options"] == size and one["pick"] is not None]
    if not read or size < 2:
        return None
    counts = np.bincount([one["pick"] for one in read], minlength=size)
    golds = np.bincount([one["gold"][0] for one in read], minlength=size) / len(read)
    right = sum(one["pick"] == one["gold"][0] for one in read) / len(read)
    due = right * golds + (1 - right) * (1 - golds) / (size - 1)
    shares = counts / len(read)
    excess = shares - due
    place = int(np.argmax(excess))
    taken = counts > 0
    g = 2 * float(counts[taken] @ np.log(shares[taken] / due[taken])) if due.all() else 0.0
    p = chi_square_tail(g, size - 1)
    is_flagged = bool(excess[place] > FLAG * sqrt(due[place] * (1 - due[place]) / len(read)))
    detail = {"picks": [int(one) for one in counts], "place": place, "p": p, "flagged": is_flagged}
    return Measured(float(excess[place]), units=len(read), detail=detail)


def wrong_picks(scores: Scores) -> Measured | None:
    """Share of wrong picks on the commonest kind of wrong option, and on each (GhazalBench, figure 2).

    Only of questions that say where their options come from.
    """
    kinds = Counter(one["kind"] for one in scores.details if one.get("kind"))
    if not kinds:
        return None
    total = kinds.total()
    shares = {kind: count / total for kind, count in sorted(kinds.items())}
    return Measured(max(shares.values()), units=total, detail={"shares": shares})


FIGURES: Final[Mapping[str, tuple[Callable[[Scores], Measured | None], ...]]] = {
    "accuracy": (chance_adjusted, consistency, order_gap, pair_accuracy, position_preference, wrong_picks),
    "solved": (pass_at_1, pass_at_10),
}
"""Metric to the figures that are made of it, each named as its
function, which gives None where it does not apply."""
