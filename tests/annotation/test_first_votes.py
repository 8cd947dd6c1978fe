"""Agreement rests on first independent answers, recounted from Label Studio's own export without our code."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import krippendorff
import numpy as np
import pytest

from mihakk.annotation.campaigns.questions import option_question
from mihakk.annotation.decisions.first_votes import first_answers, is_edited
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.store import decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.project import Project
from mihakk.annotation.label_studio.pull import Pulled, pull
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import question_hash, review_task
from mihakk.annotation.statistics.agreement import PeopleAgreement
from mihakk.annotation.statistics.review_report import review_report
from mihakk.schemas.benchmark import ReviewConfig
from tests.annotation.exported import Export, result
from tests.annotation.judged import NOON, choice, review

ITEMS = [choice(n) for n in range(60)]
PEOPLE = 3
TEMPLATES = {
    "distractor_rating": ("plausibility", "ordinal", "012"),
    "quality_review": ("decision", "nominal", ("keep", "discard")),
}


class Server:
    """Label Studio as its export shows it: only the newest result of every annotation."""

    def __init__(self, template: str, tasks: Iterable[dict[str, Any]]) -> None:
        self.template, self.number = template, 0
        self.tasks = [
            {"id": n, "data": one["data"], "annotations": [], "drafts": []} for n, one in enumerate(tasks, 1)
        ]
        self.now = NOON

    def values(self, value: str) -> list[dict[str, Any]]:
        more = {"reason": "other"} if value == "discard" else {}
        return result({TEMPLATES[self.template][0]: value, **more})

    def answer(self, task: int, person: int, value: str) -> dict[str, Any]:
        self.now += timedelta(minutes=2)
        self.number += 1
        at = self.now.isoformat()
        row = {
            "id": self.number, "completed_by": person, "updated_by": person, "was_cancelled": False,
            "result": self.values(value), "created_at": at, "updated_at": at, "lead_time": 9.0,
        }  # fmt: skip
        self.tasks[task]["annotations"].append(row)
        self.tasks[task]["drafts"].append({"result": self.values(value), "created_at": at})
        return row

    def edit(self, row: dict[str, Any], value: str) -> None:
        self.now += timedelta(minutes=2)
        row |= {"result": self.values(value), "updated_at": self.now.isoformat(), "lead_time": 30.0}

    def pull(self, stores: Stores) -> Pulled:
        export: Any = Export(self.tasks, PEOPLE)
        words = labelling(self.template, "ar")
        project = Project(export, 1, f"b:{self.template}:ar", words, PEOPLE, "", False, "made")
        object.__setattr__(project, "held", lambda: [_Held(one["id"]) for one in self.tasks])
        found = pull(project, stores, ReviewConfig())
        assert not found.rejected, found.rejected
        return found


class _Held:
    touched = False

    def __init__(self, task: int) -> None:
        self.task = task


def served(template: str) -> Server:
    """Two people's answers to sixty questions; they agree on two of three."""
    draw = random.Random(4)
    made = [
        review_task(item) if template == "quality_review" else option_question(item, 1).task()
        for item in ITEMS
    ]
    server = Server(template, made)
    values = TEMPLATES[template][2]
    for place in range(len(ITEMS)):
        one = draw.choice(values)
        server.answer(place, 1, one)
        server.answer(place, 2, one if draw.random() < 0.6 else draw.choice(values))
    return server


def recounted(exported: Iterable[Mapping[str, Any]], template: str, people: Iterable[int] = (1, 2)) -> float:
    """Alpha from an export alone: of each person's annotations the one made first, if it was never changed."""
    name, level, values = TEMPLATES[template]
    columns = []
    for task in exported:
        first: dict[int, Mapping[str, Any]] = {}
        for row in sorted(task["annotations"], key=lambda row: row["created_at"]):
            first.setdefault(row["completed_by"], row)
        column = dict.fromkeys(people, np.nan)
        for person in column:
            row = first.get(person)
            if row is None or _seconds(row) > 60:
                continue
            region = next(one for one in row["result"] if one["from_name"] == name)
            chosen = region["value"].get("choices") or [str(region["value"].get("rating"))]
            column[person] = [*values].index(chosen[0])
        columns.append([*column.values()])
    return float(krippendorff.alpha(np.array(columns, dtype=float).T, level_of_measurement=level))


def _chosen(row: Mapping[str, Any]) -> str:
    region = next(one for one in row["result"] if one["from_name"] == "decision")
    return str(region["value"]["choices"][0])


def _seconds(row: Mapping[str, Any]) -> float:
    changed, made = (datetime.fromisoformat(row[name]) for name in ("updated_at", "created_at"))
    return (changed - made).total_seconds()


def told(stores: Stores, template: str, **how: Any) -> PeopleAgreement:
    rows = review_report(stores, ITEMS, [], seed=1, **how).agreement
    (row,) = [
        row
        for row in rows
        if (row.project, row.label, row.group) == (template, TEMPLATES[template][0], "all")
    ]
    return row


@pytest.mark.parametrize("template", TEMPLATES)
def test_agreement_is_that_of_the_export_and_edits_after_the_pull_change_only_what_discussion_left(
    tmp_path, template: str
) -> None:
    server, stores = served(template), Stores.under(str(tmp_path))
    expected = recounted(server.tasks, template)
    server.pull(stores)
    assert told(stores, template).alpha == pytest.approx(expected)
    for task in server.tasks:
        one, other = task["annotations"]
        said = one["result"][0]["value"]
        server.edit(other, str((said.get("choices") or [said.get("rating")])[0]))
    server.pull(stores)
    row = told(stores, template)
    assert (row.alpha, row.alpha_after) == (pytest.approx(expected), 1.0)
    assert (row.edited, row.items) == (0, len(ITEMS))


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_was_changed_before_the_first_pull_is_counted_apart(tmp_path, template: str) -> None:
    server, stores = served(template), Stores.under(str(tmp_path))
    for task in server.tasks[:10]:
        one, other = task["annotations"]
        said = one["result"][0]["value"]
        server.edit(other, str((said.get("choices") or [said.get("rating")])[0]))
    server.pull(stores)
    row = told(stores, template)
    assert (row.edited, row.items) == (10, 50)
    assert row.alpha == pytest.approx(recounted(server.tasks, template))
    assert row.alpha_after > row.alpha
    if template == "quality_review":
        votes = [one for one in decisions(stores) if is_edited(one)]
        assert len(votes) == 10


@pytest.mark.parametrize("template", TEMPLATES)
def test_of_several_annotations_by_one_person_the_first_is_independent_and_the_last_counts(
    tmp_path, template: str
) -> None:
    """But no keep stands behind an objection that came with it: no clock says which of them was later."""
    server, stores = served(template), Stores.under(str(tmp_path))
    expected = recounted(server.tasks, template)
    for place, task in enumerate(server.tasks):
        said = task["annotations"][0]["result"][0]["value"]
        server.answer(place, 2, str((said.get("choices") or [said.get("rating")])[0]))
    found = server.pull(stores)
    assert (found.superseded, found.read) == (60, 120)
    for task in server.tasks:
        first, last = (row for row in task["annotations"] if row["completed_by"] == 2)
        stays = template == "quality_review" and _chosen(last) == "keep" != _chosen(first)
        task["annotations"].remove(last if stays else first)
    after = recounted(server.tasks, template)
    assert (after == 1.0) == (template != "quality_review")
    row = told(stores, template)
    assert (row.alpha, row.alpha_after) == (pytest.approx(expected), pytest.approx(after))


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_adjudicator_is_in_no_agreement_whenever_they_answer(tmp_path, template: str) -> None:
    stores, server = Stores.under(str(tmp_path)), served(template)
    expected = recounted(server.tasks, template)
    early = served(template)
    for place, task in enumerate(early.tasks):
        row = early.answer(place, 3, TEMPLATES[template][2][0])
        row |= {"created_at": NOON.isoformat(), "updated_at": NOON.isoformat()}
        task["annotations"].reverse()
    early.pull(stores)
    row = told(stores, template, adjudicators=["annotator-03"])
    assert (row.alpha, row.people) == (pytest.approx(expected), 2)
    assert row.alpha_after == pytest.approx(expected)


@pytest.mark.parametrize("template", TEMPLATES)
def test_who_deletes_an_answer_and_gives_another_has_no_first_one(tmp_path, template: str) -> None:
    server, stores = served(template), Stores.under(str(tmp_path))
    server.pull(stores)
    for place, task in enumerate(server.tasks[:10]):
        one, other = task["annotations"]
        task["annotations"].remove(other)
        said = one["result"][0]["value"]
        server.answer(place, 2, str((said.get("choices") or [said.get("rating")])[0]))
    assert server.pull(stores).withdrawn == 10
    row = told(stores, template)
    assert row.items == 50
    assert row.alpha == pytest.approx(recounted(server.tasks[10:], template))


def test_first_answers_keep_all_labels_of_one_answer_together() -> None:
    def label(name: str, value: str, minute: int) -> Label:
        return Label(
            subject="s", content_hash="h", annotator="p", template="connotation", name=name, value=value,
            decided_at=NOON + timedelta(minutes=minute),
        )  # fmt: skip

    rows = [label("idiom", "neutral", 0), label("explanation", "neutral", 0), label("idiom", "positive", 9)]
    assert first_answers(rows) == rows[:2]


def test_an_own_answer_changed_after_the_review_showed_the_reference_is_left_out_though_the_review_was_changed_too() -> (
    None
):
    item = choice()
    made = {"created_at": NOON}
    given = Label(
        subject=item.id, content_hash=question_hash(item), annotator="a", template="own_answer", name="own",
        value="0", decided_at=NOON + timedelta(minutes=5), **made,
    )  # fmt: skip
    seen = review(item, "a", minute=9).model_copy(update={"created_at": NOON + timedelta(minutes=2)})
    assert own_answers([given], [seen]) == {}
