"""Review on a real Label Studio: pushed, answered by three people, pulled, resolved; also when things break."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from mihakk.annotation.decisions.apply import apply
from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import decisions, doubted, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import words
from mihakk.annotation.label_studio.benchmark_push import push_review
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import ReviewPulled, counted, pull_review
from mihakk.annotation.label_studio.project import ensure_project, find_project, find_projects
from mihakk.annotation.label_studio.pull import pull
from mihakk.annotation.label_studio.push import push
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.statistics.sampling import Queued
from mihakk.flows.commands.review_output import show_pulled
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.rejection import Rejection
from tests.annotation.judged import answer, audit, choice, finding, verdict
from tests.annotation.pushed import DISCARD, KEEP, chosen, miscount, pushed_project, typed
from tests.annotation.signed_up import sign_up

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path / "review"))


def test_three_people_review_sixty_tasks(connection, members, stores):
    items = [choice(n) for n in range(100)]
    flagged = items[:50]
    verdicts = [verdict(item.id, "flag" if item in flagged else "pass") for item in items]
    findings = [finding(item.id) for item in flagged]
    audits = [audit(item.id, who) for item in items for who in ("first", "second")]
    config = ReviewConfig(overlap=2, miss_rate_sample=7)
    options = {"stores": stores, "seed": 3, "config": config}
    pushed = push_review(connection, "sixty", items, verdicts, findings, audits=audits, **options)
    assert pushed["ar"].created == 88
    again = push_review(connection, "sixty", items, verdicts, findings, audits=audits, **options)
    assert (again["ar"].created, again["ar"].unchanged, again["ar"].withdrawn) == (0, 88, 0)
    why = {row.item: row for row in stored(stores.queued, Queued)}
    assert Counter(row.why for row in why.values()) == {"flagged": 50, "sample": 7, "attention": 31}

    project = find_project(connection, "sixty", "quality_review", "ar")
    first, second, third = members
    seen: dict[str, set[int]] = {}
    for person in (first, second):
        seen[person.email] = set()
        for held in project.held():
            assert held.annotations < 2
            result = KEEP
            if why[held.sample].why == "attention" or held.sample == flagged[1].id:
                result = DISCARD
            if held.sample == flagged[2].id:
                result = [chosen("decision", "fix"), typed("fix_question", "ما المقصود بقولهم «إيده طويلة»؟")]
            if held.sample == flagged[0].id and person is second:
                result = DISCARD
            person.annotate(held.task, result)
    assert third.next_task(project.id) is None, "two people are enough where they agree"

    pulled = pull_review(connection, "sixty", stores=stores, config=config)
    assert (len(pulled.by_project[project.name].reviews), pulled.reopened) == (176, 1)
    assert (pulled.settled, pulled.short, pulled.deadlocked) == (56, 0, ())
    assert counted(pull_review(connection, "sixty", stores=stores, config=config))["decisions"] == 0
    assert len(decisions(stores)) == 176

    disputed = next(held for held in project.held() if held.sample == flagged[0].id)
    assert third.next_task(project.id) == disputed.task, "the disputed task is open for one more person"
    third.annotate(disputed.task, DISCARD)
    assert third.next_task(project.id) is None
    assert counted(pull_review(connection, "sixty", stores=stores, config=config))["decisions"] == 1

    reviews = decisions(stores)
    people = {review.annotator for review in reviews}
    assert len(people) == 3
    assert all(re.fullmatch(r"annotator-\d\d", person) for person in people)
    resolutions = {row.item: row for row in resolve(reviews, {item.id: content_hash(item) for item in items})}
    assert Counter(row.outcome for row in resolutions.values()) == {"keep": 54, "discard": 2, "fix": 1}
    assert (resolutions[flagged[0].id].by, resolutions[flagged[1].id].by) == ("majority", "agreement")
    reviewed = apply(items, verdicts, resolutions.values(), reviews)
    assert {gone.record: gone.reason for gone in reviewed.removed} == {
        **dict.fromkeys([flagged[0].id, flagged[1].id], "discarded_ambiguous"),
        flagged[2].id: "unresolved",
    }
    assert reviewed.waiting == (flagged[2].id,)
    corrected, _ = fixed(items, reviews, 2)
    assert next(item for item in corrected if item.id == flagged[2].id).question.startswith("ما المقصود")


def test_people_answer_before_they_review(connection, members, stores):
    items = [choice(0), choice(1)]
    config = ReviewConfig(overlap=2, hide_gold=True)

    def push_all() -> dict[str, int]:
        pushed = push_review(
            connection, "hidden", items, [verdict(item.id) for item in items], [], audits=[],
            stores=stores, seed=3, config=config, attention_every=0,
        )  # fmt: skip
        return {name: what.created for name, what in pushed.items()}

    def tasks(template: str) -> dict[str, int]:
        project = find_project(connection, "hidden", template, "ar")
        return {held.sample: held.task for held in project.held()} if project else {}

    def pull_all() -> ReviewPulled:
        return pull_review(connection, "hidden", stores=stores, config=config)

    first, second, third = members
    assert push_all() == {"own_answer ar": 2}
    asked = tasks("own_answer")
    for person, option in ((first, "0"), (second, "1")):
        person.annotate(asked[items[0].id], [chosen("own", option)])
    first.annotate(asked[items[1].id], [chosen("own", "unknown")])
    assert tasks("quality_review") == {}, "no review is there to be looked at before the answers were pulled"
    pull_all()
    assert push_all() == {"own_answer ar": 0, "ar": 1}
    (review,) = tasks("quality_review").values()
    first.annotate(review, KEEP)
    second.annotate(review, DISCARD)
    found = pull_all()
    assert [row.own_answer for row in decisions(stores)] == ["0", "1"]
    questions = find_project(connection, "hidden", "own_answer", "ar")
    reviews = find_project(connection, "hidden", "quality_review", "ar")
    assert third.next_task(reviews.id) is None, "the third is asked the question first"
    assert third.next_task(questions.id) in asked.values()
    assert found.reopened == 1
    third.annotate(asked[items[0].id], [chosen("own", "0")])
    assert pull_all().reopened == 1
    assert third.next_task(reviews.id) == review
    third.annotate(review, KEEP)
    found = pull_all()
    assert (found.settled, decisions(stores)[-1].own_answer) == (1, "0")
    assert not any(+one.unanswered for one in found.by_project.values())
    wider = ensure_project(connection, "hidden", "own_answer", "ar", overlap=4)
    assert wider.overlap == 4, "a project without filled boxes takes changed settings too"


def test_changed_content_is_a_new_task_and_old_answers_stay_with_the_old_content(connection, members, stores):
    items = [choice(n) for n in range(3)]
    project, tasks = pushed_project(connection, "changed", items)
    members[0].annotate(tasks[items[0].id], KEEP)
    changed = [choice(0, question="سؤال جديد تمامًا"), items[1]]
    pushed = push(project, [review_task(item) for item in changed])
    assert (pushed.created, pushed.unchanged, pushed.withdrawn) == (1, 1, 2)
    open_tasks = {(held.sample, held.content_hash) for held in project.held() if not held.labeled}
    assert open_tasks == {(item.id, content_hash(item)) for item in changed}
    assert pull(project, stores).reviews[0].content_hash == content_hash(items[0])
    back = push(project, [review_task(item) for item in items])
    assert (back.created, back.reopened, back.withdrawn) == (0, 2, 1)


def test_what_cannot_be_used_is_counted_and_kept(connection, label_studio, members, stores):
    items = [choice(n) for n in range(7)]
    project, tasks = pushed_project(connection, "spoilt", items)
    spoilt = {
        "invalid_annotation": [chosen("decision", "perhaps")],
        "incomplete": [typed("notes", "نسيت القرار")],
    }
    wrong = [
        [chosen("decision", "fix"), typed("fix_question", items[2].question)],
        [chosen("decision", "fix"), chosen("fix_gold", "7")],
    ]
    for item, result in zip(items, [*spoilt.values(), *wrong], strict=False):
        members[0].annotate(tasks[item.id], result)
    members[0].annotate(tasks[items[4].id], KEEP)
    edited = connection.get(f"/api/tasks/{tasks[items[4].id]}/")["data"] | {
        "item_html": "<article>other</article>"
    }
    connection.patch(f"/api/tasks/{tasks[items[4].id]}/", {"data": edited})
    stranger = sign_up(connection.invitation(), "stranger@example.org")
    stranger.annotate(tasks[items[5].id], KEEP)
    connection.delete(f"/api/users/{stranger.id}/")
    connection.delete(f"/api/tasks/{tasks[items[6].id]}/")
    pulled = pull(project, stores)
    assert pulled.rejected == Counter([*spoilt, "task_edited", "unknown_annotator"])
    objections = {(row.item, row.decision, len(row.corrections)) for row in pulled.reviews}
    assert objections == {(item.id, "fix", 0) for item in items[2:4]}, "no repair, and yet an objection"
    assert doubted(stores) == {(item.id, content_hash(item)) for item in (items[0], items[4])}
    assert pull(project, stores).rejected == pulled.rejected

    kept = stored(stores.rejected, Rejection)
    assert len(kept) == 4, "rejects are kept once"
    assert not any("perhaps" in row.model_dump_json() for row in kept)
    assert sum("perhaps" in one.text for one in words(stores)) == 1, "it is kept with people's words"
    assert push(project, [review_task(item) for item in items]).created == 1, "a deleted task comes back"


def test_a_config_edited_by_hand_stops_the_push_but_not_the_pull(connection, members, stores):
    item = choice()
    project, tasks = pushed_project(connection, "edited", [item])
    members[0].annotate(tasks[item.id], KEEP)
    config = project.labelling.config.replace('alias="keep"', 'alias="keep" selected="true"')
    connection.patch(f"/api/projects/{project.id}", {"label_config": config})
    with pytest.raises(UsageError, match="edited by hand"):
        ensure_project(connection, "edited", "quality_review", "ar")
    pulled = pull(find_project(connection, "edited", "quality_review", "ar"), stores)
    assert len(pulled.reviews) == 1
    assert pulled.notes["config_edited"] == 1
    connection.patch(f"/api/projects/{project.id}", {"label_config": project.labelling.config})
    assert not ensure_project(connection, "edited", "quality_review", "ar").edited


def test_raised_overlap_survives_a_further_push(connection, members, stores):
    items = [choice(n) for n in range(2)]
    project, tasks = pushed_project(connection, "raised", items[:1])
    connection.patch(f"/api/tasks/{tasks[items[0].id]}/", {"overlap": 3, "is_labeled": False})
    pushed_project(connection, "raised", items)
    assert {held.sample: held.overlap for held in project.held()} == {items[0].id: 3, items[1].id: 2}


def test_a_task_whose_answers_a_killed_server_did_not_count_goes_to_a_third_person(
    connection, label_studio, members, stores
):
    item = choice()
    project, tasks = pushed_project(connection, "uncounted", [item])
    task = tasks[item.id]
    members[0].annotate(task, KEEP)
    members[1].annotate(task, DISCARD)
    miscount(label_studio, task, total_annotations=1, is_labeled=1)
    assert [(held.annotations, held.overlap, held.labeled) for held in project.held()] == [(2, 2, True)]
    config = ReviewConfig()
    pulled = pull_review(connection, "uncounted", stores=stores, config=config)
    assert (pulled.reopened, len(pulled.disputed)) == (1, 1)
    assert members[2].next_task(project.id) == task
    members[2].annotate(task, DISCARD)
    assert project.held()[0].labeled
    assert not pull_review(connection, "uncounted", stores=stores, config=config).disputed


def test_a_second_copy_is_not_deleted_where_its_answer_was_not_counted(connection, label_studio, members):
    item = choice()
    project, tasks = pushed_project(connection, "copies", [item])
    connection.post(f"/api/projects/{project.id}/import", [review_task(item)])
    copy = max(held.task for held in project.held())
    members[0].annotate(copy, KEEP)
    members[1].annotate(tasks[item.id], KEEP)
    miscount(label_studio, copy, total_annotations=0)
    assert push(project, [review_task(item)]).duplicates == 0
    assert {held.task for held in project.held()} == {tasks[item.id], copy}


def test_a_project_deleted_on_the_server_is_an_error_and_pushed_anew(connection, stores):
    project, _ = pushed_project(connection, "deleted", [choice()])
    connection.delete(f"/api/projects/{project.id}/")
    with pytest.raises(UsageError, match="mihakk review push"):
        pull_review(connection, "deleted", stores=stores, config=ReviewConfig())
    with pytest.raises(UsageError, match="was it deleted"):
        pull(project, stores)
    assert len(pushed_project(connection, "deleted", [choice()])[1]) == 1


def test_a_project_deleted_beside_others_is_told_and_what_was_pulled_of_it_counts(
    connection, members, stores
):
    ours, tasks = pushed_project(connection, "beside", [item := choice()])
    members[0].annotate(tasks[item.id], KEEP)
    assert pull_review(connection, "beside", stores=stores, config=ReviewConfig()).elsewhere == 0
    ensure_project(connection, "beside", "quality_review", "fa")
    connection.delete(f"/api/projects/{ours.id}/")
    pulled = pull_review(connection, "beside", stores=stores, config=ReviewConfig())
    assert (pulled.elsewhere, len(decisions(stores))) == (1, 1)
    show_pulled(pulled, 2, console := Console(record=True, width=200))
    assert "1 decisions that count are of none of these projects" in console.export_text()


def test_two_set_ups_at_once_make_one_project_with_each_task_once(label_studio):
    at_once = threading.Barrier(2)

    def set_up(_: int) -> int:
        with Connection(label_studio.url, label_studio.secrets.token) as own:
            at_once.wait()
            project = ensure_project(own, "at-once", "quality_review", "ar")
            push(project, [review_task(choice(n)) for n in range(12)])
            return project.id

    with ThreadPoolExecutor(2) as pool:
        made = set(pool.map(set_up, range(2)))
    with Connection(label_studio.url, label_studio.secrets.token) as own:
        (project,) = find_projects(own, "at-once")
        assert made == {project.id}
        assert len(project.held()) == len({held.sample for held in project.held()}) == 12
    # Where two are deleted at one moment, the server makes no token for whoever signs up after that.
    assert (
        "DELETE /api/projects/"
        not in label_studio.log.read_text("utf-8").rpartition('"POST /api/projects ')[2]
    )


def test_wrong_token_and_wrong_address_say_what_to_do(label_studio):
    with pytest.raises(UsageError, match="MIHAKK_LABEL_STUDIO_TOKEN") as error:
        Connection(label_studio.url, "0" * 40).check()
    assert "0" * 40 not in str(error.value)
    with pytest.raises(UsageError, match="http"):
        Connection("127.0.0.1:8090", "token")


def test_mixed_kinds_and_a_personal_token(connection, label_studio, stores):
    project, _ = pushed_project(connection, "kinds", [choice(), answer(), choice(5, options=("أ", "ب", "ج"))])
    assert len(project.held()) == 3
    connection.post("/api/jwt/settings", {"api_tokens_enabled": True, "legacy_api_tokens_enabled": True})
    personal = connection.post("/api/token/", {})["token"]
    with Connection(label_studio.url, personal) as renewed:
        assert renewed.check().startswith("1.")
        assert len(find_project(renewed, "kinds", "quality_review", "ar").held()) == 3


def test_the_server_keeps_to_itself(label_studio):
    assert label_studio.secrets.token not in label_studio.log.read_text("utf-8", errors="replace")
    assert label_studio.secrets.password not in label_studio.log.read_text("utf-8", errors="replace")
    assert (label_studio.home / "secrets.json").stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(label_studio.home / "label_studio.sqlite3")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    sockets = Path(f"/proc/{label_studio._process.pid}/net/tcp").read_text().splitlines()[1:]
    port = f"{label_studio.port:04X}"
    listening = {
        line.split()[1] for line in sockets if line.split()[3] == "0A" and line.split()[1].endswith(port)
    }
    assert listening == {f"0100007F:{port}"}, "listens on loopback alone"
