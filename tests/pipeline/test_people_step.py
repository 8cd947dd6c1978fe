"""What people decided reaches the release's facts, its gates and the report."""

from __future__ import annotations

import pytest

from annotation.decisions.store import add
from annotation.decisions.stores import Stores
from annotation.statistics.review_report import review_report
from annotation.statistics.sampling import Queued, QueueEntry
from pipeline.people import agreement_facts, miss_rate_fact
from schemas.review import Review
from tests.annotation.judged import choice, review


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path))


def judged(stores: Stores, count: int = 12):
    """Twelve sampled items, two people; the last is discarded by both, and they differ on the first."""
    items = [choice(n) for n in range(count)]
    add(stores.queued, Queued, [QueueEntry(item, "sample").queued() for item in items])
    for who in ("annotator-01", "annotator-02"):
        add(
            stores.decisions,
            Review,
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
    facts = {fact.label: fact for fact in agreement_facts(state)}
    decision, clarity = facts["decision"], facts["question_clarity"]
    assert (decision.label, decision.items, decision.annotators) == ("decision", 12, 2)
    assert decision.coefficient == "Krippendorff's alpha, nominal"
    assert decision.low <= decision.value < 1
    assert decision.observed == pytest.approx(11 / 12, abs=1e-6)
    assert decision.value < decision.ac1 < 1
    assert (clarity.value, clarity.observed, clarity.ac1) == (1.0, 1.0, 1.0)
    assert (facts["spelling_accuracy"].value, facts["spelling_accuracy"].ac1) == (None, 1.0), "all said met"
    miss = miss_rate_fact(state)
    assert (miss.sampled, miss.defective, miss.disputed) == (12, 1, 1), "a dispute leaves nothing out"
    assert 2 / 12 < miss.upper_bound < 0.5


def test_before_anybody_decided_there_are_no_facts(stores):
    state = review_report(stores, [choice()], [], seed=1)
    assert (agreement_facts(state), miss_rate_fact(state)) == ((), None)
