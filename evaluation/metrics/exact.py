"""Exact match."""

from __future__ import annotations

from mihakk.evaluation.metrics._recall import gold_key
from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.machinery.text import key


@metric(title="Exact match", kinds=("answer",), methods=("written",))
def exact(case: Case) -> Scored:
    """1 where the answer's folded letters are those of the reference or another accepted answer."""
    question = case.question
    given = key(case.reading.text, question.language)
    golds = [gold_key(one, question.language) for one in (question.answer, *question.accepted)]
    return Scored(float(bool(given) and given in golds), {"format_ok": case.reading.format_ok})
