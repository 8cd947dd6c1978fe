"""Six people at work on a real server that is killed twice: no answer that it took is lost or counted twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence

import httpx
import pytest

from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.store import decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import pull_review
from mihakk.annotation.label_studio.project import Project, ensure_project
from mihakk.annotation.label_studio.push import BATCH, push
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.statistics.skill import skills
from mihakk.schemas.benchmark import ReviewConfig
from tests.annotation.judged import choice
from tests.annotation.pushed import DISCARD, KEEP, submitted
from tests.annotation.signed_up import Member, sign_up
from tests.annotation.test_skill import PEOPLE, TIRED

pytestmark = [pytest.mark.services, pytest.mark.timeout(3000)]


class Team:
    """Six people of known skill, who answer what the label stream gives them and submit again what failed."""

    def __init__(self, people: Sequence[Member], truth: dict[str, bool], project: Project) -> None:
        self.people, self.truth, self.project = people, truth, project
        self.draw = random.Random(11)
        self.taken: dict[tuple[str, int], list] = {}
        """Item and member to the answer that the server said it had stored."""
        self.failed = 0

    def vote(self, person: int, item: str, *, tired: bool) -> list:
        finds, spares = PEOPLE[person]
        if tired and person == len(PEOPLE) - 1:
            finds = TIRED
        right = self.draw.random() < (finds if self.truth[item] else spares)
        return DISCARD if self.truth[item] == right else KEEP

    def work(self, person: int, items: dict[int, str]) -> None:
        """Answers until nothing is left for this person."""
        who = self.people[person]
        while True:
            try:
                task = who.next_task(self.project.id)
                if task is None:
                    return
                said = self.vote(person, items[task], tired=True)
                who.annotate(task, said)
                self.taken[items[task], who.id] = said
            except (httpx.HTTPError, KeyError, ValueError):  # no answer, or an error page
                self.failed += 1
                time.sleep(0.3)

    def all_work(self, server: LocalServer, kills: Sequence[int]) -> None:
        """Everybody at once; the server is killed each time so many more answers are stored."""
        items = {held.task: held.sample for held in self.project.held()}
        threads = [threading.Thread(target=self.work, args=(n, items)) for n in range(len(self.people))]
        before = len(self.taken)
        for thread in threads:
            thread.start()
        for number in kills:
            while len(self.taken) < before + number and any(thread.is_alive() for thread in threads):
                time.sleep(0.05)
            os.killpg(server._process.pid, signal.SIGKILL)
            server._process.wait()
            server.start()
        for thread in threads:
            thread.join()


def judged_by_two_or_three(team: Team, items: Sequence) -> list[dict]:
    """Tasks with the answers of two people each, and of a third where they differ."""
    tasks = []
    for place, item in enumerate(items):
        asked = team.draw.sample(range(len(team.people)), 3)
        tired = place > len(items) / 2
        said = [team.vote(person, item.id, tired=tired) for person in asked]
        count = 2 if said[0] is said[1] else 3
        given = [
            {"result": said[n], "completed_by": team.people[asked[n]].id, "lead_time": 9.0}
            for n in range(count)
        ]
        tasks.append({**review_task(item), "annotations": given})
    return tasks


@pytest.mark.parametrize(("imported", "live"), [(60, 24), pytest.param(4750, 250, marks=pytest.mark.drill)])
def test_six_people_lose_nothing_to_two_server_kills(imported, live, label_studio, connection, tmp_path):
    name = f"kills{imported}"
    invitation = connection.invitation()
    people = [sign_up(invitation, f"{name}-{n}@example.org") for n in range(len(PEOPLE))]
    draw = random.Random(3)
    items = [choice(n) for n in range(imported + live)]
    truth = {item.id: draw.random() < 0.3 for item in items}
    project = ensure_project(connection, name, "quality_review", "ar", overlap=2)
    team = Team(people, truth, project)
    tasks = judged_by_two_or_three(team, items[:imported])
    for start in range(0, len(tasks), BATCH):
        connection.post(f"/api/projects/{project.id}/import", tasks[start : start + BATCH])
    submitted(label_studio)
    pushed = push(project, [review_task(item) for item in items])
    assert (pushed.created, pushed.unchanged) == (live, imported)

    team.all_work(label_studio, kills=(live // 2, live + live // 4))
    assert team.failed, "nobody noticed the kills"
    assert len(team.taken) >= 2 * live - len(people), "answers that the server took but could not confirm"
    config, stores = ReviewConfig(), Stores.under(str(tmp_path))
    pulled = pull_review(connection, name, stores=stores, config=config)
    assert not pulled.by_project[project.name].rejected
    check_nothing_is_lost(team, stores, connection)
    held_up = rounds = 0
    while rounds < 6 and (waiting := pulled.short + sum(not one.stuck for one in pulled.disputed)):
        if not pulled.reopened:
            held_up = max(held_up, waiting)
            an_hour_goes_by(label_studio)
        team.all_work(label_studio, kills=())
        pulled = pull_review(connection, name, stores=stores, config=config)
        rounds += 1
    check_nothing_is_lost(team, stores, connection)
    rows = decisions(stores)
    assert len({row.item for row in rows}) == imported + live
    assert len({(row.item, row.annotator) for row in rows}) == len(rows), "nothing is there twice"
    assert pulled.settled + len(pulled.disputed) == imported + live
    assert all(one.stuck for one in pulled.disputed)
    print(
        f"{len(rows)} decisions, {team.failed} failed calls, {rounds} further rounds, {pulled.settled} settled"
    )
    if imported > 1000:
        found, known = skills(rows), pseudonyms(stores.people, connection.users())
        for person, (finds, spares) in enumerate(PEOPLE[:-1]):
            told = found[known[people[person].id]]
            assert abs(told.finds - finds) < 0.05, (person, told)
            assert abs(told.spares - spares) < 0.05, (person, told)
        print(found)


def an_hour_goes_by(server: LocalServer) -> None:
    """Locks expire of tasks that somebody had open when the server was killed, as `TASK_LOCK_TTL` says."""
    with sqlite3.connect(server.home / "label_studio.sqlite3", timeout=60) as database:
        database.execute("UPDATE tasks_tasklock SET expire_at = '2020-01-01 00:00:00'")


def check_nothing_is_lost(team: Team, stores: Stores, connection: Connection) -> None:
    """Every answer that the server confirmed is a decision, with what the person said."""
    known = pseudonyms(stores.people, connection.users())
    kept = {(row.item, row.annotator): row.decision for row in decisions(stores)}
    for (item, member), said in team.taken.items():
        assert kept[item, known[member]] == ("keep" if said is KEEP else "discard")
