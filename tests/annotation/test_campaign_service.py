"""Campaigns on a real Label Studio: pushed, answered in a browser and in bulk, pulled, built again."""

from __future__ import annotations

import pytest

from mihakk.annotation.decisions.store import stored
from mihakk.annotation.label_studio.project import find_project
from mihakk.pipeline.campaigns import push_campaigns
from mihakk.pipeline.opened_review import review_of
from mihakk.pipeline.people import review_stores
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.evaluation import Answer
from tests.annotation.exported import result
from tests.annotation.test_browser import Screen
from tests.pipeline.campaign_round import built, opened

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

SYSTEMS = ("falcon-h1", "jais-30b")


def test_ratings_and_scores_go_out_and_come_home(tmp_path, connection, members, browser, screenshots):
    from mihakk.evaluation.rows import write_rows

    replies = tmp_path / "replies" / "answers.parquet"
    build = opened(
        tmp_path,
        "meaning_choice",
        "completion",
        overlap=2,
        campaigns=[
            {"template": "distractor_rating", "size": 6, "least_mean": 1.0},
            {"template": "answer_correctness", "size": 6, "rows": str(replies.parent), "overlap": 1},
        ],
    )
    before = built(build)
    asked = [item for item in before.values() if item.task == "completion"][:3]
    common = {
        "content_hash": "h",
        "release": "round",
        "version": "1",
        "digest": "d",
        "config": "c",
        "group": "g",
    }
    rows = [
        Answer(
            item=item.id, task=item.task, kind="answer", language="ar", model=model, reply="كلمة", **common
        )
        for item in asked
        for model in SYSTEMS
    ]
    write_rows(replies, rows, Answer)
    campaigns = build.config.review.campaigns
    pushed = push_campaigns(review_of(build), connection, campaigns)
    assert {name: what.created for name, what in pushed.items()} == {
        "distractor_rating ar": 6,
        "answer_correctness ar": 6,
    }
    again = push_campaigns(review_of(build), connection, campaigns)
    assert {name: (what.created, what.unchanged, what.withdrawn) for name, what in again.items()} == {
        "distractor_rating ar": (0, 6, 0),
        "answer_correctness ar": (0, 6, 0),
    }
    first, second, third = members
    ratings = find_project(connection, build.config.name, "distractor_rating", "ar")
    poor = ratings.held()[0]
    for person in (first, second):
        for held in ratings.held():
            mark = "0" if held.sample == poor.sample else "2"
            person.annotate(held.task, result({"plausibility": mark}))
    scores = find_project(connection, build.config.name, "answer_correctness", "ar")
    screen = Screen(browser, third, scores, screenshots)
    page = screen.page
    assert not any(system in page.content() for system in SYSTEMS)
    screen.shot("campaign-answer-correctness")
    screen.press("2")
    screen.submit()
    page.goto(f"{screen.url}/projects/{scores.id}/data")
    page.wait_for_timeout(4000)
    screen.shot("campaign-data-manager")
    assert not any(system in page.content() for system in SYSTEMS), "nor does the table of tasks tell"
    screen.close()

    pulled = review_of(build).pull(connection)
    assert {name.split(":")[1]: len(one.labels) for name, one in pulled.by_project.items()} == {
        "distractor_rating": 12,
        "answer_correctness": 1,
    }
    after = built(build)
    drawn = {row.subject: row for row in stored(review_stores(build).campaigns, Drawn)}
    changed = {after[item].origin.records[0] for item in after if after[item] != before[item]}
    assert changed == {drawn[poor.sample].record}
    pushed = push_campaigns(review_of(build), connection, campaigns)
    assert pushed["distractor_rating ar"].created == 1, "the new option comes before people"
