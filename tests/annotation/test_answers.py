"""Annotations read: what is good becomes a decision, whatever else comes is rejected with a reason."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.campaigns.questions import item_reply_question, option_question, text_question
from mihakk.annotation.label_studio.answers import Reader
from mihakk.annotation.label_studio.exported import Answer, Row, Task, read_tasks
from mihakk.annotation.label_studio.pull import Pulled, all_answers
from mihakk.annotation.screens.labelling import labelling, template_names
from mihakk.annotation.screens.ratings import LEVELS
from mihakk.annotation.screens.tasks import review_task
from mihakk.machinery.errors import RecordRejected
from tests.annotation.judged import NOON, choice, explanation
from tests.annotation.pushed import chosen, typed

DATA = review_task(choice(options=("أ", "ب", "ج")))["data"]


def answer(*result, data=DATA, whole=None) -> Answer:
    said = list(result) if whole is None else whole
    row = Row(id=1, completed_by=1, was_cancelled=False, result=said, updated_at=NOON, lead_time=9.0)
    return Answer(Task(id=1, data=data, annotations=[]), row)


@pytest.fixture(scope="module")
def reader(label_interface) -> Reader:
    return Reader(labelling("quality_review", "ar"))


def test_a_whole_decision(reader):
    (review,) = reader.read(
        answer(
            chosen("decision", "fix"),
            typed("fix_option_1", "باء"),
            chosen("fix_gold", "2", "0"),
            chosen("failed", "answer_alignment", "text_readability"),
            typed("notes", "تصحيف"),
            {
                "id": "r",
                "from_name": "confidence",
                "to_name": "item",
                "type": "rating",
                "value": {"rating": 4},
            },
        ),
        "annotator-01",
    )
    assert review.corrections == {"options[1]": "باء", "gold": "0,2"}
    assert review.failed == ("text_readability", "answer_alignment")
    assert (review.confidence, review.notes, review.seconds) == (4, "تصحيف", 9.0)
    assert review.content_hash == DATA["content_hash"]


def test_what_stands_in_hidden_boxes_does_not_count(reader):
    kept = answer(chosen("decision", "keep"), typed("fix_question", "سؤال آخر"), chosen("reason", "other"))
    (review,) = reader.read(kept, "a")
    assert (review.corrections, review.reason) == ({}, None)
    spare = answer(
        chosen("decision", "fix"), typed("fix_option_7", "خيار لا وجود له"), typed("fix_question", "؟")
    )
    assert reader.read(spare, "a")[0].corrections == {"question": "؟"}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], "incomplete"),
        ([chosen("decision", "maybe")], "invalid_annotation"),
        ([chosen("decision", "keep", "discard")], "invalid_annotation"),
        ([chosen("decision", "keep"), chosen("decision", "fix")], "invalid_annotation"),
        ([chosen("verdict", "keep")], "invalid_annotation"),
        ([typed("decision", "keep")], "invalid_annotation"),
        (["keep"], "invalid_annotation"),
        ([{"from_name": "decision"}], "invalid_annotation"),
        ([chosen("decision")], "incomplete"),
    ],
)
def test_bad_annotations_have_a_reason(reader, result, reason):
    with pytest.raises(RecordRejected) as rejected:
        reader.read(answer(*result), "a")
    assert rejected.value.reason == reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
REGION = st.fixed_dictionaries(
    {"from_name": st.sampled_from(["decision", "reason", "failed", "fix_question", "fix_gold", "confidence", "x"]) | JSON,
     "to_name": st.sampled_from(["item", "other"]), "type": st.sampled_from(["choices", "textarea", "rating"]) | JSON,
     "value": st.fixed_dictionaries({}, optional={"choices": st.lists(st.sampled_from(["keep", "fix", "discard", "0"])) | JSON,
                                                  "text": st.lists(st.text(max_size=4)) | JSON, "rating": JSON}) | JSON},
    optional={"id": JSON},
)  # fmt: skip


@given(st.lists(REGION | JSON, max_size=4) | JSON)
def test_nothing_an_api_client_sends_can_break_a_pull(result):
    reader = Reader(labelling("quality_review", "ar"))
    with contextlib.suppress(RecordRejected):
        rows = reader.read(answer(whole=result), "a")
        assert {row.annotator for row in rows} == {"a"}
        assert all(type(row).model_validate(row.model_dump()) == row for row in rows)


def test_an_edited_task_and_a_task_of_somebody_else_are_rejected(reader):
    for data in (DATA | {"item_html": "x"}, {"text": "made by hand"}, {}):
        with pytest.raises(RecordRejected, match="task_edited"):
            reader.read(answer(chosen("decision", "keep"), data=data), "a")


def test_small_questions_become_labels(label_interface):
    reader = Reader(labelling("interpretive_depth", "ar"))
    data = item_reply_question(explanation(), "m", "شرح").task("m")["data"]
    parts = {"literal": "1", "theme": "2", "culture": "0", "style": "3", "expression": "1"}
    labels = reader.read(answer(*(chosen(*part) for part in parts.items()), data=data), "a")
    assert {label.name: label.value for label in labels} == parts | {"depth": "7"}
    with pytest.raises(RecordRejected, match="incomplete"):
        reader.read(answer(chosen("literal", "1"), data=data), "a")
    with pytest.raises(RecordRejected, match="invalid_annotation"):
        reader.read(answer(chosen("literal", "2"), data=data), "a")
    corrected = Reader(labelling("text_correction", "ar")).read(
        answer(
            chosen("state", "corrected"),
            typed("fix_text", "نص سليم"),
            data=text_question("t", "نـص", "ar").task()["data"],
        ),
        "a",
    )
    assert {label.name: label.value for label in corrected} == {"state": "corrected", "fix_text": "نص سليم"}


def test_every_template_has_hotkeys_words_and_levels():
    import xml.etree.ElementTree as ET

    assert set(template_names()) == set(LEVELS)
    for name in template_names():
        for screen in ("ar", "fa", "en"):
            made = labelling(name, screen)
            root = ET.fromstring(made.config)
            keys = [choice.get("hotkey") for choice in root.iter("Choice")]
            assert all(keys), f"{name}: a choice without a hotkey gets one from Label Studio"
            assert len(keys) == len(set(keys))
            assert made.instructions.count("<section") == 1
            assert f'lang="{screen}"' in made.instructions
            controls = {control.get("name") for control in root.iter() if control.get("toName")}
            assert set(LEVELS[name]) - {"depth"} <= controls


def exported(*rows):
    return read_tasks([{"id": 5, "data": DATA, "annotations": list(rows)}])


def row(number, person, *, minutes=0, cancelled=False):
    at = NOON + timedelta(minutes=minutes)
    return {
        "id": number, "completed_by": person, "was_cancelled": cancelled, "lead_time": 3.0,
        "updated_at": at.isoformat().replace("+00:00", "Z"), "result": [chosen("decision", "keep")],
    }  # fmt: skip


def test_the_latest_of_each_person_by_the_servers_clock_then_by_number():
    pulled = Pulled()
    rows = [row(1, 7, minutes=5), row(2, 7, minutes=1), row(3, 8), row(4, 8), row(5, 9, cancelled=True)]
    kept = [one.row for one in all_answers(exported(*rows), pulled, "made") if not one.superseded]
    assert [(one.id, one.completed_by) for one in kept] == [(4, 8), (1, 7)]
    assert (pulled.annotations, pulled.superseded, pulled.skipped) == (5, 2, 1)


def test_an_answer_changed_after_somebody_else_answered_is_counted():
    def given(number, person, made, changed):
        times = {
            "created_at": NOON + timedelta(minutes=made),
            "updated_at": NOON + timedelta(minutes=changed),
        }
        return row(number, person) | {name: at.isoformat() for name, at in times.items()}

    pulled = Pulled()
    all_answers(exported(given(1, 7, 0, 9), given(2, 8, 5, 5), given(3, 9, 6, 6.5)), pulled, "made")
    assert pulled.notes["changed_after_others"] == 1, "7 changed at 9 what they said at 0; 8 said theirs at 5"
    pulled = Pulled()
    all_answers(exported(given(1, 7, 0, 4), given(2, 8, 5, 5)), pulled, "made")
    assert not pulled.notes["changed_after_others"]


def test_a_clock_that_runs_ahead_loses_nothing():
    ahead = datetime.now(UTC) + timedelta(days=400)
    (kept,) = all_answers(exported(row(1, 7) | {"updated_at": ahead.isoformat()}), Pulled(), "made")
    assert (kept.row.updated_at, kept.row.completed_by) == (ahead, 7)


@pytest.mark.parametrize(
    ("correct", "tempting", "rating"),
    [
        ("wrong", "yes", "2"),
        ("wrong", "weak", "1"),
        ("close", "yes", "1"),
        ("right", "yes", "0"),
        ("wrong", "no", "0"),
    ],
)
def test_two_questions_about_a_wrong_option_give_the_papers_rating(
    label_interface, correct, tempting, rating
):
    data = option_question(choice(), 1).task()["data"]
    reader = Reader(labelling("distractor_rating", "ar"))
    said = answer(chosen("correct", correct), chosen("tempting", tempting), data=data)
    found = {label.name: label.value for label in reader.read(said, "annotator-01")}
    assert found == {"correct": correct, "tempting": tempting, "plausibility": rating}
    before = answer(chosen("plausibility", "1"), data=data)
    assert [label.value for label in reader.read(before, "annotator-01")] == ["1"], "asked as one question"
    with pytest.raises(RecordRejected, match="tempting"):
        reader.read(answer(chosen("correct", "wrong"), data=data), "annotator-01")
