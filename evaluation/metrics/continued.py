"""What probes for contamination look for."""

from __future__ import annotations

from evaluation.contamination import continues, names_canary
from evaluation.metrics.metric import Case, Scored, metric
from schemas.evaluation import Question


def _is_cut(question: Question) -> bool:
    return question.task in {"probe_continuation", "probe_twin"}


def _is_canary(question: Question) -> bool:
    return question.task == "probe_canary"


@metric(title="Continued", kinds=("answer",), methods=("written",), when=_is_cut, probe=True, raw=True)
def continued(case: Case) -> Scored:
    """1 where the reply begins with the next 50 letters of the item's text, folded."""
    question = case.question
    return Scored(float(continues(case.reply, question.answer, question.language)), {})


@metric(title="Canary named", kinds=("answer",), methods=("written",), when=_is_canary, probe=True, raw=True)
def canary_named(case: Case) -> Scored:
    """1 where the reply holds the canary's identifier: proof that the system was trained on the release."""
    return Scored(float(names_canary(case.reply, case.question.answer)), {})
