"""People judge the languages and dialects that the config gives them, in a project each, and nothing else."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mihakk.annotation.campaigns.disputes import disputes
from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.benchmark_push import push_review
from mihakk.annotation.label_studio.exchange import pull_review, review_progress
from mihakk.annotation.label_studio.project import find_project, find_projects
from mihakk.machinery.ids import content_hash
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.rejection import Rejection
from tests.annotation.judged import NOON, answer, choice, review, verdict
from tests.annotation.pushed import DISCARD, KEEP, miscount

CONFIG = ReviewConfig(
    overlap=2,
    people={
        "annotator-01": {"languages": ["ar"], "dialects": ["egyptian", "gulf"]},
        "annotator-02": {"languages": ["ar"]},
        "annotator-03": {"languages": ["ar"], "dialects": ["gulf"]},
    },
    adjudicators=("annotator-04",),
)


def test_texts_go_to_those_whose_language_and_dialect_they_are():
    assert CONFIG.judges_of("ar", "egyptian") == ["annotator-01", "annotator-02"]
    assert CONFIG.judges_of("ar", "gulf") == ["annotator-01", "annotator-02", "annotator-03"]
    assert CONFIG.judges_of("ar", "sudanese") == ["annotator-02"]
    assert CONFIG.judges_of("ar", "") == ["annotator-01", "annotator-02", "annotator-03"]
    assert CONFIG.judges_of("fa", "") == []
    assert CONFIG.may_judge("annotator-04", "fa", ""), "an adjudicator judges everything"
    assert not CONFIG.may_judge("annotator-09", "ar", ""), "nor does anybody who is not listed"
    assert ReviewConfig().may_judge("annotator-09", "ar", "gulf")
    assert [CONFIG.votes_on("ar", dialect) for dialect in ("egyptian", "gulf", "sudanese")] == [2, 2, 1]
    assert CONFIG.votes_on("ar", "gulf", 5) == 3
    assert ReviewConfig().votes_on("ar", "gulf", 5) == 5


def test_nobody_is_named_by_an_address_in_a_config():
    with pytest.raises(ValidationError, match="mihakk review person"):
        ReviewConfig(people={"layla@example.org": {}})


def test_an_item_needs_no_more_votes_than_people_are_assigned_to_it():
    item = choice(0)
    hashes = {item.id: content_hash(item)}
    alone = review(item, "annotator-02", "discard", reason="ambiguous", assigned=1)
    (told,) = resolve([alone], hashes, 2)
    assert (told.outcome, told.by) == ("discard", "single")
    (told,) = resolve([alone.model_copy(update={"assigned": 3})], hashes, 2)
    assert (told.outcome, told.reason) == ("unresolved", "1 of 2 decisions")


@pytest.mark.parametrize(("assigned", "stuck"), [(2, True), (3, False), (None, False)])
def test_a_dispute_is_stuck_when_everybody_assigned_has_answered(assigned, stuck):
    item = choice(0)
    votes = [
        review(item, who, said, assigned=assigned, minute=n)
        for n, (who, said) in enumerate([("annotator-01", "keep"), ("annotator-02", "discard")])
    ]
    key = (item.id, content_hash(item))
    (told,) = resolve(votes, dict([key]), 2)
    (one,) = disputes({key: votes}, {key: told}, ReviewConfig())
    assert one.stuck is stuck


ITEMS = [
    *(choice(n) for n in range(3)),
    *(choice(n, dialect="gulf") for n in (3, 4)),
    choice(5, dialect="sudanese"),
    choice(6, dialect=""),
    answer(1),
]


@pytest.mark.services
@pytest.mark.timeout(600)
def test_assigned_people_get_projects_of_their_own_and_others_are_refused(
    connection, label_studio, members, tmp_path
):
    stores = Stores.under(str(tmp_path))
    assert list(pseudonyms(stores.people, {one.id: one.email for one in members}).values()) == list(
        CONFIG.people
    )

    def push(config):
        return push_review(
            connection,
            "assigned",
            ITEMS,
            [verdict(item.id) for item in ITEMS],
            [],
            audits=[],
            stores=stores,
            seed=1,
            config=config,
            attention_every=0,
        )

    def pull():
        return pull_review(connection, "assigned", stores=stores, config=CONFIG)

    def tasks(dialect):
        project = find_project(connection, "assigned", "quality_review", "ar", dialect)
        return project, {held.sample: held for held in project.held() if not held.labeled}

    push(ReviewConfig(overlap=2))
    _, everything = tasks("")
    assert len(everything) == 7
    task = everything[ITEMS[3].id].task
    members[1].annotate(task, KEEP)  # a gulf item, before anybody was assigned
    miscount(label_studio, task, total_annotations=0)

    pushed = push(CONFIG)
    assert {name: (what.created, what.unchanged, what.withdrawn, what.nobody) for name, what in pushed.items()} == {
        "ar": (0, 2, 5, 0),
        "ar egyptian": (3, 0, 0, 0),
        "ar gulf": (1, 0, 0, 0),
        "ar sudanese": (1, 0, 0, 0),
        "fa": (0, 0, 1, 1),
    }  # fmt: skip
    assert pushed["ar egyptian"].judges == ("annotator-01", "annotator-02")
    assert {one.name: one.overlap for one in find_projects(connection, "assigned")} == {
        "assigned:quality_review:ar": 2,
        "assigned:quality_review:ar:egyptian": 2,
        "assigned:quality_review:ar:gulf": 2,
        "assigned:quality_review:ar:sudanese": 1,
        "assigned:quality_review:fa": 1,
    }

    egyptian, open_tasks = tasks("egyptian")
    members[0].annotate(open_tasks[ITEMS[0].id].task, KEEP)
    members[2].annotate(open_tasks[ITEMS[0].id].task, DISCARD)  # the free server opens it to everybody
    members[2].annotate(open_tasks[ITEMS[1].id].task, DISCARD)
    members[0].annotate(open_tasks[ITEMS[1].id].task, KEEP)
    _, sudanese = tasks("sudanese")
    members[1].annotate(sudanese[ITEMS[5].id].task, DISCARD)
    pulled = pull()
    one = pulled.by_project["assigned:quality_review:ar:egyptian"]
    assert (dict(one.outside), one.rejected["not_assigned"], one.read) == ({"annotator-03": 2}, 2, 2)
    assert [row.reason for row in stored(stores.rejected, Rejection)] == ["not_assigned"] * 2
    assert {(row.item, row.annotator) for row in decisions(stores)} == {
        (ITEMS[0].id, "annotator-01"),
        (ITEMS[1].id, "annotator-01"),
        (ITEMS[3].id, "annotator-02"),
        (ITEMS[5].id, "annotator-02"),
    }
    assert pulled.settled == 1, "the Sudanese item has the one vote that anybody can give"
    assert pulled.reopened == 2, "who was refused takes nobody's place"
    assert members[1].next_task(egyptian.id) in {open_tasks[ITEMS[n].id].task for n in (0, 1)}

    rows = {row.project: row for row in review_progress(connection, "assigned", stores, CONFIG, NOON)}
    assert rows["assigned:quality_review:ar:gulf"].judges == "annotator-01 annotator-02 annotator-03"
    assert rows["assigned:quality_review:ar:sudanese"].done == 1
    again = push(CONFIG)
    assert {(what.created, what.withdrawn) for what in again.values()} == {(0, 0)}
