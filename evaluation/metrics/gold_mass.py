"""Probability that falls on the right options."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf

from mihakk.evaluation.metrics.accuracy import by_characters
from mihakk.evaluation.metrics.exact_set import several
from mihakk.evaluation.metrics.metric import Case, Scored, metric


@metric(title="Mass on gold", kinds=("choice",), methods=("likelihood", "label_logprob"), when=several)
def gold_mass(case: Case) -> Scored:
    """Sum over the right options of the softmax of the labels' likelihoods (QIMMA, equations 3 and 4)."""
    return _mass(case, case.likelihoods)


@metric(title="Mass on gold, by characters", kinds=("choice",), methods=("likelihood",), when=several)
def gold_mass_by_characters(case: Case) -> Scored:
    """`gold_mass` with each likelihood first divided by its label's length in code points (QIMMA's code)."""
    return _mass(case, by_characters(case))


def _mass(case: Case, likelihoods: Sequence[float]) -> Scored:
    best = max(likelihoods, default=-inf)
    if best == -inf or len(likelihoods) != len(case.question.labels):
        return Scored(0.0, {})
    odds = [exp(one - best) for one in likelihoods]
    return Scored(sum(odds[place] for place in case.question.gold) / sum(odds), {})
