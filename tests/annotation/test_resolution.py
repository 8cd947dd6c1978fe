"""What several decisions come to, and what they do to the items."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.apply import apply
from annotation.corrections import correct
from annotation.decisions import add, append
from annotation.fixes import fixed
from annotation.pull import Stores
from annotation.resolution import fix_key, resolve
from annotation.review import resolutions
from annotation.sampling import Entry, Queued
from mihakk.errors import UsageError
from mihakk.ids import content_hash
from schemas.benchmark import ReviewConfig
from schemas.review import Resolution
from tests.annotation.judged import answer, choice, review, verdict

ITEM = choice()
HASHES = {ITEM.id: content_hash(ITEM)}
FIX = {"corrections": {"gold": "1"}}


def settle(*reviews, overlap=2, adjudicators=()) -> Resolution:
    (resolution,) = resolve(reviews, HASHES, overlap, adjudicators=adjudicators)
    return resolution


@pytest.mark.parametrize(
    ("votes", "outcome", "by"),
    [
        (["keep"], "unresolved", ""),
        (["keep", "keep"], "keep", "agreement"),
        (["keep", "discard"], "unresolved", ""),
        (["keep", "discard", "keep"], "keep", "majority"),
        (["keep", "discard", "fix"], "unresolved", ""),
        (["keep", "discard", "keep", "discard"], "unresolved", ""),
        (["discard", "keep", "discard", "discard"], "discard", "majority"),
        (["fix", "fix"], "fix", "agreement"),
    ],
)
def test_rules(votes, outcome, by):
    told = settle(
        *(review(ITEM, f"p{n}", vote, **(FIX if vote == "fix" else {})) for n, vote in enumerate(votes))
    )
    assert (told.outcome, told.by, told.votes) == (outcome, by, len(votes))


def test_one_vote_is_enough_where_overlap_is_one():
    assert settle(review(ITEM, "p1"), overlap=1).by == "single"


def test_two_fixes_agree_only_on_the_same_content():
    other = {"corrections": {"question": "ما المقصود؟"}}
    assert (
        settle(review(ITEM, "p1", "fix", **FIX), review(ITEM, "p2", "fix", **other)).outcome == "unresolved"
    )
    told = settle(
        review(ITEM, "p1", "fix", **FIX), review(ITEM, "p2", "fix", **other), review(ITEM, "p3", "fix", **FIX)
    )
    assert (told.outcome, told.by, told.reason) == ("fix", "majority", fix_key(FIX["corrections"]))


def test_discards_agree_whatever_their_reason_and_the_commonest_reason_is_given():
    told = settle(
        *(
            review(ITEM, f"p{n}", "discard", reason=r)
            for n, r in enumerate(["other", "ambiguous", "ambiguous"])
        )
    )
    assert (told.outcome, told.reason) == ("discard", "ambiguous")


def test_an_adjudicator_settles_it():
    votes = [review(ITEM, "p1"), review(ITEM, "p2"), review(ITEM, "chief", "discard", reason="wrong_gold")]
    told = settle(*votes, adjudicators={"chief"})
    assert (told.outcome, told.by, told.reason) == ("discard", "adjudicator", "wrong_gold")


def test_the_last_in_the_store_is_the_latest_whatever_its_clock_says():
    told = settle(
        review(ITEM, "p1", "discard", minute=90),
        review(ITEM, "p1", "keep", minute=0),
        review(ITEM, "p2", "keep"),
    )
    assert (told.outcome, told.votes) == ("keep", 2)


def test_a_decision_binds_only_while_the_content_is_what_the_person_saw():
    changed = choice(question="سؤال آخر")
    (told,) = resolve([review(ITEM, "p1"), review(ITEM, "p2")], {ITEM.id: content_hash(changed)})
    assert (told.outcome, told.reason) == ("none", "content changed after 2 decisions")
    (back,) = resolve([review(ITEM, "p1"), review(ITEM, "p2")], HASHES)
    assert back.outcome == "keep", "the old content is back, and so are its decisions"


def test_items_nobody_asked_about_are_left_out():
    assert resolve([review(ITEM, "p1")], {}) == []


@settings(deadline=None)
@given(st.permutations(["keep", "keep", "discard"]))
def test_order_of_people_does_not_matter(votes):
    assert settle(*(review(ITEM, f"p{n}", vote) for n, vote in enumerate(votes))).outcome == "keep"


def reviewed(items, verdicts, reviews, **options):
    hashes = {item.id: content_hash(item) for item in items}
    return apply(items, verdicts, resolve(reviews, hashes), reviews, **options)


def test_every_item_is_kept_or_removed_with_a_reason():
    passed, kept, fixed, dropped, waiting, blocked = (choice(n) for n in range(6))
    items = [passed, kept, fixed, dropped, waiting, blocked]
    status = ["pass", "flag", "flag", "flag", "flag", "block"]
    reviews = [
        review(item, who, decision, **more)
        for who in ("p1", "p2")
        for item, decision, more in [
            (kept, "keep", {}),
            (fixed, "fix", FIX),
            (dropped, "discard", {"reason": "wrong_gold", "notes": "الجواب خاطئ"}),
            (blocked, "keep", {}),
        ]
    ]
    result = reviewed(items, [verdict(i.id, s) for i, s in zip(items, status, strict=True)], reviews)
    assert [item.id for item in result.kept] == [passed.id, kept.id, fixed.id]
    assert result.kept[2].gold == (1,)
    assert result.recheck == (fixed.id,)
    assert [(gone.record, gone.reason) for gone in result.removed] == [
        (dropped.id, "discarded_wrong_gold"),
        (waiting.id, "unresolved"),
        (blocked.id, "blocked"),
    ]
    assert "الجواب خاطئ" in result.removed[0].detail
    assert "CH07" in result.removed[1].detail
    assert result.removed[0].body == dropped.model_dump_json()
    assert result.waiting == (waiting.id,)


def test_a_corrected_item_goes_through_with_its_new_verdict_or_comes_back_to_people():
    reviews = [review(ITEM, who, "fix", **FIX) for who in ("p1", "p2")]
    corrected = reviewed([ITEM], [verdict(ITEM.id)], reviews).kept
    assert reviewed(corrected, [verdict(ITEM.id, "pass")], reviews).kept == corrected
    again = reviewed(corrected, [verdict(ITEM.id, "flag")], reviews)
    assert [gone.reason for gone in again.removed] == ["unresolved"]
    assert "content changed after 2 decisions" in again.removed[0].detail


def test_people_can_remove_an_item_nothing_flagged():
    reviews = [review(ITEM, who, "discard", reason="sensitive") for who in ("p1", "p2")]
    result = reviewed([ITEM], [verdict(ITEM.id, "pass")], reviews)
    assert [gone.reason for gone in result.removed] == ["discarded_sensitive"]


def test_a_flagged_item_stays_out_until_people_agree():
    result = reviewed(
        [ITEM], [verdict(ITEM.id)], [review(ITEM, "p1"), review(ITEM, "p2", "discard", reason="other")]
    )
    assert result.kept == []
    assert "1 discard, 1 keep" in result.removed[0].detail


def test_an_item_without_a_verdict_is_not_waved_through():
    assert reviewed([answer()], [], []).removed[0].reason == "unresolved"


def test_waiting_for_people_is_an_error_that_says_what_to_do():
    with pytest.raises(UsageError, match="mihakk review pull"):
        reviewed([ITEM], [verdict(ITEM.id)], [], unresolved="wait")


def test_a_correction_of_a_corrected_item_is_applied_too_and_going_round_ends():
    other = choice(9)
    once = correct(ITEM, {"gold": "1"})
    further = {"corrections": {"question": "ما المقصود؟"}}
    reviews = [review(ITEM, who, "fix", **FIX) for who in ("p1", "p2")]
    assert fixed([ITEM, other], reviews, 2)[0] == [once, other]
    reviews += [review(once, who, "fix", **further) for who in ("p1", "p2")]
    done, settled = fixed([ITEM, other], reviews, 2)
    assert (done[0].gold, done[0].question) == ((1,), "ما المقصود؟")
    assert settled == {ITEM.id: fix_key(further["corrections"])}
    back = [review(once, who, "fix", corrections={"gold": "0"}) for who in ("p1", "p2")]
    assert fixed([ITEM], [*reviews[:2], *back], 2)[0] == [ITEM]


def test_an_adjudicators_correction_wins_over_split_votes():
    reviews = [review(ITEM, "p1"), review(ITEM, "p2", "discard", reason="other")]
    reviews.append(review(ITEM, "judge", "fix", **FIX))
    assert fixed([ITEM], reviews, 2)[0] == [ITEM]
    assert fixed([ITEM], reviews, 2, ["judge"])[0] == [correct(ITEM, {"gold": "1"})]


def test_the_standing_of_items_leaves_out_attention_checks(tmp_path):
    stores, config = Stores.under(str(tmp_path)), ReviewConfig(overlap=2)
    check, open_one, split = choice(1), choice(2), choice(3)
    add(stores.queued, Queued, [Entry(check, "attention").queued()])
    votes = [review(check, "p1"), review(open_one, "p1"), review(split, "p1")]
    append(stores.decisions, [*votes, review(split, "p2", "discard", reason="other")])
    standing = {item: told.votes for (item, _), told in resolutions(stores, config).items()}
    assert standing == {open_one.id: 1, split.id: 2}
    judged = ReviewConfig(overlap=2, adjudicators=("p2",))
    assert resolutions(stores, judged)[split.id, content_hash(split)].by == "adjudicator"
