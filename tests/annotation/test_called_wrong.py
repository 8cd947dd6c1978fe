"""Whatever people do on the server, to their own answers and others': what all call wrong is not released."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mihakk.annotation.decisions.apply import apply
from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import decisions, doubted
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.offline import Offline
from mihakk.annotation.label_studio.project import Project
from mihakk.annotation.label_studio.pull import pull
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.teaching.rounds import Gate
from mihakk.machinery.ids import content_hash
from mihakk.pipeline.external_people import settled
from mihakk.pipeline.steps.review import unchecked
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import Round
from mihakk.schemas.item import Item
from tests.annotation.judged import NOON, answer, choice, review, verdict
from tests.annotation.pushed import chosen, typed

ITEM = choice()
TASKS = [review_task(ITEM), review_task(choice(1))]
SAYS = {
    "keep": [chosen("decision", "keep")],
    "keep, answer wrong": [chosen("decision", "keep"), chosen("failed", "answer_alignment")],
    "fix a": [chosen("decision", "fix"), chosen("fix_gold", "1")],
    "fix b": [chosen("decision", "fix"), typed("fix_question", "ما المقصود؟")],
    "fix nothing": [chosen("decision", "fix")],
    "fix what isn't there": [chosen("decision", "fix"), chosen("fix_gold", "7")],
    "discard": [chosen("decision", "discard"), chosen("reason", "ambiguous")],
    "discard, no reason": [chosen("decision", "discard")],
    "keep, wrong in words": [chosen("decision", "keep"), chosen("failed", "الجواب خاطئ")],
    "only ticks": [chosen("failed", "factual_accuracy")],
}
OBJECT = [said for said in SAYS if said != "keep"]
FORM = labelling("quality_review", "ar")
Event = tuple[str, str]
"""Who does what: `a` and `b` judge; `m` is a member who changes or deletes what `a` or `b` said last, makes it a
skip, takes it over, or imports an answer in their name."""


class Server:
    """What a pull sees of one task that three members work on."""

    url = "http://in.memory"

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.data, self.now, self.made = TASKS[0]["data"], NOON, 0
        self.saved: list[dict[str, Any]] = []
        self.touched = False

    def does(self, who: str, what: str) -> None:
        self.now += timedelta(minutes=5)
        self.touched = True
        number = {"a": 1, "b": 2, "m": 3}
        if who.isdecimal():
            changed = {"updated_at": self.now.isoformat(), "result": SAYS[what]}
            next(row for row in self.rows if row["id"] == int(who)).update(changed)
            return
        whose = number[what[-1] if who == "m" and what[-1] in number else who]
        mine = [row for row in self.rows if row["completed_by"] == whose and not row["was_cancelled"]]
        changed = {"updated_at": self.now.isoformat(), "updated_by": number[who]}
        if what in ("edits the task", "moves a"):
            other = (
                {"item_html": "<p>other</p>"}
                if what == "edits the task"
                else {"sample_id": "ar-x-0", "content_hash": ""}
            )
            self.data = {**self.data, **other}
        elif what == "deletes" or (who == "m" and what == "b"):
            self.rows = [row for row in self.rows if row not in mine[-1:]]
        elif what in ("takes it back", "cancels a", "takes over b"):
            for row in mine[-1:]:
                row.update(changed, was_cancelled=what != "takes over b")
                row["completed_by"] = 3 if what == "takes over b" else whose
        elif who == "m" and what in number:
            for row in mine[-1:]:
                row.update(changed, result=SAYS["keep"])
        elif mine and what in SAYS:
            mine[-1].update(changed, result=SAYS[what])
        else:
            self.made += 1
            made = {"id": self.made, "completed_by": whose, "lead_time": 9.0}
            spoken = what.removeprefix("again ").removesuffix(f" as {what[-1]}")
            said = {"was_cancelled": what == "skips", "result": SAYS.get(spoken, [])}
            changed["updated_by"] = None if who == "m" else whose
            self.rows.append({**made, **said, **changed, "created_at": self.now.isoformat()})

    def tasks(self) -> list[dict[str, Any]]:
        shown = [{"id": 1, "data": self.data, "annotations": self.rows}]
        return [*shown, {"id": 2, "data": TASKS[1]["data"], "annotations": []}]

    def read(self, path: str, **_: str) -> bytes:
        """The server exports no task without annotations."""
        return orjson.dumps([task for task in self.tasks() if task["annotations"]])

    def get(self, path: str, **_: str) -> Any:
        counts = {
            "annotators": [],
            "cancelled_annotations": 0,
            "total_annotations": 0,
            "overlap": 2,
            "is_labeled": False,
        }
        own, other = self.tasks()
        touched = {"updated_by": [{"user_id": 1}] if self.touched else []}
        return {"total": 2, "tasks": [{**own, **counts, **touched}, {**other, **counts}]}

    def users(self) -> dict[int, str]:
        return {number: f"p{number}@example.org" for number in (1, 2, 3)}


def released(events: Sequence[Event], pulls: Sequence[bool], status: str, overlap: int) -> list[Item]:
    """What a build, and an audit of a set, release of the item; every answer is pulled before it is undone."""
    server: Any = Server()
    project = Project(server, 1, "b:quality_review:ar", FORM, 2, "", False, "made")
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores.under(folder)
        for (who, what), also in zip(events, pulls, strict=True):
            server.does(who, what)
            if also or (who != "m" and what not in ("deletes", "takes it back")):
                pull(project, stores)
        pull(project, stores)
        return outcome(stores, status, overlap)


def outcome(stores: Stores, status: str, overlap: int) -> list[Item]:
    """What a build, and an audit of a set, release of the item by these stores."""
    reviews, doubts = decisions(stores), doubted(stores)
    (item,), done = fixed([ITEM], reviews, overlap)
    told = [unchecked(one) for one in resolve(reviews, {item.id: content_hash(item)}, overlap)]
    verdicts = [verdict(item.id, "pass" if done else status)]
    kept = apply([item], verdicts, told, reviews, doubted=doubts).kept
    held: Any = type("Set", (), {"items": [item]})
    _, left_out = settled(held, verdicts, reviews, ReviewConfig(overlap=overlap), doubts)
    return [*kept, *(one for one in [item] if one.id not in left_out)]


JUDGE = st.sampled_from([*OBJECT, "again discard", "skips"])
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("ab"), JUDGE), st.tuples(st.just("m"), st.sampled_from("ab")),
        st.sampled_from([("m", does) for does in ("edits the task", "cancels a", "takes over b", "keep as a", "keep as b")]),
        st.tuples(st.sampled_from("ab"), st.sampled_from(["deletes", "takes it back"])),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@example([("a", "fix nothing"), ("b", "fix nothing")], [True] * 2, "pass", 2)
@example([("a", "discard"), ("m", "a")], [True] * 2, "pass", 2)
@example([("a", "discard"), ("a", "deletes")], [True] * 2, "pass", 1)
@settings(max_examples=25, deadline=None)
@given(
    EVENTS,
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.sampled_from(["flag", "pass"]),
    st.integers(1, 2),
)
def test_what_all_called_wrong_is_not_released_as_it_was(
    events: list[Event], pulls: list[bool], status: str, overlap: int
) -> None:
    objected = any(what in OBJECT or what == "again discard" for _, what in events)
    out = released(events, pulls[: len(events)], status, overlap) if objected else []
    assert content_hash(ITEM) not in [content_hash(one) for one in out]


ON_SHEETS = {
    "keep": {"decision": "keep"},
    "keep, edited": {"decision": "keep", "fix_question": "ما المقصود؟"},
    "fix a": {"decision": "fix", "right": "2"},
    "fix b": {"decision": "fix", "fix_question": "ما المقصود؟"},
    "fix nothing": {"decision": "fix"},
    "fix what isn't there": {"decision": "fix", "right": "8"},
    "discard": {"decision": "discard", "reason": "ambiguous"},
    "discard, no reason": {"decision": "discard"},
    "discard, own reason": {"decision": "discard", "reason": "غلط"},
    "discard, edited": {"decision": "discard", "reason": "ambiguous", "right": "2"},
    "in another language": {"decision": "حذف"},
    "keep, wrong in words": {"decision": "keep", "failed": "الجواب خاطئ"},
    "only ticks": {"failed": "answer_alignment"},
    "only edited": {"fix_question": "ما المقصود؟"},
}
"""What a row of a sheet may hold."""
ACT = st.one_of(
    st.tuples(st.just("server"), st.sampled_from([*SAYS, "again keep", "again discard"])),
    st.tuples(st.just("sheet"), st.sampled_from(sorted(ON_SHEETS))),
)
LAST = ACT.filter(lambda act: act[1] not in ("keep", "again keep"))


@example(
    [("a", ("server", "keep")), ("b", ("server", "keep"))],
    {"a": ("sheet", "discard"), "b": ("sheet", "discard")},
    [False] * 9,
    "pass",
    2,
)
@example(
    [("a", ("sheet", "keep"))],
    {"a": ("sheet", "in another language"), "b": ("server", "discard")},
    [True] * 9,
    "pass",
    1,
)
@example([("b", ("server", "keep"))], {"b": ("sheet", "in another language")}, [False] * 9, "flag", 1)
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), ACT), max_size=4),
    st.fixed_dictionaries({"a": LAST}, optional={"b": LAST}),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.sampled_from(["flag", "pass"]),
    st.integers(1, 2),
)
def test_what_all_called_wrong_last_on_sheets_or_the_server_is_not_released_as_it_was(
    acts: list[tuple[str, Any]],
    last: dict[str, Any],
    pulls: list[bool],
    status: str,
    overlap: int,
) -> None:
    """Each row is taken when it is given; the server is pulled at times and at the end."""
    server: Any = Server()
    project = Project(server, 1, "b:quality_review:ar", FORM, 2, "", False, "made")
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores.under(folder)
        acts = [act for act in acts if act[0] in last] + list(last.items())
        for (who, (place, what)), also in zip(acts, pulls, strict=False):
            if place == "server":
                server.now = datetime.now(UTC) - timedelta(minutes=5)
                server.does(who, what)
            else:
                person = f"p{'ab'.index(who) + 1}@example.org"
                desk = Offline(TASKS, [ITEM, choice(1)], stores, ReviewConfig(overlap=overlap), person)
                desk.take([desk.row(TASKS[0]["data"]) | ON_SHEETS[what]])
            if also:
                pull(project, stores)
        pull(project, stores)
        out = outcome(stores, status, overlap)
    assert content_hash(ITEM) not in [content_hash(one) for one in out]


ROUND = Round(
    template="quality_review", language="ar", number=1, why="first", items=4, needed=3, begun_at=NOON
)
PULL = ("", "pull")
BACK = ("", "clock set back")
COPY, RESTORED = ("", "backup made"), ("", "backup restored")
GARBLED = ("", "dates of all answers are garbled")
OTHERS = ("", "work given to others")
AGAIN = ("", "calibration asked again")
LEAVE = ("", "everybody's account is deleted")
CHANGED_MINDS: list[list[Event]] = [
    [("a", "keep"), PULL, ("a", "discard"), ("m", "a"), PULL],
    [("a", "again keep"), BACK, ("a", "again discard"), PULL],
    [("a", "keep"), PULL, ("a", "discard"), BACK, ("m", "a"), PULL],
    [("a", "keep"), PULL, ("a", "again discard"), PULL, BACK, ("a", "again keep"), ("m", "a"), PULL],
    [("b", "again keep"), ("b", "again discard"), PULL, ("m", "b"), PULL],
    [("b", "again keep"), BACK, ("b", "again discard"), PULL, ("m", "b"), PULL],
    [("a", "again discard"), ("a", "again keep"), BACK, ("1", "fix a"), PULL],
    [("a", "again keep"), ("a", "again keep"), PULL, BACK, ("1", "discard"), ("2", "keep"), PULL],
    [("a", "again keep"), ("a", "again keep"), PULL, ("2", "discard"), BACK, ("1", "keep"), PULL],
    [("a", "discard"), OTHERS, PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "discard"), ("b", "discard"), OTHERS, PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "discard"), ("b", "discard"), AGAIN, PULL],
    [("a", "keep"), PULL, ("a", "discard"), ("a", "takes it back"), PULL],
    [("a", "keep"), PULL, ("a", "discard"), ("m", "cancels a"), PULL],
    [("b", "keep"), PULL, ("b", "discard"), ("m", "takes over b"), PULL],
    [("a", "discard"), ("m", "cancels a"), PULL],
    [("a", "discard"), PULL, ("m", "keep as a"), PULL],
    [("a", "keep"), PULL, ("a", "discard"), ("m", "moves a"), PULL],
    [("a", "keep, answer wrong"), ("b", "keep, answer wrong"), PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "discard"), ("b", "discard"), LEAVE, PULL],
    [("a", "keep, answer wrong"), ("b", "keep, answer wrong"), OTHERS, PULL],
    [("a", "keep"), PULL, ("a", "keep, answer wrong"), OTHERS, PULL],
    [("a", "keep"), PULL, ("a", "keep, answer wrong"), LEAVE, PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "keep, wrong in words"), ("b", "keep, wrong in words"), PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "only ticks"), ("b", "only ticks"), PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "discard"), ("b", "discard"), GARBLED, PULL],
    [("a", "discard"), ("b", "fix a"), GARBLED, PULL],
    [("a", "again keep"), ("a", "again keep"), BACK, ("1", "discard"), OTHERS, PULL],
    [("a", "keep"), COPY, ("a", "discard"), PULL, RESTORED, PULL],
    [("a", "discard"), ("a", "deletes"), PULL],
    [("m", "keep as a"), ("m", "keep as b"), PULL],
    [("a", "discard"), ("b", "discard"), ("m", "a"), ("m", "b"), PULL],
    [("a", "keep"), ("b", "keep"), PULL, ("a", "discard"), ("b", "discard"), ("m", "a"), ("m", "b"), PULL],
]
"""Somebody keeps the item and calls it wrong after that, or at once; another makes that a keep or deletes it, the
server's clock is set back or its backup restored, the answer is not theirs to give any more, or can't be read."""


@pytest.mark.parametrize("status", ["flag", "pass"])
@pytest.mark.parametrize("events", CHANGED_MINDS)
def test_who_may_have_changed_their_mind_keeps_nothing(events: list[Event], status: str, tmp_path) -> None:
    server: Any = Server()
    project = Project(server, 1, "b:quality_review:ar", FORM, 2, "", False, "made")
    stores, config, gate = Stores.under(str(tmp_path)), ReviewConfig(), None
    for event in events:
        if event == PULL:
            pull(project, stores, config, gate=gate)
        elif event == BACK:
            server.now -= timedelta(hours=3)
        elif event == COPY:
            server.saved = copy.deepcopy(server.rows)
        elif event == RESTORED:
            server.rows = server.saved
        elif event == GARBLED:
            for row in server.rows:
                row.update(updated_at="yesterday")
        elif event == OTHERS:
            config = ReviewConfig(people={"annotator-03": {"languages": ["ar"]}})
        elif event == LEAVE:
            for row in server.rows:
                row.update(completed_by=None, updated_by=None)
        elif event == AGAIN:
            gate = Gate([ROUND], [], ())
        else:
            server.does(*event)
    reviews, doubts = decisions(stores), doubted(stores)
    told = resolve(reviews, {ITEM.id: content_hash(ITEM)}, 1)
    assert apply([ITEM], [verdict(ITEM.id, status)], told, reviews, doubted=doubts).kept == []


def test_copies_are_corrected_with_the_one_that_people_saw() -> None:
    turned = {"options": ITEM.options[::-1], "gold": (1,)}
    same, order, other = (
        choice(id=f"ar-x-{number}", **more) for number, more in enumerate([{}, turned, {"gold": (1,)}])
    )
    votes = [
        review(ITEM, f"p{n}", "fix", corrections={"gold": "1", "question": "ما المقصود؟"}) for n in (1, 2)
    ]
    done, corrected = fixed([same, ITEM, order, other], votes, 2)
    assert [(one.question, one.options[one.gold[0]]) for one in done[:3]] == [
        ("ما المقصود؟", ITEM.options[1])
    ] * 3
    assert (done[3], corrected.keys()) == (other, {same.id, ITEM.id, order.id})
    words = [answer(id=f"fa-x-{number}") for number in range(2)]
    votes = [review(words[0], f"p{n}", "fix", corrections={"answer": "الا"}) for n in (1, 2)]
    assert [one.answer for one in fixed(words, votes, 2)[0]] == ["الا"] * 2
