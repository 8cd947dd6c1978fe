"""What several decisions come to, and what they do to the items."""

from __future__ import annotations

import pytest

from mihakk.annotation.decisions.apply import apply
from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.resolution import fix_key, resolve
from mihakk.annotation.decisions.store import add
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.screens.corrections import correct
from mihakk.annotation.statistics.sampling import Queued, QueueEntry
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.review import Resolution, Review
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
        (["keep", "keep"], "keep", "agreement"),
        (["keep", "discard", "keep"], "keep", "majority"),
        (["keep", "discard", "fix"], "defective", "majority"),
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
    assert settle(review(ITEM, "p1", "fix", **FIX), review(ITEM, "p2", "fix", **other)).outcome == "defective"
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
    assert [item.id for item in result.kept] == [passed.id, kept.id]
    assert [(gone.record, gone.reason) for gone in result.removed] == [
        (fixed.id, "unresolved"),
        (dropped.id, "discarded_wrong_gold"),
        (waiting.id, "unresolved"),
        (blocked.id, "blocked"),
    ]
    assert result.removed[1].detail == "agreement of 2; flagged by CH07", "no word of who wrote notes"
    assert "CH07" in result.removed[2].detail
    assert result.removed[1].body == dropped.model_dump_json()
    assert result.waiting == (fixed.id, waiting.id), "a correction counts once the checks have applied it"


def test_a_corrected_item_goes_through_with_its_new_verdict_or_comes_back_to_people():
    reviews = [review(ITEM, who, "fix", **FIX) for who in ("p1", "p2")]
    corrected, _ = fixed([ITEM], reviews, 2)
    assert corrected[0].gold == (1,)
    assert reviewed(corrected, [verdict(ITEM.id, "pass")], reviews).kept == corrected
    again = reviewed(corrected, [verdict(ITEM.id, "flag")], reviews)
    assert [gone.reason for gone in again.removed] == ["unresolved"]
    assert "content changed after 2 decisions" in again.removed[0].detail


def both_orders(number=0):
    """One question in both orders: three options, the first right."""
    texts = ("يأخذ ما ليس له", "يعمل في الحقل كل يوم", "يحب السفر البعيد")
    one = choice(number, options=texts, gold=(0,), pair_id=f"pair-{number}")
    other = choice(
        number,
        id=f"{one.id}-b",
        options=(texts[1], texts[2], texts[0]),
        gold=(2,),
        pair_id=one.pair_id,
        order=1,
    )
    return one, other


@pytest.mark.parametrize("removed", ["unresolved", "discarded_wrong_gold", "blocked"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_pair_is_kept_or_removed_whole(removed, place):
    whole, broken = both_orders(0), both_orders(1)
    gone, left = broken[place], broken[1 - place]
    status = {"unresolved": "flag", "blocked": "block"}.get(removed, "pass")
    votes = [
        review(gone, who, "discard", reason="wrong_gold") for who in ("p1", "p2") if removed.startswith("d")
    ]
    items = [*whole, *broken]
    verdicts = [verdict(item.id, status if item is gone else "pass") for item in items]
    result = reviewed(items, verdicts, votes)
    assert result.kept == list(whole)
    assert {row.record: row.reason for row in result.removed} == {gone.id: removed, left.id: "other_order"}
    assert gone.id in next(row.detail for row in result.removed if row.record == left.id)
    assert result.waiting == ((gone.id,) if removed == "unresolved" else ()), (
        "people are asked about one alone"
    )


def test_what_corrects_one_order_corrects_the_other():
    one, other = both_orders()
    said = {"options[1]": "يعمل كثيرا", "gold": "2", "question": "ما المراد؟"}
    for fixed_one, left in ((one, other), (other, one)):
        votes = [review(fixed_one, who, "fix", corrections=said) for who in ("p1", "p2")]
        done, settled = fixed([one, other], votes, 2)
        assert set(settled) == {one.id, other.id}
        assert {item.question for item in done} == {"ما المراد؟"}
        assert sorted(done[0].options) == sorted(done[1].options)
        assert len({item.options[item.gold[0]] for item in done}) == 1
        assert len({item.options.index("يعمل كثيرا") for item in done}) == 2, "the orders still differ"
        gone = [*votes, *(review(left, who, "discard", reason="other") for who in ("p1", "p2"))]
        assert set(fixed([one, other], gone, 2)[1]) == {fixed_one.id}


def test_a_correction_that_came_by_its_other_order_can_be_corrected_again():
    one, other = both_orders()
    votes = [review(one, who, "fix", corrections={"question": "ما المراد؟"}) for who in ("p1", "p2")]
    carried = fixed([one, other], votes, 2)[0][1]
    votes += [
        review(carried, who, "fix", corrections={"question": "ما المقصود هنا؟"}) for who in ("p1", "p2")
    ]
    assert [item.question for item in fixed([one, other], votes, 2)[0]] == ["ما المراد؟", "ما المقصود هنا؟"]


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
    add(stores.queued, Queued, [QueueEntry(check, "attention").queued()])
    votes = [review(check, "p1"), review(open_one, "p1"), review(split, "p1")]
    add(stores.decisions, Review, [*votes, review(split, "p2", "discard", reason="other")])
    standing = {item: told.votes for (item, _), told in resolutions(stores, config).items()}
    assert standing == {open_one.id: 1, split.id: 2}
    judged = ReviewConfig(overlap=2, adjudicators=("p2",))
    assert resolutions(stores, judged)[split.id, content_hash(split)].by == "adjudicator"
