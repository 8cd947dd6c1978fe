"""Questions for people: each option says what it is, in both orders, and a page hides nothing and runs nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from mihakk.flows.commands.items import card
from mihakk.reports.questions.sample import WHY, explain_options, sample_questions, write_questions_page
from mihakk.schemas.item import ChoiceItem
from tests.generators.conftest import load_hafez
from tests.generators.generated import generate
from tests.generators.records import make_idiom, make_poem

IDIOMS = [
    make_idiom("i1", "إيده طويلة", "اعتاد أخذ ما لا يملكه خفية"),
    make_idiom("i2", "مخه تخين", "بطيء الفهم يحتاج إلى إعادة الشرح"),
    make_idiom("i3", "على قد حاله", "محدود الدخل يعيش بما يكفيه"),
    make_idiom("i4", "قلبه أبيض", "طيب السريرة لا يحمل ضغينة"),
    make_idiom("i5", "إيده ماسكة", "بخيل يصعب عليه إنفاق القليل"),
]


def choices(made: list[object]) -> list[ChoiceItem]:
    return [item for item in made if isinstance(item, ChoiceItem)]


def test_every_option_of_every_order_is_named_and_the_right_one_right() -> None:
    hafez = load_hafez()
    made = choices(
        generate(hafez[:40], "continuation_choice", "verse_choice", "shuffled_choice", "metre_choice").items
    )
    lines = {
        (poem.id, form.text) for poem in hafez for c in poem.couplets for form in (c.first, c.second) if form
    }
    named = set()
    for item in made:
        assert [n for n, kind in enumerate(item.option_kinds) if kind == "right"] == list(item.gold)
        poem = item.origin.records[0].rpartition(":")[0]
        for text, kind in zip(item.options, item.option_kinds, strict=True):
            named.add(kind)
            if kind in ("same_poem", "other_poem"):
                assert ((poem, text) in lines) == (kind == "same_poem")
            if kind == "shuffled":
                assert sorted(text.split()) == sorted(item.options[item.gold[0]].split())
    assert named == {"right", "same_poem", "other_poem", "shuffled", "other_label"}
    assert named <= {"right", *WHY}


def test_a_wrong_explanation_names_the_idiom_it_explains() -> None:
    items = choices(generate(IDIOMS, "meaning_choice", "negation").items)
    told = set()
    for question in explain_options(items, IDIOMS):
        for wrong in [option for option in question.options if not option.right]:
            told.add(question.item.task)
            if question.item.task == "negation":
                assert wrong.kind == "true_explanation"
                continue
            explained = next(one for one in IDIOMS if one.explanation.text == wrong.text)
            assert wrong.kind == "other_explanation"
            assert wrong.why == f"explains another idiom: «{explained.phrase.text}»"
    assert told == {"meaning_choice", "negation"}


def test_a_sample_counts_a_pair_once_and_does_not_change_with_the_order_of_rows() -> None:
    items = generate(IDIOMS, "meaning_choice", "explanation").items
    found = sample_questions(items, size=2, seed=1)
    assert {task: sum(item.task == task for item in found) for task in ("meaning_choice", "explanation")} == {
        "meaning_choice": 2,
        "explanation": 2,
    }
    assert len({getattr(item, "pair_id", "") or item.id for item in found}) == 4
    again = sample_questions(items[::-1], size=2, seed=1)
    assert {item.origin.records[0] for item in again} == {item.origin.records[0] for item in found}
    assert {item.task for item in sample_questions(items, task="explanation", size=9)} == {"explanation"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_the_page_shows_texts_right_to_left_and_runs_none_of_them(tmp_path: Path, hostile: str) -> None:
    idioms = [make_idiom("i9", f"قال {hostile}", "غرض بعيد عن سواه"), *IDIOMS]
    made = generate(idioms, "meaning_choice").items
    path = tmp_path / "questions.html"
    write_questions_page("عنوان", explain_options(sample_questions(made), idioms), path)
    page = _Page()
    page.feed(path.read_text("utf-8"))
    assert not [tag for tag, _ in page.tags if tag in ("script", "img")]
    assert [given["href"] for tag, given in page.tags if tag == "link"] == ["data:,"]
    blocks = [given for _, given in page.tags if given.get("class") == "item text"]
    assert len(blocks) == len(idioms)
    assert all((given["dir"], given["lang"]) == ("rtl", "ar") for given in blocks)
    for idiom in idioms:
        assert (idiom.phrase.text or "") in page.text


def test_verses_stand_beside_their_explanations(tmp_path: Path) -> None:
    poem = make_poem(
        "p1", [("الخيل والليل", "والسيف والرمح"), ("صحب الناس", "وعناهم من شأنه")], language="ar"
    )
    told = ("يفخر بنفسه فارسا", "يشكو الزمان وأهله")
    poem = poem.model_copy(
        update={
            "couplets": tuple(
                couplet.model_copy(update={"explanation": text})
                for couplet, text in zip(poem.couplets, told, strict=True)
            ),
            "explanation": "فخر ثم شكوى",
        }
    )
    questions = explain_options(generate([poem], "verse_explanation").items)
    path = tmp_path / "questions.html"
    write_questions_page("عنوان", questions, path)
    page = _Page()
    page.feed(path.read_text("utf-8"))
    console = Console(width=120, record=True, file=StringIO())
    console.print(card(1, questions[0], rtl=True))
    for shown in (page.text, console.export_text()):
        parts = ["الخيل والليل", told[0], "صحب الناس", told[1], "فخر ثم شكوى"]
        assert [shown.index(part) for part in parts] == sorted(shown.index(part) for part in parts)
