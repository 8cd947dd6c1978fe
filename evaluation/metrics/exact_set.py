"""Accuracy where several options are right."""

from __future__ import annotations

from mihakk.evaluation.metrics.accuracy import by_characters
from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.schemas.evaluation import Question


def several(question: Question) -> bool:
    """Whether several options are to be chosen."""
    return question.multiple


@metric(title="Exact set", kinds=("choice",), when=several)
def exact_set(case: Case) -> Scored:
    """1 where exactly the right options were chosen; by likelihood, the most likely, as many as are right."""
    question, picks = case.question, case.reading.picks
    return Scored(float(bool(picks) and picks == question.gold), {"picks": picks, "gold": question.gold})


@metric(title="Exact set, by characters", kinds=("choice",), methods=("likelihood",), when=several)
def exact_set_by_characters(case: Case) -> Scored:
    """Exact set where each label's likelihood is divided by its length in code points (QIMMA's code)."""
    question, shares = case.question, by_characters(case)
    order = sorted(range(len(shares)), key=lambda place: shares[place])
    picks = tuple(sorted(order[len(order) - len(question.gold) :]))
    return Scored(float(picks == question.gold), {"picks": picks, "gold": question.gold})
