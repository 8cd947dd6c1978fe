"""Continuation and its two choices: which couplets are asked for, and what wrong lines may be."""

from __future__ import annotations

from collections import defaultdict

import pytest
from rapidfuzz import fuzz

from mihakk.generators.parts.distractors import NEAR_DUPLICATE
from mihakk.machinery.text import key
from mihakk.schemas.item import AnswerItem, ChoiceItem
from mihakk.schemas.poem import Poem
from tests.generators.generated import generate
from tests.generators.records import make_poem

GHAZAL = [
    ("یاری اندر کس نمی بینیم یاران را چه شد", "دوستی کی آخر آمد دوستداران را چه شد"),
    ("آب حیوان تیره گون شد خضر فرخ پی کجاست", "خون چکید از شاخ گل باد بهاران را چه شد"),
    ("کس نمی گوید که یاری داشت حق دوستی", "حق شناسان را چه حال افتاد یاران را چه شد"),
]
OTHER = [
    ("سال ها دل طلب جام جم از ما می کرد", "وان چه خود داشت ز بیگانه تمنا می کرد"),
    ("گوهری کز صدف کون و مکان بیرون است", "طلب از گمشدگان لب دریا می کرد"),
]


def test_completion_asks_for_the_second_hemistich() -> None:
    poem = make_poem("p", GHAZAL)
    items = generate([poem], "continuation").items
    assert [item.answer for item in items if isinstance(item, AnswerItem)] == [second for _, second in GHAZAL]
    assert items[0].question.splitlines()[1] == GHAZAL[0][0]
    assert items[0].origin.records == ("p:0",)


def test_an_opening_that_goes_on_in_two_ways_is_left_out() -> None:
    again = make_poem("q", [(GHAZAL[0][0], OTHER[0][1])])
    made = generate([make_poem("p", GHAZAL), again], "continuation")
    assert {item.origin.records for item in made.items} == {("p:1",), ("p:2",)}
    assert made.skipped == {"skipped.continuation.ambiguous_opening": 2}
    assert [(row.record, row.reason) for row in made.rejected] == [("q", "ambiguous_opening")]


def test_whoever_wrote_the_other_opening_the_same_is_made() -> None:
    """Else the poet of a sealed verse could be tried: only a record with his name would lose its question."""
    made = [
        generate(
            [make_poem("p", GHAZAL), make_poem("q", [(GHAZAL[0][0], OTHER[0][1])], poet=poet)], "continuation"
        )
        for poet in ("حافظ", "سعدی")
    ]
    assert {item.origin.records for item in made[0].items} == {item.origin.records for item in made[1].items}
    assert made[0].skipped == made[1].skipped == {"skipped.continuation.ambiguous_opening": 2}


def test_choice_takes_one_line_from_the_poem_and_one_from_another_in_the_metre() -> None:
    made = generate([make_poem("p", GHAZAL), make_poem("q", OTHER)], "verse_choice")
    first = [item for item in made.items if isinstance(item, ChoiceItem) and item.origin.records[0] == "p:1"]
    assert len(first) == 2
    for item in first:
        poems = {record.split(":")[0] for record in item.origin.records[1:]}
        assert poems == {"p", "q"}
        assert item.options[item.gold[0]] == GHAZAL[1][0]
        assert len(item.options) == 3


def test_where_no_other_poem_shares_the_rhyme_both_wrong_lines_are_of_the_same() -> None:
    made = generate([make_poem("p", GHAZAL), make_poem("q", OTHER)], "continuation_choice")
    first = [item for item in made.items if isinstance(item, ChoiceItem) and item.origin.records[0] == "p:1"]
    assert len(first) == 2
    for item in first:
        assert {record.split(":")[0] for record in item.origin.records} == {"p"}
        assert item.origin.strategy == "same_metre_same_poem"
        assert item.options[item.gold[0]] == GHAZAL[1][1]


@pytest.mark.parametrize(
    "others",
    [
        [],
        [make_poem("q", OTHER, metre="fa_9")],
        [make_poem("q", [(GHAZAL[0][0], "حق شناسان را چه حال افتاده یاران را چه شد")])],
    ],
    ids=["alone", "other metre", "only a near duplicate and a true alternative"],
)
def test_no_choice_without_a_line_that_fits(others: list[Poem]) -> None:
    poems = [make_poem("p", GHAZAL[2:] + GHAZAL[1:2]), *others]
    made = generate(poems, "continuation_choice")
    assert made.items == []
    assert made.skipped["skipped.continuation_choice.no_line_in_rhyme"] >= 2


def test_degenerate_poems_are_counted_not_made_into_items() -> None:
    poems = [
        make_poem("one", GHAZAL[:1]),
        make_poem("no_metre", GHAZAL[1:], metre=""),
        make_poem("word", [("یار", "کجاست")]),
        make_poem("line", [("دوش دیدم که ملائک در میخانه زدند", None)]),
        make_poem("same", [("هر که را جان شد آب آن را برد", "هر که را جان شد، آب آن را برد!")]),
        make_poem("joined", OTHER[:1], mudawwar=True),
        make_poem("nobody", OTHER[1:], poet=""),
    ]
    made = generate(poems, "continuation_choice")
    assert made.items == []
    assert {row.record: row.reason for row in made.rejected} == {
        "one": "single_couplet",
        "no_metre": "metre_unknown",
        "word": "too_short",
        "line": "not_two_hemistichs",
        "same": "hemistichs_alike",
        "joined": "mudawwar",
        "nobody": "poet_unknown",
    }


def test_a_refrain_is_never_a_wrong_line() -> None:
    refrain = "ای دوست بیا که جان فدایت"
    pairs = [("گفتم که به خون دل رسیدم", refrain), ("شب تا سحر از غمت نخفتم", refrain), GHAZAL[0], GHAZAL[1]]
    made = generate([make_poem("p", pairs), make_poem("q", OTHER)], "continuation_choice")
    asked = [item for item in made.items if isinstance(item, ChoiceItem)]
    assert asked
    for item in asked:
        wrong = [option for n, option in enumerate(item.options) if n not in item.gold]
        assert refrain not in wrong


def test_whole_hafez_keeps_every_rule(hafez: list[Poem]) -> None:
    """Every choice of the real set, without embeddings."""
    made = generate(hafez, "continuation_choice", "verse_choice")
    lines = {c.id: (poem, c) for poem in hafez for c in poem.couplets}
    continues: dict[str, set[str]] = defaultdict(set)
    for _, couplet in lines.values():
        assert couplet.second is not None
        continues[couplet.first.key].add(couplet.second.key)
        continues[couplet.second.key].add(couplet.first.key)
    pairs: dict[str, list[ChoiceItem]] = defaultdict(list)
    assert len(made.items) > 15_500
    for item in made.items:
        assert isinstance(item, ChoiceItem)
        pairs[item.pair_id].append(item)
        own, same, other = (lines[record] for record in item.origin.records)
        assert own[0].id == same[0].id
        assert (own[0].id == other[0].id) == (item.origin.strategy == "same_metre_same_poem")
        assert own[0].metre(own[1]) == same[0].metre(same[1]) == other[0].metre(other[1]) != ""
        shown = own[1].first if item.task == "continuation_choice" else own[1].second
        gold = key(item.options[item.gold[0]], "fa")
        for n, option in enumerate(item.options):
            if n not in item.gold:
                assert key(option, "fa") not in continues[shown.key if shown else ""]
                assert fuzz.ratio(key(option, "fa"), gold) < NEAR_DUPLICATE
    for one, other_order in pairs.values():
        assert (one.order, other_order.order) == (0, 1)
        assert sorted(one.options) == sorted(other_order.options)
        assert all(a != b for a, b in zip(one.options, other_order.options, strict=True))
        assert one.options[one.gold[0]] == other_order.options[other_order.gold[0]]
