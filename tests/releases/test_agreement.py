"""The auditors' agreement is that of the scores themselves."""

from __future__ import annotations

import pytest

from mihakk.releases.auditor_agreement import ALL, auditor_agreement
from mihakk.schemas.audit import CRITERIA, Audit


def audit(item: str, auditor: str, *zeros: str) -> Audit:
    scores = {criterion: int(criterion not in zeros) for criterion in CRITERIA}
    return Audit(item=item, auditor=auditor, status="valid", scores=scores, reply_key=item)


def test_agreement_is_told_over_all_scores_and_per_criterion() -> None:
    audits = [
        audit("a", "first"),
        audit("a", "second", "question_clarity"),
        audit("b", "second", "question_clarity"),
        audit("b", "first", "question_clarity"),
    ]
    found = {one.criterion: one for one in auditor_agreement(audits)}
    assert list(found) == [ALL, *CRITERIA]
    assert (found[ALL].scores, found[ALL].observed) == (20, 0.95)
    clarity = found["question_clarity"]
    assert (clarity.scores, clarity.observed, clarity.kappa) == (2, 0.5, 0.0)
    # Three of four scores are 0: Gwet's chance agreement is 2 x 0.25 x 0.75.
    assert clarity.ac1 == pytest.approx((0.5 - 0.375) / 0.625)
    assert (found["text_readability"].ac1, found["text_readability"].kappa) == (1.0, None)


def test_only_items_with_two_usable_audits_count() -> None:
    unusable = Audit(item="a", auditor="second", status="invalid", reply_key="k", problem="no JSON")
    assert auditor_agreement([audit("a", "first"), unusable, audit("b", "first")]) == ()
