"""Calibration on a real Label Studio: answered, explained on the relay's page, passed, and only then counted."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from mihakk.annotation.decisions.store import decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.calibration import calibration_of, instruct, push_calibration
from mihakk.annotation.label_studio.connection import Connection, Gone
from mihakk.annotation.label_studio.exchange import pull_review
from mihakk.annotation.label_studio.project import Project, find_project
from mihakk.annotation.label_studio.push import Pushed, push
from mihakk.annotation.label_studio.relay import page_token
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.teaching.known import known_items
from mihakk.annotation.teaching.questions import answer_question
from mihakk.annotation.teaching.state import calibration_state
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import Known, Round
from mihakk.schemas.review import Review, Voided
from tests.annotation.judged import choice
from tests.annotation.pushed import DISCARD, KEEP, pushed_project
from tests.annotation.signed_up import Member
from tests.annotation.test_browser import Screen
from tests.annotation.test_relay_service import heard_until, relay_of

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

SECRET = "a-secret-of-the-test"
CONFIG = ReviewConfig.model_validate({"overlap": 1, "calibration": {"items": 4, "pass_mark": 0.75}})
SOUND = [choice(n, question=f"ما معنى «إيده طويلة» في كلام أهل مصر اليوم ({n})؟") for n in range(10, 30)]


def candidates():
    return list(known_items(SOUND, {item.id for item in SOUND}, {}, 1))


def rightly(row: Known) -> list:
    return KEEP if "keep" in row.accepts["decision"] else DISCARD


@dataclass
class Course:
    """A benchmark whose reviewers are calibrated, on a real server."""

    connection: Connection
    server: LocalServer
    people: list[Member]
    stores: Stores
    config: Path

    def push(self, *templates: str, given=candidates) -> Pushed:
        pushed = push_calibration(
            self.connection,
            "taught",
            given,
            templates=templates,
            stores=self.stores,
            config=CONFIG.calibration,
            seed=1,
        )
        return pushed["calibration quality_review ar"]

    @contextmanager
    def relay(self) -> Iterator[tuple[str, subprocess.Popen]]:
        environment = {
            "MIHAKK_LAKE": str(self.config.parent / "lake"),
            "MIHAKK_LABEL_STUDIO_HOME": str(self.server.home),
            "MIHAKK_LABEL_STUDIO_URL": self.server.url,
            "MIHAKK_RELAY_SECRET": SECRET,
            "PREFECT_API_URL": "",
        }
        process = relay_of(environment, str(self.config), "--register", "--port", "0", "--every", "0")
        try:
            base = heard_until(process, "Listening at").split()[-1].partition("/annotated")[0]
            heard_until(process, "Apply them with")
            yield base, process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=300)


@pytest.fixture
def course(connection, label_studio, members, tmp_path) -> Course:
    config = tmp_path / "taught.yaml"
    config.write_text(
        "name: taught\ntitle: Taught\nsources: [{use: hafez}]\ntasks: [{use: continuation}]\n"
        "review: {overlap: 1, calibration: {items: 4, pass_mark: 0.75}}\n",
        "utf-8",
    )
    stores = Stores.under(str(tmp_path / "lake" / "taught"))
    return Course(connection, label_studio, members, stores, config)


def answers_one_on_the_screen(screen: Screen, known: dict[str, Known]) -> str:
    """Answers the first question rightly, from the keyboard; gives its name."""
    screen.shot("calibration-question")
    assert not screen.page.get_by_role("button", name="Skip").count()
    assert not screen.page.locator(".mk .skip").is_visible()
    shown = known[screen.page.locator(".mk .meta code").first.inner_text()]
    assert not any(why in screen.page.content() for why in ("الجواب المحدَّد خاطئ", "البند سليم؛"))
    if shown.side == "sound":
        screen.choose("q", "إبقاء")
    else:
        screen.choose("e", "حذف")
        screen.choose("x", "ملتبس")
    screen.submit()
    return shown.subject


def passes_anew_after_a_substantial_change(course: Course, real: Project, calibration: Project) -> None:
    """What somebody answers under the new guideline counts once they have passed under it."""
    stores, first = course.stores, course.people[0]
    told = {"now": datetime.now(UTC), "template": "quality_review", "languages": ["ar"], "substantial": True}
    answer_question(stores, "rule", "اللهجة ليست عيبًا", **told)
    assert instruct(course.connection, "taught", stores, calibrated=True) == 1
    assert course.push().created == 4
    assert stored(stores.rounds, Round)[-1].why == "guideline"
    push(real, [review_task(choice(n)) for n in range(4)])
    (late,) = (held.task for held in real.held() if held.sample == choice(3).id)
    first.annotate(late, KEEP)
    found = pull_review(course.connection, "taught", stores=stores, config=CONFIG)
    assert sum(one.withheld for one in found.by_project.values()) == 1, "they passed under the old guideline"
    asked = {row.subject: row for row in stored(stores.known, Known) if row.round == 3}
    for held in calibration.held():
        if held.sample in asked:
            first.annotate(held.task, rightly(asked[held.sample]))
    assert pull_review(course.connection, "taught", stores=stores, config=CONFIG).asked_again == 1
    first.annotate(late, KEEP)
    pull_review(course.connection, "taught", stores=stores, config=CONFIG)
    assert [(row.item, row.guideline) for row in decisions(stores)][3:] == [(choice(3).id, 2)]


def test_only_who_has_passed_counts_and_each_answer_is_explained_after_it(course, browser, screenshots):
    stores, (first, second, _) = course.stores, course.people
    real, tasks = pushed_project(course.connection, "taught", [choice(n) for n in range(3)], overlap=1)
    assert course.push("quality_review").created == 4
    assert course.push("quality_review", given=lambda: pytest.fail("nothing is due")).unchanged == 4
    known = {row.subject: row for row in stored(stores.known, Known)}
    calibration = find_project(course.connection, calibration_of("taught"), "quality_review", "ar")
    questions = {held.task: known[held.sample] for held in calibration.held()}
    early = first.annotate(tasks[choice(0).id], KEEP)  # the free server lets them; it must not count
    with course.relay() as (base, relay):
        assert [row.by for row in stored(stores.voided, Voided)] == ["calibration"]
        (kept,) = stored(stores.decisions, Review)
        assert decisions(stores) == []
        person = kept.annotator
        mine = f"{base}/calibration/taught/{person}/{page_token(SECRET, 'taught', person)}"
        assert httpx.get(f"{base}/calibration/taught/{person}/{'0' * 32}").status_code == 404
        before = httpx.get(mine).text
        assert ("لم تجب عن شيء بعد" in before, "<article" in before) == (True, False)
        screen = Screen(browser, first, calibration, screenshots)
        answered = answers_one_on_the_screen(screen, known)
        heard_until(relay, "Apply them with")
        page = screen.context.new_page()
        page.goto(mine)
        page.screenshot(path=screenshots / "calibration-page-one.png", full_page=True)
        assert page.locator(".answer").count() == 1, "one is answered, one is explained"
        assert page.locator(".why").first.inner_text().strip()
        for task, row in questions.items():
            if row.subject != answered:
                first.annotate(task, rightly(row))
        heard_until(relay, "Apply them with")
        page.goto(mine)
        page.screenshot(path=screenshots / "calibration-page-passed.png", full_page=True)
        assert page.locator(".answer.right").count() == 4
        assert "اجتزت المعايرة" in page.locator(".state").inner_text()
        screen.close()

    (state,) = calibration_state(stores)
    assert (state.annotator, state.right, state.state) == (person, 4, "passed")
    with pytest.raises(Gone):
        course.connection.get(f"/api/annotations/{early}/")  # what they answered too early is asked again
    assert first.next_task(real.id) in tasks.values()
    for task in tasks.values():
        first.annotate(task, KEEP)
    for task, row in questions.items():
        second.annotate(task, KEEP if row.side == "defective" else DISCARD)
    second.annotate(tasks[choice(1).id], DISCARD)
    found = pull_review(course.connection, "taught", stores=stores, config=CONFIG)
    assert [row.annotator for row in decisions(stores)] == [person] * 3
    assert (found.calibrated, sum(one.withheld for one in found.by_project.values())) == (4, 1)
    assert [(row.right, row.found) for row in calibration_state(stores) if row.state == "failed"] == [(0, 0)]
    assert course.push().created == 4, "who failed gets other questions"
    bases = [row.base for row in stored(stores.known, Known)]
    assert len(set(bases)) == len(bases) == 8
    passes_anew_after_a_substantial_change(course, real, calibration)
