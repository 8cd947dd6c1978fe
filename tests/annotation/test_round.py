"""The whole round for real: build, Label Studio, ten items reviewed in a browser, pull, build, another version."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mihakk.annotation.decisions.store import decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.project import find_project
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.annotation.screens.labelling import words
from mihakk.annotation.statistics.sampling import Queued
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.pipeline.build import Build
from mihakk.pipeline.people import review_stores
from mihakk.schemas.audit import CRITERIA, Verdict
from mihakk.schemas.item import ITEM_ROWS
from tests.annotation.signed_up import Member
from tests.annotation.test_browser import Screen
from tests.end_to_end.conftest import Workshop, make_workshop, opinion

pytestmark = [pytest.mark.services, pytest.mark.timeout(1200)]

REWRITTEN = "نص معاد"
"""Of letters that are the same in Arabic and Persian: corrections are stored in canonical form."""
TEN = 10


def convinced(call: Call) -> Answer:
    """The same opinion of the same prompt, one in eight bad; none of what a person has rewritten."""
    if REWRITTEN in json.dumps(call.body["messages"], ensure_ascii=False):
        return Answer(text=json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []}))
    return opinion(call)


@dataclass
class Desk:
    """A user at a shell with a small benchmark and a Label Studio of their own."""

    shop: Workshop
    server: LocalServer
    build: Build

    def mihakk(self, *arguments: str) -> str:
        """Runs the command and returns what it printed."""
        done = self.shop.run(
            "round",
            *arguments,
            MIHAKK_LABEL_STUDIO_HOME=str(self.server.home),
            MIHAKK_LABEL_STUDIO_URL=self.server.url,
        )
        assert done.exit_code == 0, done.output[-3000:]
        print(f"$ mihakk {' '.join(arguments)}\n{done.stdout}")
        return done.stdout

    @property
    def stores(self) -> Stores:
        return review_stores(self.build)

    def released(self) -> dict[str, str]:
        """Question of every item that people and auditors leave in."""
        return {
            item.id: item.question for item in self.build.stage("7_reviewed").read_all("items", ITEM_ROWS)
        }


@pytest.fixture
def desk(tmp_path: Path, label_studio: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    def one_vote(config: dict[str, object]) -> None:
        config["audit"] = {**config["audit"], "limit": 110}
        config["review"] = {"overlap": 1, "miss_rate_sample": 4}

    with ScriptedServer(convinced) as auditors:
        shop = make_workshop(tmp_path, auditors.url, one_vote)
        yield Desk(shop, label_studio, shop.open("round", monkeypatch))


def sign_up_in_the_browser(browser, invitation: str, screenshots: Path) -> Member:
    """An annotator follows the invitation and makes an account on the page."""
    email, password = "reviewer@example.org", "a-long-enough-passphrase"
    context = browser.new_context(viewport={"width": 1500, "height": 1100})
    page = context.new_page()
    page.goto(invitation)
    page.fill("input[name=email]", email)
    page.fill("input[name=password]", password)
    page.screenshot(path=screenshots / "round-sign-up.png")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "signup" not in url)
    page.wait_for_timeout(1500)
    page.screenshot(path=screenshots / "round-home.png")
    context.close()
    return Member(0, email, password, "", invitation.partition("/user/")[0])


class Reviewer:
    """Keeps, fixes and discards flagged items in turn; keeps sampled ones; sees through attention checks."""

    def __init__(self, why: dict[str, Queued]) -> None:
        self.why = why
        self.decided: dict[str, str] = {}

    def flagged(self) -> dict[str, str]:
        return {item: told for item, told in self.decided.items() if self.why[item].why == "flagged"}

    def decide(self, screen: Screen, language: str, *, last: bool) -> None:
        """What is on the screen."""
        item = re.search(r"\S+$", screen.page.locator(".mk .meta code").first.inner_text())[0]
        labels, reason = words("quality_review", language), self.why[item].why
        turn = {"sample": 0, "attention": 2, "flagged": len(self.flagged()) % 3}[reason]
        key, told = (("q", "keep"), ("w", "fix"), ("e", "discard"))[turn]
        screen.choose(key, labels["decisions"][told])
        if told == "fix":
            box = screen.box("fix_question")
            box.click()
            screen.page.keyboard.press("Control+End")
            screen.page.keyboard.type(f" ({REWRITTEN})")
            assert box.input_value().endswith(f"({REWRITTEN})")
            screen.leave_boxes()
        elif told == "discard":
            screen.choose("x", labels["reasons"]["ambiguous"])
        self.decided[item] = told
        screen.shot(f"round-{len(self.decided):02d}-{language}-{reason}-{told}")
        screen.submit(last=last)


def test_ten_items_reviewed_in_a_browser_change_the_release(desk, connection, browser, screenshots):
    config = str(desk.shop.config)
    desk.mihakk("build", config)
    said = desk.mihakk("review", "serve", config, "--port", str(desk.server.port))
    why = {row.item: row for row in stored(desk.stores.queued, Queued)}
    verdicts = {v.item: v.status for v in desk.build.stage("6_audited").read_all("verdicts", Verdict)}
    assert all((verdicts.get(item) == "flag") == (row.why == "flagged") for item, row in why.items())

    invitation = re.search(r"Invite annotators with: (\S+)", said)[1]
    person, reviewer = sign_up_in_the_browser(browser, invitation, screenshots), Reviewer(why)
    for language in ("ar", "fa"):
        project = find_project(connection, "small", "quality_review", language)
        screen = Screen(browser, person, project, screenshots)
        waiting, enough = len(project.held()), len(reviewer.flagged()) + TEN // 2
        for number in range(1, waiting + 1):
            reviewer.decide(screen, language, last=number == waiting)
            if len(reviewer.flagged()) == enough:
                break
        assert screen.outside == []
        screen.close()
    assert len(reviewer.flagged()) >= TEN, "too few of those reviewed were flagged to show anything"

    before = desk.released()
    assert not set(before) & set(reviewer.flagged()), "what is flagged waits outside the release"
    desk.mihakk("review", "pull", config)
    assert {row.item: row.decision for row in decisions(desk.stores)} == reviewer.decided
    desk.mihakk("build", config)
    after = desk.released()
    audited = desk.build.stage("6_audited")
    seen = {item.id: item.question for item in audited.read_all("items", ITEM_ROWS)}
    verdicts = {verdict.item: verdict for verdict in audited.read_all("verdicts", Verdict)}
    decided: dict[str, set[str]] = {"keep": set(), "fix": set(), "discard": set()}
    for item, told in reviewer.flagged().items():
        decided[told].add(item)
    single = {
        row.record for row in desk.build.stage("7_reviewed").rejections() if row.reason == "other_order"
    }
    assert decided["keep"] - single <= set(after), "what was kept waits for its other order at most"
    assert not decided["discard"] & set(after)
    assert all(REWRITTEN in seen[item] for item in decided["fix"]), "corrections pass the checks again"
    corrected = {item for item in decided["fix"] - single if verdicts[item].status == "pass"}
    print({item: verdicts[item].reasons for item in decided["fix"] - corrected})
    assert corrected, "nothing that was corrected satisfied rules and auditors"
    assert all(REWRITTEN in after[item] for item in corrected)
    back = (decided["keep"] - single) | corrected
    assert back <= set(after)

    changes = desk.mihakk("diff", config, "0.1.0", "0.2.0", "--markdown")
    assert {item for item in reviewer.flagged() if item in changes} == back
    page = next((desk.shop.folder / "runs").glob("*/latest/report.html")).read_text("utf-8")
    assert "annotator-0" in page
    assert "reviewer@example.org" not in page
    csv = desk.shop.folder / "decisions.csv"
    desk.mihakk("review", "export", config, "--csv", str(csv))
    assert csv.read_text("utf-8-sig").count("annotator-") == len(reviewer.decided)
    desk.mihakk("review", "report", config)
