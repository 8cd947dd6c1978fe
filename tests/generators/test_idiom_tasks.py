"""Meaning, negation, explanation and completion: rules on hand-made idioms, degenerate ones included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from mihakk.generators.neighbours import _matched, one_of_each
from mihakk.schemas.item import AnswerItem, ChoiceItem
from tests.generators.generated import generate
from tests.generators.records import make_idiom

IDIOMS = [
    make_idiom("i1", "قلبه أبيض", "طيب النية لا يضمر لأحد شرًا ويغفر الإساءة سريعًا"),
    make_idiom("i2", "نام على ودنه", "غفل عما يدور حوله فلم ينتبه إلى ما يدبر له في الخفاء"),
    make_idiom("i3", "ضرب عصفورين بحجر واحد", "بلغ غايتين مختلفتين بعمل يسير لم يكلفه سوى مرة"),
    make_idiom("i4", "اللي فات مات", "ما مضى لا يعود فلا نفع في الندم عليه", genre="proverb"),
    make_idiom(
        "i5", "اللي يخاف من العفريت يطلع له", "المرء يلقى ما يكره حين يفرط في الحذر منه", genre="proverb"
    ),
]


def test_negation_takes_two_of_the_four_options_of_the_meaning_choice() -> None:
    made = generate(IDIOMS, "meaning_choice", "negation")
    by_task = {
        task: {item.origin.records[0]: item for item in made.items if item.task == task}
        for task in ("meaning_choice", "negation")
    }
    assert len(made.items) == 2 * 2 * len(IDIOMS)
    for record, right in by_task["meaning_choice"].items():
        wrong = by_task["negation"][record]
        assert isinstance(right, ChoiceItem)
        assert isinstance(wrong, ChoiceItem)
        assert set(wrong.options) < set(right.options)
        assert len(right.options) == 4
        assert right.options[right.gold[0]] != wrong.options[wrong.gold[0]]
        assert right.origin.strategy == "other_explanation"
        assert right.origin.records[1] != record


def test_a_lone_idiom_has_no_wrong_explanation() -> None:
    made = generate(IDIOMS[:1], "meaning_choice")
    assert made.items == []
    assert [(row.record, row.reason) for row in made.rejected] == [("i1", "no_other_explanation")]


def test_an_explanation_that_says_the_same_is_no_wrong_one() -> None:
    twin = make_idiom("i9", "نيته صافية", "طيب النية لا يضمر لأحد شرا ويغفر الإساءة سريعا جدا")
    made = generate([IDIOMS[0], twin], "meaning_choice")
    assert made.items == []


def test_unusable_explanations_are_counted() -> None:
    idioms = [
        make_idiom("none", "قلبه أبيض", " … "),
        make_idiom("persian", "دمه خفيف", "کسی که شوخ است و می‌تواند دیگران را بخنداند"),
        make_idiom("english", "دمه تقيل", "Said of a bore whom nobody wants around"),
    ]
    made = generate(idioms, "explanation")
    assert {row.record: row.reason for row in made.rejected} == {
        "none": "no_explanation",
        "persian": "explanation_language",
        "english": "explanation_language",
    }


def test_completion_takes_the_last_word_off() -> None:
    made = generate(IDIOMS, "completion", least_words=3)
    answers = {item.origin.records[0]: item.answer for item in made.items if isinstance(item, AnswerItem)}
    assert answers == {"i2": "ودنه", "i3": "واحد", "i4": "مات"}
    assert made.skipped == {
        "skipped.completion.last_word_fragment": 1,
        "skipped.completion.too_short": 1,
    }
    first = next(item for item in made.items if item.origin.records[0] == "i3")
    assert first.question.endswith("ضرب عصفورين بحجر ____")


def test_completion_asks_only_where_one_ending_is_known() -> None:
    idioms = [
        make_idiom("r", "كلام الليل مدهون بكلام، الليل!", "وعد لا يوفى به"),
        make_idiom("a", "اللي فات مات", "ما مضى لا يعود"),
        make_idiom("b", "اللي راح راح", "ما مضى لا يعود"),
        make_idiom("c", "اللي فات عدى", "ما مضى لا يعود"),
        make_idiom("d", "اللي جاي أحسن", "المرء يرجو الخير من غده"),
        make_idiom("e", "اللّي جاي أحسن", "المرء يرجو الخير من غده"),
        make_idiom("f", "اللي ما ينفع يدفع", "يخرج من لا خير فيه"),
        make_idiom("g", "اللي ما ينفع طبله ينفع طار", "يصلح لأمر إن لم يصلح لغيره"),
    ]
    made = generate(idioms, "completion", least_words=3)
    assert made.skipped == {
        "skipped.completion.last_word_repeated": 2,
        "skipped.completion.several_endings": 3,
    }
    answers = {(item.answer, item.accepted) for item in made.items if isinstance(item, AnswerItem)}
    assert answers == {("أحسن", ()), ("طار", ())}


def test_a_second_meaning_of_an_idiom_and_a_variant_s_are_no_wrong_options() -> None:
    twice = [
        make_idiom("w1", "ضرب عصفورين بحجر", "نال حاجتين دفعة"),
        make_idiom("w2", "ضرب عصفورين بحجر", "اقتصد فيما بذله لغرضه"),
        make_idiom("w3", "يضرب عصفورين بحجر", "أحسن استغلال فرصته"),
    ]
    made = generate([*twice, *IDIOMS], "meaning_choice")
    meanings = {idiom.explanation.shown for idiom in twice}
    for item in made.items:
        if isinstance(item, ChoiceItem) and item.origin.records[0].startswith("w"):
            assert len(meanings & set(item.options)) == 1


def test_options_of_the_same_theme_come_first() -> None:
    idioms = [
        make_idiom(f"t{n}", f"{word} بعد {word}", meaning).model_copy(
            update={"source_labels": {"theme": "البخل" if n < 4 else "الكرم"}}
        )
        for n, (word, meaning) in enumerate(
            [
                *[("نار", "شح بماله"), ("بحر", "ضن بزاده"), ("قمر", "خزن قمحه"), ("سهل", "كنز ذهبه")],
                *[("جبل", "جاد بخبزه"), ("سور", "وهب ثوبه"), ("باب", "فتح بيته"), ("ورد", "أكرم ضيفه")],
            ]
        )
    ]
    for item in generate(idioms, "meaning_choice").items:
        themes = {int(name[1:]) < 4 for name in item.origin.records}
        assert len(themes) == 1, item.origin.records


def test_an_explanation_that_quotes_the_idiom_tells_the_answer() -> None:
    quoting = make_idiom("q", "قلبه أبيض", "يقال فلان قَلبُه أبيَض إذا كان طيب النية لا يضمر لأحد شرًا")
    made = generate([quoting, *IDIOMS[1:]], "meaning_choice", "explanation")
    assert made.skipped == {"skipped.meaning_choice.explanation_repeats_idiom": 1}
    assert {item.task for item in made.items if item.origin.records[0] == "q"} == {"explanation"}


NAMES = [f"idiom {number}" for number in range(10)]
CHOSEN = st.fixed_dictionaries({name: st.lists(st.sampled_from(NAMES), unique=True) for name in NAMES}).map(
    lambda chosen: {name: [other for other in others if other != name] for name, others in chosen.items()}
)


@given(CHOSEN)
def test_as_many_idioms_as_scipy_finds_take_a_meaning_that_no_other_takes(
    chosen: dict[str, list[str]],
) -> None:
    offered = np.array([[other in chosen[name] for other in NAMES] for name in NAMES])
    most = int((maximum_bipartite_matching(csr_array(offered), perm_type="column") >= 0).sum())
    matched = _matched(chosen)
    assert len(matched) == len(set(matched.values())) == most
    assert all(other in chosen[name] for name, other in matched.items())
    taken = one_of_each(chosen)
    assert taken.keys() == {name for name in NAMES if chosen[name]}
