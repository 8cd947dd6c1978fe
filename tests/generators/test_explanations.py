"""Explanations and prose of verse: aligned one to one or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.writing.replies import wrong_language
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import AnswerItem, ExplanationItem
from mihakk.schemas.poem import Poem
from tests.generators.records import make_poem

PAIRS = [
    ("یاری اندر کس نمی بینیم یاران را چه شد", "دوستی کی آخر آمد دوستداران را چه شد"),
    ("آب حیوان تیره گون شد خضر فرخ پی کجاست", "خون چکید از شاخ گل باد بهاران را چه شد"),
    ("کس نمی گوید که یاری داشت حق دوستی", "حق شناسان را چه حال افتاد یاران را چه شد"),
]
TOLD = ["شاعر از نبودن دوست گله می‌کند", "حتی آب زندگی هم تیره شده است", "حق دوستی از یادها رفته است"]


def explained(*explanations: str, prose: str = "") -> Poem:
    poem = make_poem("p", list(PAIRS[: len(explanations)]))
    couplets = tuple(
        couplet.model_copy(update={"explanation": text, "prose": prose})
        for couplet, text in zip(poem.couplets, explanations, strict=True)
    )
    return poem.model_copy(update={"couplets": couplets, "explanation": "گلایه از روزگار"})


def generate(poem: Poem, task: str) -> tuple[list[ExplanationItem | AnswerItem], list[str]]:
    config = BenchmarkConfig.model_validate(
        {"name": "t", "title": "t", "sources": [{"use": "f"}], "tasks": [{"use": task}], "embeddings": "none"}
    )
    made = generate_shard([poem], prepare([poem], config), config)
    return [item for item in made.items if not hasattr(item, "options")], [
        row.reason for row in made.rejected
    ]


@given(st.lists(st.booleans(), min_size=1, max_size=3))
def test_explanations_are_aligned_or_the_poem_is_left_out(present: list[bool]) -> None:
    given_ = [text if here else " " for text, here in zip(TOLD, present, strict=False)]
    items, reasons = generate(explained(*given_), "verse_explanation")
    if all(present):
        (item,) = items
        assert isinstance(item, ExplanationItem)
        assert item.explanations == tuple(given_)
        assert len(item.verses) == len(present)
        assert item.overall == "گلایه از روزگار"
    else:
        assert items == []
        assert reasons == ["explanations_unaligned" if any(present) else "no_explanations"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("The poet misses his friends", "explanation_language"),
        (" / ".join(PAIRS[0]), "explanation_repeats_verse"),
    ],
)
def test_an_explanation_that_explains_nothing(bad: str, reason: str) -> None:
    assert generate(explained(bad, TOLD[1]), "verse_explanation") == ([], [reason])


def test_prose_is_the_answer_and_its_couplet_the_question() -> None:
    prose = "رفاقت در هیچ کس نمی‌بینیم؛ بر سر یاران چه آمد؟"
    items, _ = generate(explained(TOLD[0], prose=prose), "couplet_prose")
    (item,) = items
    assert isinstance(item, AnswerItem)
    assert item.answer == prose
    assert " / ".join(PAIRS[0]) in item.question
    assert generate(explained(TOLD[0]), "couplet_prose") == ([], ["no_prose"])


@pytest.mark.parametrize(
    ("text", "language", "right"),
    [
        ("طيب النية لا يضمر لأحد شرًا", "ar", True),
        ("طيب النية لا يضمر لأحد شرًا", "en", False),
        ("کسی که از دیگران کینه‌ای به دل ندارد", "fa", True),
        ("کسی که از دیگران کینه‌ای به دل ندارد", "ar", False),
        ("الرجل الذي لا يحمل في قلبه حقدًا على أحد من الناس", "fa", False),
        ("لطف یار", "fa", True),
        ("لطف یار", "ar", True),
        ("a man without malice", "en", True),
        ("a man without malice", "ar", False),
        ("؟!", "ar", False),
        ("", "fa", False),
        ("قال عنه (honest) إنه طيب القلب لا يكذب على أحد", "ar", True),
    ],
)
def test_language_of_a_text(text: str, language: str, right: bool) -> None:
    assert (wrong_language(text, language) == "") is right  # type: ignore[arg-type]


@given(st.text(max_size=60), st.sampled_from(["ar", "fa", "en"]))
def test_any_text_has_an_answer(text: str, language: str) -> None:
    assert isinstance(wrong_language(text, language), str)  # type: ignore[arg-type]
