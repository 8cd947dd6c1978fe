"""Pusher, puller or server killed at any moment: the next run finishes, and nothing is lost or there twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mihakk.annotation.decisions.store import decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.project import ensure_project, find_project
from mihakk.annotation.label_studio.pull import pull
from mihakk.annotation.label_studio.push import push
from mihakk.annotation.screens.tasks import review_task
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.settings import ROOT
from tests.annotation.judged import choice
from tests.annotation.pushed import KEEP, pushed_project, submitted

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path / "review"))


PUSH = """
import sys
sys.path.insert(0, {root!r})
from tests.annotation.judged import choice
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import ensure_project
from mihakk.annotation.label_studio.push import push
from mihakk.annotation.screens.tasks import review_task
connection = Connection({url!r}, sys.stdin.readline().strip())
project = ensure_project(connection, {name!r}, "quality_review", "ar")
push(project, [review_task(choice(n)) for n in range(300)], batch=20)
"""


def start_push(label_studio, name) -> subprocess.Popen:
    script = PUSH.format(root=str(ROOT), url=label_studio.url, name=name)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdin.write(label_studio.secrets.token + "\n")
    process.stdin.flush()
    return process


def wait_for_tasks(connection, name, least) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        project = find_project(connection, name, "quality_review", "ar")
        if project and project.task_count() >= least:
            return
        time.sleep(0.05)
    pytest.fail("the push never got going")


def test_a_push_killed_half_way_is_finished_without_duplicates(connection, label_studio):
    process = start_push(label_studio, "killed")
    wait_for_tasks(connection, "killed", 40)
    process.kill()
    process.wait()
    project = ensure_project(connection, "killed", "quality_review", "ar")
    assert 0 < project.task_count() < 300
    push(project, [review_task(choice(n)) for n in range(300)])
    held = project.held()
    assert (len(held), len({row.sample for row in held})) == (300, 300)


def test_a_server_killed_during_push_and_pull_loses_and_doubles_nothing(
    connection, label_studio, members, stores
):
    process = start_push(label_studio, "server-killed")
    wait_for_tasks(connection, "server-killed", 40)
    os.killpg(label_studio._process.pid, signal.SIGKILL)
    label_studio._process.wait()
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "mihakk review serve" in said
    label_studio.start()
    project = ensure_project(connection, "server-killed", "quality_review", "ar")
    push(project, [review_task(choice(n)) for n in range(300)])
    assert len(project.held()) == len({row.sample for row in project.held()}) == 300
    for held in project.held()[:5]:
        members[0].annotate(held.task, KEEP)

    os.killpg(label_studio._process.pid, signal.SIGKILL)
    label_studio._process.wait()
    with pytest.raises(ExternalFailure, match="does not answer"):
        pull(project, stores)
    assert decisions(stores) == []
    label_studio.start()
    assert len(pull(project, stores).reviews) == 5


PULL = """
import sys
sys.path.insert(0, {root!r})
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import find_project
from mihakk.annotation.label_studio.pull import Stores, pull
connection = Connection({url!r}, sys.stdin.readline().strip())
project = find_project(connection, {name!r}, "quality_review", "ar")
print("pulling", flush=True)
for _ in range(20):
    pull(project, Stores.under({folder!r}))
"""


def start_pull(label_studio, name, folder) -> subprocess.Popen:
    script = PULL.format(root=str(ROOT), url=label_studio.url, name=name, folder=folder)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(label_studio.secrets.token + "\n")
    process.stdin.flush()
    return process


def judged_project(label_studio, connection, members, name, count):
    """A project whose every task three people have kept, brought in at once."""
    project = ensure_project(connection, name, "quality_review", "ar", overlap=3)
    people = [{"result": KEEP, "completed_by": person.id, "lead_time": 9.0} for person in members]
    tasks = [{**review_task(choice(n)), "annotations": people} for n in range(count)]
    for start in range(0, count, 500):
        connection.post(f"/api/projects/{project.id}/import", tasks[start : start + 500])
    submitted(label_studio)
    return project


def test_a_server_killed_in_the_middle_of_a_pull_is_pulled_again_without_loss_or_copies(
    connection, label_studio, members, tmp_path
):
    stores = Stores.under(str(tmp_path))
    project = judged_project(label_studio, connection, members, "cut-short", 1000)
    began = time.monotonic()
    connection.read(f"/api/projects/{project.id}/export", exportType="JSON")
    usual = time.monotonic() - began
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(pull, project, stores)
        time.sleep(usual / 2)
        assert not under_way.done()
        os.killpg(label_studio._process.pid, signal.SIGKILL)
        label_studio._process.wait()
        with pytest.raises(ExternalFailure, match="mihakk review serve"):
            under_way.result()
    assert decisions(stores) == [], "all or nothing"
    label_studio.start()
    assert len(pull(project, stores).reviews) == 3000
    assert pull(project, stores).reviews == []
    assert len({(row.item, row.annotator) for row in decisions(stores)}) == 3000


def test_a_pull_killed_at_any_moment_is_finished_by_the_next(connection, label_studio, members, tmp_path):
    project = judged_project(label_studio, connection, members, "pull-killed", 300)
    for patience in (0.1, 0.4, 0.8, 1.6):
        process = start_pull(label_studio, "pull-killed", str(tmp_path))
        assert process.stdout.readline() == "pulling\n"
        time.sleep(patience)
        process.kill()
        process.communicate()
        assert len(decisions(Stores.under(str(tmp_path)))) in (0, 900), "all or nothing"
    pull(project, Stores.under(str(tmp_path)))
    assert len(decisions(Stores.under(str(tmp_path)))) == 900


def test_duplicates_left_by_a_killed_push_are_removed_unless_somebody_answered(connection, members):
    item, other = choice(0), choice(1)
    project, tasks = pushed_project(connection, "twice", [item, other])
    copies = [review_task(item), review_task(other)]
    connection.post(f"/api/projects/{project.id}/import", copies)
    late = max(held.task for held in project.held() if held.sample == other.id)
    members[0].annotate(late, KEEP)
    pushed = push(project, copies)
    assert (pushed.duplicates, pushed.created) == (2, 0)
    assert {held.task for held in project.held()} == {tasks[item.id], late}
