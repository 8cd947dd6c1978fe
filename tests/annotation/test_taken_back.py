"""On a real server: decisions deleted there, changed by others, or voided by the lead."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mihakk.annotation.decisions.forgetting import forget
from mihakk.annotation.decisions.resolution import binding
from mihakk.annotation.decisions.store import decisions, doubted, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import void
from mihakk.annotation.label_studio.exchange import pull_review, review_progress
from mihakk.annotation.label_studio.project import DISPUTED
from mihakk.annotation.label_studio.pull import pull
from mihakk.machinery.ids import content_hash, sha256
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Voided
from tests.annotation.judged import choice
from tests.annotation.pushed import DISCARD, KEEP, chosen, pushed_project, typed
from tests.annotation.signed_up import sign_up
from tests.servers import LOOPBACK

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path / "review"))


def test_what_others_changed_or_deleted_does_not_count(connection, members, stores):
    items = [choice(n) for n in range(5)]
    never_pulled, untouched = choice(5), choice(6)
    project, tasks = pushed_project(connection, "taken", [*items, never_pulled, untouched])
    first, second, _ = members
    made = {item.id: first.annotate(tasks[item.id], [*KEEP, chosen("opened", "source")]) for item in items}
    connection.delete(f"/api/annotations/{first.annotate(tasks[never_pulled.id], DISCARD)}/")
    assert {row.opened for row in pull(project, stores).reviews} == {("source",)}

    change = {"result": DISCARD}
    by_second = {"Authorization": f"Token {second.token}"}
    address = f"{connection.url}/api/annotations/{made[items[0].id]}/"
    LOOPBACK.patch(address, json=change, headers=by_second).raise_for_status()
    connection.delete(f"/api/annotations/{made[items[1].id]}/")
    connection.delete(f"/api/tasks/{tasks[items[2].id]}/")
    pulled = pull(project, stores)
    assert (dict(pulled.rejected), pulled.withdrawn) == ({"changed_by_another": 1}, 1)
    assert pulled.reviews == []
    assert {row.item: row.decision for row in decisions(stores)} == {
        items[2].id: "keep",  # the task was deleted, which takes back nobody's decision
        items[3].id: "keep",
        items[4].id: "keep",
    }
    assert [row.by for row in stored(stores.voided, Voided)] == ["deleted"] * 2
    doubts = (items[0], items[1], never_pulled)  # of two tasks nothing is left that tells what was answered
    assert doubted(stores) == {(item.id, content_hash(item)) for item in doubts}
    reasons = {row.reason for row in stored(stores.rejected, Rejection)}
    assert reasons == {"changed_by_another", "taken_back"}
    assert (pull(project, stores).withdrawn, len(decisions(stores))) == (0, 3)

    by_first = {"Authorization": f"Token {first.token}"}
    address = f"{connection.url}/api/annotations/{made[items[3].id]}/"
    LOOPBACK.patch(address, json=change, headers=by_first).raise_for_status()
    (changed,) = pull(project, stores).reviews
    assert (changed.item, changed.decision) == (items[3].id, "discard"), "its author changed their mind"
    shown = connection.get(f"/api/tasks/{tasks[items[3].id]}/")["data"] | {"item_html": "<p>other</p>"}
    connection.patch(f"/api/tasks/{tasks[items[3].id]}/", {"data": shown})
    assert pull(project, stores).rejected["task_edited"] == 1
    assert changed in binding(decisions(stores), changed.content_hash), "what was pulled before counts"

    shown = connection.get(f"/api/tasks/{tasks[items[4].id]}/")["data"]
    forged = [{"data": shown, "annotations": [{"completed_by": first.id, "result": DISCARD}]}]
    address = f"{connection.url}/api/projects/{project.id}/import"
    LOOPBACK.post(address, json=forged, headers=by_second).raise_for_status()
    made_a_skip = {"was_cancelled": True, "result": DISCARD}
    address = f"{connection.url}/api/annotations/{made[items[4].id]}/"
    LOOPBACK.patch(address, json=made_a_skip, headers=by_second).raise_for_status()
    assert dict(pull(project, stores).rejected) == {"changed_by_another": 2, "task_edited": 1}
    assert (items[4].id, content_hash(items[4])) in doubted(stores)
    assert items[4].id not in {row.item for row in decisions(stores)}, "what is known of it is a keep"


def test_who_is_forgotten_leaves_decisions_and_nothing_else(connection, stores, tmp_path):
    items = [choice(n) for n in range(2)]
    project, tasks = pushed_project(connection, "forgotten", items)
    person = sign_up(connection.invitation(), "forget.me@example.org")
    for item in items:
        person.annotate(tasks[item.id], [*KEEP, typed("notes", "SECRET")])
    assert len(pull(project, stores).reviews) == 2
    before = [(row.item, row.decision, row.annotator) for row in decisions(stores)]
    forget(stores, person.email, connection.users())
    connection.remove_user(person.id)
    assert person.email not in connection.users().values()
    pulled = pull(project, stores)
    assert (pulled.reviews, pulled.withdrawn, dict(pulled.rejected)) == ([], 0, {"unknown_annotator": 2})
    assert [(row.item, row.decision, row.annotator) for row in decisions(stores)] == before
    kept = "".join(path.read_text("utf-8") for path in (tmp_path / "review").rglob("*.jsonl"))
    assert "SECRET" not in kept
    assert sha256(person.email.encode()) not in kept


def shown_as_disputed(connection, project) -> list[int]:
    """Tasks in the project's tab Disputed, of which there is one."""
    tabs = connection.get("/api/dm/views", project=project.id)
    (tab,) = (tab for tab in tabs if tab["data"]["title"] == DISPUTED)
    return [row["id"] for row in connection.get("/api/tasks", project=project.id, view=tab["id"])["tasks"]]


def test_items_of_a_voided_person_are_opened_for_another_who_settles_them(connection, members, stores):
    items = [choice(n) for n in range(3)]
    project, tasks = pushed_project(connection, "voided", items)
    first, second, third = members
    for item in items:
        first.annotate(tasks[item.id], KEEP)
        second.annotate(tasks[item.id], DISCARD if item is items[0] else KEEP)
    config = ReviewConfig()
    pulled = pull_review(connection, "voided", stores=stores, config=config)
    assert (pulled.settled, pulled.reopened) == (2, 1)
    assert shown_as_disputed(connection, project) == [tasks[items[0].id]]
    (row,) = review_progress(connection, "voided", stores, config, datetime.now(UTC))
    assert (row.tasks, row.done, row.missing, row.recent, row.people) == (3, 2, 1, 6, 2)
    assert row.end is not None
    spoilt = next(row.annotator for row in decisions(stores) if row.decision == "discard")
    assert len(void(stores, spoilt, "answered at random")) == 3
    pulled = pull_review(connection, "voided", stores=stores, config=config)
    assert (pulled.settled, pulled.short, pulled.reopened) == (0, 3, 2), "the disputed one was open already"
    assert pull_review(connection, "voided", stores=stores, config=config).reopened == 0
    for _ in items:
        third.annotate(third.next_task(project.id), KEEP)
    pulled = pull_review(connection, "voided", stores=stores, config=config)
    assert (pulled.settled, pulled.short, pulled.deadlocked) == (3, 0, ())
    assert shown_as_disputed(connection, project) == []
