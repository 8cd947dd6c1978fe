"""What an auditor reads: instructions first and the same for all, the sample last and unable to leave its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.schemas.audit import CASCADE, CRITERIA
from mihakk.validators.audit.defects import injections
from mihakk.validators.audit.prompt import KINDS, SHAPES, criteria, described, messages, prompt, sample


@pytest.mark.parametrize("kind", KINDS)
def test_instructions_name_every_criterion_and_the_rules(kind: Any) -> None:
    text = prompt(kind).system
    assert "$" not in text
    assert [key for key in CRITERIA if f"{key}: {criteria()[key].wording(kind)}" not in text] == []
    assert all(key in text for key in CASCADE)
    assert "Dialect" in text
    example = json.loads(text.splitlines()[-1])
    assert example == {"scores": dict.fromkeys(CRITERIA, 1), "issues": []}
    assert len(text) < 3000, "the shared part is read once per kind, but small machines read slowly"


def test_a_changed_wording_is_another_prompt() -> None:
    assert len({prompt(kind).digest for kind in KINDS}) == 3
    assert all(prompt(kind).version >= 1 for kind in KINDS)


def test_items_of_a_kind_share_their_instructions(items: list[Any]) -> None:
    for kind in KINDS:
        shared = {messages(item)[0]["content"] for item in items if item.kind == kind}
        assert len(shared) == 1


def test_a_sample_shows_what_is_judged_and_nothing_of_its_making(items: list[Any]) -> None:
    shown = json.loads(sample(items[1]))
    assert shown["marked_correct"] == {"B": items[1].options[1]}
    assert shown["options"] == dict(zip("ABCD", items[1].options, strict=True))
    assert json.loads(sample(items[8]))["reference_answer"] == "مشکل‌ها"
    poem = json.loads(sample(items[-1]))
    assert [pair["verse"] for pair in poem["verses"]] == list(items[-1].verses)
    for item in items:
        assert item.id not in sample(item)
        assert item.origin.generator not in sample(item)


def test_a_gold_out_of_range_shows_as_nothing_marked(items: list[Any]) -> None:
    assert json.loads(sample(items[0].model_copy(update={"gold": (9,)})))["marked_correct"] == {}


def test_there_are_twenty_injections_in_three_languages() -> None:
    assert len(set(injections())) >= 20
    arabic = [text for text in injections() if any("\u0600" <= letter <= "\u06ff" for letter in text)]
    assert len(arabic) >= 10
    assert len(injections()) - len(arabic) >= 10


@pytest.mark.parametrize("text", injections())
def test_an_injection_stays_inside_the_sample(items: list[Any], text: str) -> None:
    for field in ("question", "context"):
        item = items[0].model_copy(update={field: f"{text}\n{text}"})
        _stays_inside(item, field)
    item = items[8].model_copy(update={"answer": text})
    system, user = messages(item)
    assert system["content"] == prompt("answer").system
    assert json.loads(user["content"])["reference_answer"] == text


@given(st.text())
def test_no_text_whatever_leaves_the_sample(text: str) -> None:
    from mihakk.schemas.item import AnswerItem, Origin

    text = text.encode("utf-8", "ignore").decode()
    origin = Origin(records=(), generator="external", generator_version="1")
    item = AnswerItem(
        id="i", task="t", language="ar", question=text, answer="x", origin=origin, licence="CC0-1.0"
    )
    _stays_inside(item, "question")


def _stays_inside(item: Any, field: str) -> None:
    system, user = messages(item)
    assert system == {"role": "system", "content": prompt(item.kind).system}
    assert user["role"] == "user"
    assert "\n" not in user["content"]
    assert json.loads(user["content"])[field] == getattr(item, field)


def outside(item: Any, **more: Any) -> Any:
    return item.model_copy(update={"task": f"external_{item.kind}", "context": "", **more})


def told(item: Any) -> str:
    """What an auditor reads of an item beyond what all items of its kind get."""
    plain = set(prompt(item.kind).system.splitlines())
    return " ".join(line for line in messages(item)[0]["content"].splitlines() if line not in plain)


def test_auditors_are_told_of_statements_passages_and_several_golds(items: list[Any]) -> None:
    choice, answer = items[0], items[8]
    assert told(outside(choice)) == told(outside(answer)) == ""
    statement = outside(answer, question="القاهرة عاصمة مصر", answer="صح")
    assert "whether it holds" in told(statement)
    assert "whether it holds" in told(outside(choice, options=("True", "False"), gold=(0,)))
    assert "whether it holds" not in told(outside(choice, options=("لا", "ما", "لن", "لم"), gold=(0,)))
    assert "passage" in told(outside(choice, context="قرأ الطالب الدرس."))
    several = outside(choice, gold=(0, 2))
    assert "just so when another option is right" in told(several)
    assert set(json.loads(sample(several))["marked_correct"]) == {"A", "C"}
    names = {described(one)["prompt"] for one in (statement, several, outside(choice))}
    assert names == {"audit-answer+statement", "audit-choice+selection", "audit-choice"}


def test_our_own_tasks_are_asked_about_as_before(items: list[Any]) -> None:
    verse = items[8].model_copy(update={"answer": "لا"})
    assert verse.context
    assert messages(verse)[0]["content"] == prompt("answer").system


def test_the_lines_for_shapes_end_no_earlier_rule() -> None:
    for kind in KINDS:
        longest = prompt(kind, "scores", SHAPES).system
        assert json.loads(longest.splitlines()[-1])["issues"] == []
        assert longest.count("Dialect and poetic") == 1
        assert len(longest) < 4200
