"""People answer before they review: nothing sent tells the answer, no review comes first, what counts is said."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import orjson
import pytest
from scipy.stats import binomtest

from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.store import decisions, labels
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio import benchmark_push
from mihakk.annotation.label_studio.push import Pushed
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import own_answer_task, question_hash, review_task
from mihakk.annotation.statistics.human_accuracy import (
    answered_items,
    human_accuracy,
    is_right,
    wrong_answers,
)
from mihakk.annotation.statistics.review_markdown import markdown
from mihakk.annotation.statistics.review_report import review_report
from mihakk.annotation.statistics.sampling import QueueEntry
from mihakk.releases.card.audit_section import audit_section
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.benchmark import CalibrationConfig, ReviewConfig
from mihakk.schemas.campaign import Campaign
from tests.annotation.exported import pulled
from tests.annotation.judged import NOON, answer, choice, explanation, review, verdict

HIDE = ReviewConfig(hide_gold=True, overlap=2)


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path / "review"))


def said(item, person: str, value: str, *, minute: int = 0, name: str = "own") -> Label:
    return Label(
        subject=item.id,
        content_hash=question_hash(item),
        annotator=person,
        template="own_answer",
        name=name,
        value=value,
        decided_at=NOON + timedelta(minutes=minute),
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (choice(), choice(gold=(1,))),
        (answer(), answer(answer="دیگری", accepted=())),
        (
            choice(),
            choice(
                metadata={"poet": "hafez", "era": "x"}, attribution="a", licence="b", fields={"poet": "p"}
            ),
        ),
    ],
)
def test_nothing_that_is_sent_depends_on_the_answer_or_tells_of_the_source(one, other):
    assert orjson.dumps(own_answer_task(one)) == orjson.dumps(own_answer_task(other))
    sent = str(own_answer_task(one))
    assert "key" not in sent
    assert "✓" not in sent
    assert "CC-BY" not in sent
    assert one.question in sent
    assert all(option in sent for option in getattr(one, "options", ()))
    if one.kind == "answer":
        assert one.answer not in sent
    assert str(review_task(one)) != str(review_task(other)), "the review does tell"


class Server:
    """What pushes bring, project by project."""

    def __init__(self, monkeypatch) -> None:
        self.projects: dict[str, list[dict[str, Any]]] = {}
        monkeypatch.setattr(benchmark_push, "find_projects", lambda *_: [])
        monkeypatch.setattr(benchmark_push, "ensure_project", lambda _, __, template, *___, **____: template)
        monkeypatch.setattr(benchmark_push, "push", self._push)

    def _push(self, template: str, tasks: list[dict[str, Any]], **_: Any) -> Pushed:
        self.projects[template] = tasks
        return Pushed(created=len(tasks))

    def asked(self, template: str) -> set[str]:
        return {task["data"]["sample_id"] for task in self.projects.get(template, ())}


def push(items, stores: Stores, config: ReviewConfig = HIDE) -> dict[str, Pushed]:
    return benchmark_push.push_review(
        None, "b", items, [verdict(item.id) for item in items], [], audits=[],
        stores=stores, seed=7, attention_every=0, config=config,
    )  # fmt: skip


def test_a_review_is_pushed_when_as_many_have_answered_its_question_as_are_to_review_it(stores, monkeypatch):
    server, items = Server(monkeypatch), [choice(0), choice(1), explanation(), choice(2, gold=(0, 1))]
    first, second, verses, several = items
    pushed = push(items, stores)
    assert {name: (what.left, what.why_left) for name, what in pushed.items()} == {
        "own_answer ar": (2, "unanswered"),
        "ar": (0, ""),
    }
    assert server.asked("own_answer") == {first.id, second.id}
    assert server.asked("quality_review") == {verses.id, several.id}, "what has no one answer waits for none"
    tasks = [own_answer_task(first), own_answer_task(second)]
    pulled(stores, "own_answer", tasks, {first.id: [{"own": "0"}, {"own": "1"}], second.id: [{"own": "0"}]})
    server.projects.clear()
    push(items, stores)
    assert server.asked("quality_review") == {first.id, verses.id, several.id}
    corrected = first.model_copy(update={"gold": (1,)})
    push([corrected, second, verses, several], stores)
    assert corrected.id in server.asked("quality_review"), "who has seen the answer is not asked again"
    reworded = first.model_copy(update={"question": "ما المقصود؟"})
    push([reworded, second, verses, several], stores)
    assert reworded.id not in server.asked("quality_review")
    push(items, stores, ReviewConfig())
    assert server.asked("quality_review") == {item.id for item in items}
    assert all("own_question" not in task["data"] for task in server.projects["quality_review"])


def test_the_decision_keeps_the_own_answer_and_who_judged_without_one_is_named(stores):
    item = choice()
    pulled(stores, "own_answer", [own_answer_task(item)], {item.id: [{"own": "1"}, None]})
    task = review_task(item, after_answer=True)
    found = pulled(
        stores, "quality_review", [task], {item.id: [{"decision": "keep"}] * 2}, day=2, config=HIDE
    )
    assert [row.own_answer for row in decisions(stores)] == ["1", ""]
    assert +found.unanswered == Counter({"annotator-02": 1})
    plain = choice(1)
    pulled(
        stores, "quality_review", [review_task(plain)], {plain.id: [{"decision": "keep"}]}, day=3, config=HIDE
    )
    assert decisions(stores)[-1].own_answer is None, "it was pushed before answers were asked for"


def test_only_first_answers_from_before_the_review_count():
    item = choice()
    given = [
        said(item, "a", "1"),
        said(item, "a", "0", minute=30),  # changed when the review had shown the answer
        said(item, "b", "0", minute=30),
        said(item, "c", "unknown"),
    ]
    reviews = [review(item, "a", minute=20), review(item, "b", minute=20)]
    assert own_answers(given, reviews) == {(item.id, question_hash(item)): {"a": "1", "c": "unknown"}}


def test_words_are_right_whatever_their_marks_and_options_by_their_place():
    asked = answer(answer="ناوِلْها", accepted=("نوشیدنِ می",))
    assert [is_right(asked, text) for text in ("ناولها", "نوشیدن می.", "نوشیدن", "unknown")] == [
        True,
        True,
        False,
        False,
    ]
    assert [is_right(choice(gold=(1,)), text) for text in ("1", "0", "unknown")] == [True, False, False]


def test_accuracy_is_the_exact_share_and_its_interval_holds_the_truth():
    """200 sets of 60 questions, people of whom each knows the answer to a question with .8: both of them or none."""
    items = [choice(n) for n in range(60)]
    queued = [QueueEntry(item, "sample").queued() for item in items]
    draw, held = random.Random(5), 0
    for _ in range(200):
        known = {item.id: draw.random() < 0.8 for item in items}
        given = [
            said(item, person, "0" if known[item.id] else "1") for item in items for person in ("a", "b")
        ]
        row, *_ = human_accuracy(items, own_answers(given), queued)
        hits = sum(known.values())
        exact = binomtest(hits, 60).proportion_ci(0.95, "exact")
        assert (row.group, row.questions, row.answers) == ("sampled", 60, 120)
        assert (row.accuracy, row.low, row.high) == pytest.approx(
            (hits / 60, exact.low, exact.high), abs=1e-9
        )
        held += row.low <= 0.8 <= row.high
    assert held >= 190, "answers to one question are no independent cases"


def test_report_and_card_tell_of_it_and_the_lead_sees_who_answered_otherwise(stores):
    items = [choice(0), choice(1), answer()]
    given = {
        items[0].id: [{"own": "0"}, {"own": "1"}],
        items[1].id: [{"own": "unknown"}, {"own": "0"}],
    }
    pulled(stores, "own_answer", [own_answer_task(item) for item in items[:2]], given)
    pulled(stores, "own_answer", [own_answer_task(items[2])], {items[2].id: [{"typed": "ناولها"}]})
    report = review_report(stores, items, [], seed=1)
    rows = {row.group: row for row in report.human_accuracy}
    assert (rows["flagged"].accuracy, rows["flagged"].answers, rows["flagged"].unknown) == (2 / 3, 5, 1)
    assert rows["annotator-02"].accuracy == 0.5
    assert set(report.doubted) == {items[0].id}
    assert "annotator-02" in report.doubted[items[0].id][0]
    assert "يعمل في الحقل كل يوم" in markdown(report)
    facts = tuple(row for row in report.human_accuracy if not row.by_person)
    card = audit_section(ReleaseFacts(code_version="v", human_accuracy=facts), {}, {})
    assert "66.7%" in card
    assert "annotator" not in card.replace("annotators", "")
    answered = list(answered_items(items, own_answers(labels(stores))))
    arabic, persian = wrong_answers(answered), wrong_answers(answered, "fa")
    assert arabic[items[0].id][0].startswith("أجاب annotator-02")
    assert "پاسخ دیگری" in persian[items[0].id][0]


def test_a_push_says_what_it_left_out():
    from rich.console import Console

    from mihakk.flows.commands.review_output import show_pushed, unasked

    campaigns = (Campaign(template="connotation"), Campaign(template="distractor_rating"))
    config = ReviewConfig(campaigns=campaigns, calibration=CalibrationConfig())
    pushed = {
        "own_answer ar": Pushed(left=3, why_left="unanswered"),
        "distractor_rating ar": Pushed(left=7, why_left="size"),
        "calibration quality_review ar": Pushed(created=12),
    }
    console = Console(record=True, width=200)
    show_pushed(pushed, console)
    said = console.export_text()
    assert "own_answer ar: 3 reviews follow once their questions are answered" in said
    assert "distractor_rating ar: 7 questions were not drawn" in said
    assert [line.partition(":")[0] for line in unasked(pushed, campaigns, config)] == [
        "connotation",
        "calibration connotation",
        "calibration distractor_rating",
    ]
