"""Every pattern of votes comes to what docs/review.md says, in any order; nothing that all call wrong is released."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.decisions.apply import WAITING, apply
from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.resolution import disputed, resolve
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import ROOT
from mihakk.machinery.text import as_seen
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.review import Review
from tests.annotation.judged import choice, review, verdict

ITEM = choice()
CAST = {
    "K": {"decision": "keep"},
    "A": {"decision": "fix", "corrections": {"gold": "1"}},
    "B": {"decision": "fix", "corrections": {"gold": "0,1"}},
    "D": {"decision": "discard", "reason": "wrong_gold"},
}
HEAD = "| votes | flagged item | sampled item that nothing flagged |"


def table() -> Iterator[tuple[list[str], str, str]]:
    lines = (ROOT / "docs" / "review.md").read_text(encoding="utf-8").splitlines()
    for line in lines[lines.index(HEAD) + 2 :]:
        if not line.startswith("|"):
            return
        votes, flagged, sampled = (cell.strip() for cell in line.strip("|").split("|"))
        for pattern in votes.split(", "):
            yield list(pattern.removeprefix("none")), flagged, sampled


def cast(votes: Sequence[str]) -> list[Review]:
    return [
        review(
            ITEM,
            f"annotator-{n}",
            CAST[vote]["decision"],
            **{k: v for k, v in CAST[vote].items() if k != "decision"},
        )
        for n, vote in enumerate(votes, start=1)
    ]


def outcome(votes: Sequence[Review], status: str, judged: ChoiceItem = ITEM) -> tuple[str, ChoiceItem | None]:
    """What a build makes of an item with these votes, and the item that it releases."""
    (item,), settled = fixed([judged], votes, 2)
    if settled:  # it passes checks and audit like any other, and nothing objects to it any more
        return f"corrected with {settled[item.id] and 'A'}", item
    told = resolve(votes, {judged.id: content_hash(judged)}, 2)
    done = apply([judged], [verdict(judged.id, status)], told, votes)
    if done.kept:
        return "released", done.kept[0]
    (gone,) = done.removed
    said = {"unresolved": "waits", "defective": "left out"}.get(gone.reason, "discarded")
    differs = gone.reason in WAITING and told and disputed(told[0], 2)
    return said + (", disputed" if differs else ""), None


def test_the_table_has_every_pattern_of_up_to_three_votes() -> None:
    named = [tuple(sorted(votes)) for votes, _, _ in table()]
    want = {()}
    for _ in range(3):
        want |= {tuple(sorted((*votes, one))) for votes in want for one in CAST}
    # Two texts A and B are alike: what holds for A holds for B.
    turned = {tuple(sorted({"A": "B", "B": "A"}.get(one, one) for one in votes)) for votes in named}
    assert len(named) == len(set(named))
    assert set(named) | turned == want


@pytest.mark.parametrize(("votes", "flagged", "sampled"), table())
def test_a_pattern_of_votes_comes_to_what_the_table_says(
    votes: list[str], flagged: str, sampled: str
) -> None:
    for order in permutations(cast(votes)):
        assert outcome(order, "flag")[0] == flagged
        assert outcome(order, "pass")[0] == sampled


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "gold": st.sampled_from(["0", "1", "0,1", "1 "]),
        "question": st.sampled_from(["سنة 1920؟", "سنة ١٩٢٠ ؟", "ما معناه؟", ITEM.question + "\u00a0"]),
        "options[1]": st.sampled_from(["يسرق", "يسـرق", "يعطي"]),
    },
).filter(bool)
VOTES = st.lists(
    st.one_of(
        st.just(("keep", {})), st.just(("discard", {})), FIELDS.map(lambda corrections: ("fix", corrections))
    ),
    max_size=4,
)


@given(votes=VOTES, status=st.sampled_from(["flag", "pass"]))
def test_what_all_call_wrong_is_never_released_as_it_was(
    votes: list[tuple[str, dict[str, str]]], status: str
) -> None:
    said = [
        review(ITEM, f"annotator-{n}", decision, **({"corrections": corrections} if corrections else {}))
        for n, (decision, corrections) in enumerate(votes)
    ]
    _, released = outcome(said, status)
    objections = [corrections for decision, corrections in votes if decision != "keep"]
    if len(objections) == len(votes) > 0:
        assert released is None or content_hash(released) != content_hash(ITEM)
    for field in ("gold", "question", "options[1]"):
        # A field that everybody corrects is never released as it stood.
        shown = {"gold": "0", "question": ITEM.question, "options[1]": ITEM.options[1]}[field]
        changed = [field in one and as_seen(one[field], "ar") != as_seen(shown, "ar") for one in objections]
        if objections and len(votes) == len(objections) and all(changed):
            assert released is None or content_of(released, field) != content_of(ITEM, field)
    for order in permutations(said):
        assert outcome(order, status) == outcome(said, status), "the order of votes never counts"


def content_of(item: ChoiceItem, field: str) -> object:
    return {"gold": item.gold, "question": item.question, "options[1]": item.options[1]}[field]


def test_an_agreed_gold_stands_though_one_also_rewords_the_question() -> None:
    votes = [
        review(ITEM, "annotator-1", "fix", corrections={"gold": "1"}),
        review(ITEM, "annotator-2", "fix", corrections={"gold": "1", "question": ITEM.question + " "}),
    ]
    _, released = outcome(votes, "pass")
    assert released is not None
    assert (released.gold, released.question) == ((1,), ITEM.question)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("قال مح\u0634\u064e\u0651د", "قال مح\u0634\u0651\u064eد"),
        ("کتابی", "كتابي"),
        ("می\u200cرود", "می\u200c\u200cرود"),
        ("قال الشاعر", "قال  الشاعر\u00a0"),
        ("قال الشاعر", "قال الشاعــر"),
        ("سنة ١٩٢٠", "سنة 1920"),
        ("روز \u06f3", "روز \u0663"),
    ],
)
def test_votes_are_compared_as_people_see_them(one: str, other: str) -> None:
    votes = [
        review(ITEM, f"p{n}", "fix", corrections={"question": text}) for n, text in enumerate((one, other))
    ]
    assert outcome(votes, "flag")[0] == "corrected with A"


@pytest.mark.parametrize(
    ("one", "other"), [("على", "علي"), ("كتب", "كُتب"), ("قال؟", "قال!"), ("قال ــــ", "قال")]
)
def test_what_a_reader_sees_as_different_differs(one: str, other: str) -> None:
    votes = [
        review(ITEM, f"p{n}", "fix", corrections={"question": text}) for n, text in enumerate((one, other))
    ]
    assert outcome(votes, "flag")[0] == "left out, disputed"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("مصطفى", "مصطفی", True), ("خانۀ ما", "خانهٔ ما", True), ("می\u200cرود", "میرود", False)],
)
def test_the_letters_of_a_language_are_its_own(one: str, other: str, alike: bool) -> None:
    assert (as_seen(one, "fa") == as_seen(other, "fa")) is alike


def test_the_text_that_is_applied_is_one_of_theirs_whoever_votes_first() -> None:
    votes = [
        review(ITEM, f"p{n}", "fix", corrections={"question": text})
        for n, text in enumerate(("سنة ١٩٢٠", "سنة  1920", "سنة ١٩٢٠"))
    ]
    assert {outcome(order, "pass")[1].question for order in permutations(votes)} == {"سنة ١٩٢٠"}


@pytest.mark.parametrize("corrections", [{"question": ITEM.question + "\u00a0"}, {"gold": "0"}])
def test_a_correction_in_nothing_that_shows_corrects_nothing(corrections: dict[str, str]) -> None:
    votes = [review(ITEM, f"p{n}", "fix", corrections=corrections) for n in range(2)]
    assert fixed([ITEM], votes, 2) == ([ITEM], {})
    assert outcome(votes, "pass") == ("waits", None)
