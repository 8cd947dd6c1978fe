"""Guidelines by version, questions of annotators, and the lead's answers to them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from typer.testing import CliRunner

from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.teaching.guidelines import (
    current_guideline,
    instructions,
    substantial_changes,
    version_at,
)
from mihakk.annotation.teaching.questions import answer_question, asked_questions
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.schemas.guideline import Guideline, LeadAnswer
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review
from tests.annotation.exported import pulled
from tests.annotation.judged import NOON, choice, review

ASKED = "هل اللهجة <b>خطأ</b>؟"


@pytest.fixture
def stores(tmp_path) -> Stores:
    kept = Stores.under(str(tmp_path / "bench"))
    add(
        kept.decisions,
        Review,
        [review(choice(0), "annotator-01", notes=ASKED), review(choice(1), "annotator-02")],
    )
    rated = Label(
        subject="x#1", content_hash="c", annotator="annotator-02", template="distractor_rating", name="notes",
        value="ما الفرق بين 0 و1؟", decided_at=NOON,
    )  # fmt: skip
    add(kept.labels, Label, [rated])
    skip = Rejection(
        record="y", source="bench:connotation:fa", reason="skipped_unclear", detail="منظور چیست؟", body="{}"
    )
    add(kept.rejected, Rejection, [skip, skip.model_copy(update={"record": "z", "detail": ""})])
    return kept


def test_every_note_is_gathered_once_and_answered_ones_go_last(stores):
    rows = asked_questions(stores)
    assert {(row.template, row.language, row.annotator, row.text) for row in rows} == {
        ("quality_review", "ar", "annotator-01", ASKED),
        ("distractor_rating", "", "annotator-02", "ما الفرق بين 0 و1؟"),
        ("connotation", "fa", "", "منظور چیست؟"),
    }
    first = next(row for row in rows if row.template == "quality_review")
    answer_question(stores, first.id, "لا.", now=NOON)
    again = asked_questions(stores)
    assert (again[-1].id, again[-1].answers) == (first.id, ("لا.",))


def test_an_answer_is_the_next_version_and_stands_in_the_instructions_of_its_screen(stores):
    first = current_guideline(stores, "quality_review", NOON)
    assert (first.version, first.substantial) == (1, False)
    assert first.instructions["ar"] == labelling("quality_review", "ar").instructions
    assert current_guideline(stores, "quality_review", NOON + timedelta(days=1)) == first, "nothing changed"
    (asked,) = [row for row in asked_questions(stores) if row.template == "quality_review"]
    answer_question(stores, asked.id, "لا، <i>اللهجة</i> ليست خطأ.", now=NOON + timedelta(days=1))
    second = current_guideline(stores, "quality_review", NOON + timedelta(days=2))
    assert (second.version, second.substantial) == (2, False)
    assert "&lt;i&gt;اللهجة&lt;/i&gt; ليست خطأ." in second.instructions["ar"]
    assert "&lt;b&gt;خطأ&lt;/b&gt;" not in second.instructions["ar"], "the question is its author's own words"
    assert second.instructions["en"] == first.instructions["en"], "it was asked on the Arabic screen"
    answer_question(
        stores, "rule", "Scan a verse first.", now=NOON + timedelta(days=3), template="quality_review",
        substantial=True,
    )  # fmt: skip
    third = current_guideline(stores, "quality_review", NOON + timedelta(days=4))
    assert (third.version, third.substantial) == (3, True)
    assert all("Scan a verse first." in third.instructions[language] for language in ("ar", "fa", "en"))
    rows = stored(stores.guidelines, Guideline)
    assert substantial_changes(rows) == {"quality_review": [NOON + timedelta(days=4)]}
    days = (-1, 0, 1.9, 2, 3.9, 4, 9)
    assert [version_at(rows, "quality_review", NOON + timedelta(days=day)) for day in days] == [
        0,
        1,
        1,
        2,
        2,
        3,
        3,
    ]
    assert instructions("connotation", "ar", stored(stores.answers, LeadAnswer)) == (
        labelling("connotation", "ar").instructions
    )


def test_each_decision_names_the_version_it_was_made_under_and_older_ones_none(tmp_path):
    kept = Stores.under(str(tmp_path))
    sent = [review_task(choice(n)) for n in range(2)]
    keep = {"decision": "keep"}
    current_guideline(kept, "quality_review", NOON)  # 1 March, noon
    pulled(kept, "quality_review", sent[:1], {choice(0).id: [keep]}, day=1)  # at midnight, before it
    pulled(kept, "quality_review", sent[1:], {choice(1).id: [keep]}, day=2)
    assert {row.item: row.guideline for row in stored(kept.decisions, Review)} == {
        choice(0).id: 0,
        choice(1).id: 1,
    }
    older = review(choice(2), "annotator-01").model_dump(mode="json", exclude={"guideline"})
    assert Review.model_validate(older).guideline == 0


@pytest.mark.parametrize(
    ("question", "text", "template", "said"),
    [
        ("q-none", "لا.", "", "there is no question 'q-none'"),
        ("rule", "لا.", "quality", "a rule needs --template"),
        ("rule", " ", "quality_review", "the answer is empty"),
    ],
)
def test_what_can_not_be_answered_says_why(stores, question, text, template, said):
    with pytest.raises(UsageError, match=said):
        answer_question(stores, question, text, now=NOON, template=template)


def test_the_lead_reads_and_answers_from_the_command_line(stores, tmp_path):
    (tmp_path / "bench.yaml").write_text(
        "name: bench\ntitle: Bench\nsources: [{use: hafez}]\ntasks: [{use: last_word}]\n"
    )
    place = [str(tmp_path / "bench.yaml")]
    lake = ["--lake", str(tmp_path)]
    runner = CliRunner()
    said = runner.invoke(app, ["review", "questions", *place, *lake], catch_exceptions=False).stdout
    assert "3 of 3 are open" in said
    asked = next(row for row in asked_questions(stores) if row.template == "quality_review")
    done = runner.invoke(app, ["review", "answer", *place, asked.id, "[لا]", *lake], catch_exceptions=False)
    assert "in the guideline of quality_review" in done.stdout
    said = runner.invoke(app, ["review", "questions", *place, *lake], catch_exceptions=False).stdout
    assert "answered: [لا]" in said
    assert "2 of 3 are open" in said
