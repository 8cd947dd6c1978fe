"""What the lead takes back stays in the store, counts nowhere, and opens its items again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import add, decision_id, decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import void
from mihakk.annotation.decisions.words import words
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.review_report import review_report
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.review import Review, Voided
from tests.annotation.judged import NOON, choice, review

ITEMS = [choice(n) for n in range(4)]


@pytest.fixture
def stores(tmp_path) -> Stores:
    kept = Stores.under(str(tmp_path / "bench"))
    add(
        kept.decisions,
        Review,
        [review(item, who) for item in ITEMS for who in ("annotator-01", "annotator-02")],
    )
    return kept


def outcomes(stores: Stores) -> set[str]:
    hashes = {item.id: content_hash(item) for item in ITEMS}
    return {row.outcome for row in resolve(decisions(stores), hashes)}


def test_a_voided_person_counts_nowhere_and_what_they_say_later_does(stores):
    assert outcomes(stores) == {"keep"}
    assert len(void(stores, "annotator-02", "took part drunk")) == 4
    assert outcomes(stores) == {"unresolved"}
    assert {row.reason for row in resolutions(stores, ReviewConfig()).values()} == {"1 of 2 decisions"}
    report = review_report(stores, ITEMS, [], seed=0)
    assert ([row.annotator for row in report.annotators], report.agreement[0].items) == (["annotator-01"], 0)
    assert len(stored(stores.decisions, Review)) == 8, "nothing is deleted"
    add(stores.decisions, Review, [review(ITEMS[0], "annotator-02", "keep", minute=9)])
    assert outcomes(stores) == {"keep", "unresolved"}


def test_one_decision_is_voided_by_its_id_and_only_once(stores):
    wrong = decisions(stores)[3]
    (row,) = void(stores, decision_id(wrong), "slipped")
    assert (row.decision, row.by, row.why) == (decision_id(wrong), "lead", "")
    assert [(one.kind, one.about, one.text) for one in words(stores)] == [("voided", row.decision, "slipped")]
    assert wrong not in decisions(stores)
    assert len(decisions(stores)) == 7
    with pytest.raises(UsageError, match="review export"):
        void(stores, decision_id(wrong), "again")


def test_a_person_is_found_by_address_and_labels_are_voided_with_decisions(stores):
    names = pseudonyms(stores.people, {4: "layla@example.org", 9: "omar@example.org"})
    told = {"content_hash": "c", "template": "distractor_rating", "name": "plausibility", "value": "2"}
    add(
        stores.labels,
        Label,
        [
            Label(subject=f"i#{n}", annotator=who, decided_at=NOON, **told)
            for n, who in enumerate(names.values())
        ],
    )
    assert len(void(stores, "Layla@example.org", "left")) == 5
    assert [row.annotator for row in labels(stores)] == ["annotator-02"]


@pytest.mark.parametrize(
    ("which", "why", "wrong"),
    [
        ("annotator-07", "gone", "neither a person"),
        ("nobody@example.org", "gone", "neither a person"),
        ("annotator-01", "  ", "--why"),
    ],
)
def test_what_cannot_be_voided_says_why(stores, which, why, wrong):
    with pytest.raises(UsageError, match=wrong):
        void(stores, which, why)


def test_the_id_of_a_decision_survives_the_store_and_tells_decisions_apart(stores):
    before = [review(item, "annotator-01") for item in ITEMS]
    assert [decision_id(row) for row in decisions(stores)[::2]] == [*map(decision_id, before)]
    other = before[0].model_copy(update={"decided_at": NOON + timedelta(seconds=1)})
    assert decision_id(other) != decision_id(before[0])
    same = before[0].model_copy(update={"decided_at": datetime.fromtimestamp(NOON.timestamp(), UTC)})
    assert decision_id(same) == decision_id(before[0])
    assert not stored(stores.voided, Voided)
