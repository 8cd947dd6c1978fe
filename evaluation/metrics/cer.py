"""Character error rate."""

from __future__ import annotations

from evaluation.metrics._recall import gold_key, nearest
from evaluation.metrics.metric import Case, Scored, metric
from mihakk.text import key


@metric(title="CER", kinds=("answer",), methods=("written",), higher_is_better=False)
def cer(case: Case) -> Scored:
    """Edits between the folded letters of answer and reference, a letter of the reference, at most 1."""
    question = case.question
    given = key(case.reading.text, question.language)
    found = nearest(
        given, (gold_key(one, question.language) for one in (question.answer, *question.accepted))
    )
    return Scored(min(1.0, found.cer), {"edits": found.edits})
