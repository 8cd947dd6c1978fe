"""What people decided reaches the release's facts, its gates and the report."""

from __future__ import annotations

import pytest

from annotation.decisions import add, append
from annotation.pull import Stores
from annotation.report import review_report
from annotation.sampling import Entry, Queued
from flows.steps.people import agreement_facts, miss_rate_fact
from tests.annotation.judged import choice, review


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path))


def judged(stores: Stores, count: int = 12):
    """Twelve sampled items, two people; the last is discarded by both, and they differ on the first."""
    items = [choice(n) for n in range(count)]
    add(stores.queued, Queued, [Entry(item, "sample").queued() for item in items])
    for who in ("annotator-01", "annotator-02"):
        append(
            stores.decisions,
            [
                review(
                    item,
                    who,
                    "discard" if n == count - 1 or (n == 0 and who == "annotator-02") else "keep",
                    failed=("question_clarity",) if n == count - 1 else (),
                )
                for n, item in enumerate(items)
            ],
        )
    return review_report(stores, items, [], seed=1)


def test_agreement_and_misses_become_facts(stores):
    state = judged(stores)
    decision, clarity = agreement_facts(state)
    assert (decision.label, decision.items, decision.annotators) == ("decision", 12, 2)
    assert decision.coefficient == "Krippendorff's alpha, nominal"
    assert decision.low <= decision.value < 1
    assert (clarity.label, clarity.value) == ("question_clarity", 1.0)
    miss = miss_rate_fact(state)
    assert (miss.sampled, miss.defective) == (11, 1), "the item they dispute is not settled"
    assert 1 / 11 < miss.upper_bound < 0.5


def test_before_anybody_decided_there_are_no_facts(stores):
    state = review_report(stores, [choice()], [], seed=1)
    assert (agreement_facts(state), miss_rate_fact(state)) == ((), None)
