"""Problems solved by at least one of k tries."""

from __future__ import annotations

from math import comb

import numpy as np

from evaluation.metrics.figure import Measured, Scores, figure, mean_of


def pass_at_k(tries: int, solved: int, k: int) -> float:
    """Unbiased estimate of the chance that one of k tries solves a problem: 1 - C(n-c, k) / C(n, k).

    Raises:
        ValueError: There are fewer than k tries, or more solved than tried.
    """
    if not 0 <= solved <= tries or not 1 <= k <= tries:
        raise ValueError(f"pass@{k} of {solved} solved in {tries} tries")
    return 1 - comb(tries - solved, k) / comb(tries, k)


@figure(title="pass@1", of=("solved",))
def pass_at_1(scores: Scores) -> Measured | None:
    """Mean over problems of the share of tries that solve one (M. Chen et al., 2021)."""
    return _passed(scores, 1)


@figure(title="pass@10", of=("solved",))
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
