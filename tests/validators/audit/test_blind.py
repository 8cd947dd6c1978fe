"""The blind answer: no gold is shown, two auditors that agree on another answer are a rule, measured by simulation."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.schemas.benchmark import POLICIES
from mihakk.schemas.model import AuditorsConfig
from mihakk.validators.audit.audit_quality import measure_quality
from mihakk.validators.audit.auditing import all_requests, audit_items, estimate, open_panel, verdicts
from mihakk.validators.audit.blind import blind_request, can_be_asked, differs
from mihakk.validators.audit.defects import DEFECTS
from mihakk.validators.audit.prompt import SOUND, shapes
from tests.validators.audit.conftest import choice


def asked(call: Call) -> dict[str, Any]:
    return json.loads(call.body["messages"][1]["content"])


def is_blind(call: Call) -> bool:
    return "without a key" in call.body["messages"][0]["content"]


def test_a_blind_question_shows_no_gold(items: list[Any]) -> None:
    for item in items:
        if not can_be_asked(item):
            assert item.kind == "explanation"
            continue
        request = blind_request(item)
        shown = json.loads(request.messages[1]["content"])
        assert not {"marked_correct", "reference_answer", "also_accepted"} & set(shown)
        moved = item.model_copy(
            update={"gold": ((item.gold[0] + 1) % 4,)} if item.kind == "choice" else {"answer": "دگر"}
        )
        assert blind_request(moved).messages == request.messages, "the question tells nothing of the gold"
    assert not shapes(items[0])


def test_blind_answers_too_are_read_as_the_config_says(items: list[Any]) -> None:
    model: Any = SimpleNamespace(config=SimpleNamespace(reply_form="scores", lenient=True))
    asked = list(all_requests(items, model, blind=True))
    assert {(one.name, one.lenient) for one in asked} == {("audit", True), ("blind", True)}


def test_answers_are_letters_of_the_item_or_words(items: list[Any]) -> None:
    read = blind_request(items[0]).validate
    assert read({"answer": "C"}) == "C"
    assert read({"answer": "?"}) == "?"
    for bad in ({"answer": "E"}, {"answer": 2}, {"answer": ["A"]}, {"answer": "A", "why": ""}, {}):
        with pytest.raises(ValueError, match="answer"):
            read(bad)
    several = items[0].model_copy(update={"gold": (0, 2)})
    assert blind_request(several).validate({"answer": ["C", "A", "A"]}) == "A, C"
    assert not differs(several, "A, C")
    assert differs(several, "A")
    assert not differs(items[8], "مشکلها"), "an accepted spelling is no other answer"
    assert differs(items[8], "دل")
    assert not differs(items[8], "?")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_reply_is_an_answer_or_a_value_error(value: Any) -> None:
    with contextlib.suppress(ValueError):
        assert blind_request(choice(0)).validate({"answer": value}) in ("A", "B", "C", "D", "?")


def auditor(truth: dict[str, str], accuracy: float, name: str) -> Callable[[Call], Answer]:
    """Finds every gold right that it is shown; blind, right with the stated probability, else any other."""

    def answered(call: Call) -> Answer:
        if not is_blind(call):
            return Answer(text=SOUND)
        shown = asked(call)
        right = next(
            (letter for letter, text in shown["options"].items() if truth.get(shown["question"]) == text), "?"
        )
        drawn = int(hashlib.sha256(f"{name} {shown['question']}".encode()).hexdigest()[:12], 16) / 16**12
        others = sorted(set(shown["options"]) - {right})
        rest = (drawn - accuracy) / (1 - accuracy) if accuracy < 1 else 0.0
        letter = right if drawn < accuracy else others[min(int(rest * len(others)), len(others) - 1)]
        return Answer(text=json.dumps({"answer": letter}))

    return answered


@pytest.mark.parametrize(
    ("accuracy", "seeded"),
    [(0.8, 24), *(pytest.param(share, 120, marks=pytest.mark.drill) for share in (0.9, 0.7, 0.5))],
)
def test_what_platinum_finds_of_wrong_golds_is_what_chance_says(
    auditors: Callable[..., AuditorsConfig], journal: Journal, accuracy: float, seeded: int
) -> None:
    many = [
        choice(n).model_copy(
            update={
                "question": f"ما معنى المثل رقم {n}؟",
                "options": tuple(f"معنى {n} {m}" for m in range(4)),
            }
        )
        for n in range(seeded)
    ]
    truth = {item.question: item.options[item.gold[0]] for item in many}
    wrong = [defect for defect in DEFECTS if defect.kind == "wrong_gold"]
    with (
        ScriptedServer(auditor(truth, accuracy, "one")) as one,
        ScriptedServer(auditor(truth, accuracy, "two")) as two,
        open_panel(auditors(one.url, two.url, concurrency=8), settings()) as panel,
    ):
        found = measure_quality(
            many, lambda _: (), panel, journal, per_kind=seeded, defects=wrong, policies=POLICIES, repeats=0
        )
    assert found.rows("policy:strict")["wrong_gold"].recall.hits == 0
    assert found.rows("policy:qimma")["wrong_gold"].recall.hits == 0
    row = found.rows("policy:platinum")["wrong_gold"]
    assert row.recall.cases == seeded
    # Both right; or both wrong alike, on one of the two other options that are not the wrong gold.
    miss = (1 - accuracy) / 3
    expected = accuracy**2 + 2 * miss**2
    low, high = binom.ppf([0.0005, 0.9995], seeded, expected)
    assert low <= row.recall.hits <= high
    low, high = binom.ppf([0.0005, 0.9995], seeded, 3 * miss**2)
    assert low <= row.false_alarms.hits <= high


def test_a_run_without_the_policy_asks_nothing_more_and_one_with_it_counts_the_calls(
    auditors: Callable[..., AuditorsConfig], journal: Journal, items: list[Any]
) -> None:
    seen: list[bool] = []

    def other(call: Call) -> Answer:
        seen.append(is_blind(call))
        shown = asked(call)
        return Answer(
            text=json.dumps({"answer": "D" if "options" in shown else "دل"}) if is_blind(call) else SOUND
        )

    with (
        ScriptedServer(other) as one,
        ScriptedServer(other) as two,
        open_panel(auditors(one.url, two.url), settings()) as panel,
    ):
        some = [*items[:4], items[8], items[-1]]
        assert estimate(some, panel, journal).calls == 2 * 6
        assert estimate(some, panel, journal, blind=True).calls == 2 * (6 + 5)
        plain = audit_items(some, set(), panel, journal)
        assert seen.count(True) == 0
        assert {audit.blind_answer for audit in plain} == {""}
        blind = audit_items(some, set(), panel, journal, blind=True)
        assert seen.count(True) == 2 * 5
        assert estimate(some, panel, journal, blind=True).calls == 0
    told = {v.item: v for v in verdicts(some, [], blind, POLICIES["platinum"], {item.id for item in some})}
    gold_is_d = [item.id for item in items[:4] if item.gold == (3,)]
    assert {name for name, one in told.items() if one.status == "pass"} == {*gold_is_d, items[-1].id}
    assert all(one.reasons == ("blind_answer",) for one in told.values() if one.status == "flag")
    strict = verdicts(some, [], blind, POLICIES["strict"], {item.id for item in some})
    assert {one.status for one in strict} == {"pass"}
    assert "blind_answer" not in strict[0].rules


def test_one_dissenter_or_two_different_answers_prove_nothing(
    auditors: Callable[..., AuditorsConfig], journal: Journal
) -> None:
    item = choice(0)

    def says(letter: str) -> Callable[[Call], Answer]:
        return lambda call: Answer(text=json.dumps({"answer": letter}) if is_blind(call) else SOUND)

    for first, second, status in (
        ("B", "B", "flag"),
        ("B", "A", "pass"),
        ("B", "C", "pass"),
        ("?", "?", "pass"),
    ):
        mine = item.model_copy(
            update={"id": f"{item.id}-{first}{second}", "question": f"{item.question} {first}{second}"}
        )
        with (
            ScriptedServer(says(first)) as one,
            ScriptedServer(says(second)) as two,
            open_panel(auditors(one.url, two.url), settings()) as panel,
        ):
            audits = audit_items([mine], set(), panel, journal, blind=True)
        (found,) = verdicts([mine], [], audits, POLICIES["platinum"], {mine.id})
        assert found.status == status, (first, second)
