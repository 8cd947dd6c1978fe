"""Character error rate."""

from __future__ import annotations

from mihakk.evaluation.metrics._recall import nearest
from mihakk.evaluation.metrics.metric import Case, Scored, metric


@metric(title="CER", kinds=("answer",), methods=("written",), higher_is_better=False)
def cer(case: Case) -> Scored:
    """Edits between the folded letters of answer and reference, a letter of the reference, at most 1."""
    _, found = nearest(case)
    return Scored(min(1.0, found.cer), {"edits": found.edits})
