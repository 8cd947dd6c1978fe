"""The screen as an annotator meets it: in a real browser, from the keyboard, right to left, safe."""

from __future__ import annotations

import pytest

from mihakk.annotation.campaigns.questions import (
    Candidate,
    connotation_question,
    item_reply_question,
    label_question,
    option_question,
    sentence_question,
    text_question,
    wrong_idiom_question,
)
from mihakk.annotation.decisions.store import decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.exchange import pull_review
from mihakk.annotation.label_studio.project import ensure_project, show_disputed
from mihakk.annotation.label_studio.pull import pull
from mihakk.annotation.label_studio.push import push
from mihakk.annotation.screens.labelling import template_names
from mihakk.annotation.screens.tasks import numbered, own_answer_task, review_task
from mihakk.machinery.groups import grouped
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem, Section
from mihakk.schemas.record import Form, Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.validators.code.refinement import Refinement
from tests.annotation.judged import answer, audit, choice, explanation, finding
from tests.annotation.pushed import DISCARD, KEEP, chosen
from tests.annotation.signed_up import sign_up
from tests.annotation.test_vote_patterns import outcome, table

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

HOSTILE = (
    "<script>window.__ran = 1; fetch('http://evil.invalid/')</script><img src=x onerror='window.__ran=2'>"
    "<svg onload='window.__ran=3'></svg><a href='javascript:window.__ran=4'>اضغط</a>{{constructor}}\u202e$item_html"
)
ARABIC_LAYOUT = {
    "q": ("KeyQ", "ض", 81),
    "w": ("KeyW", "ص", 87),
    "e": ("KeyE", "ث", 69),
    "a": ("KeyA", "ش", 65),
    "s": ("KeyS", "س", 83),
    "d": ("KeyD", "ي", 68),
    "x": ("KeyX", "ء", 88),
    "c": ("KeyC", "ؤ", 67),
    "t": ("KeyT", "ف", 84),
}
SOURCE = Provenance(source="test", url="file:test#1", licence="CC0-1.0", sha256="0" * 64, parser_version="1")


class Screen:
    """A signed-in annotator in front of the label stream of one project."""

    def __init__(self, browser, person, project, screenshots) -> None:
        self.context = browser.new_context(viewport={"width": 1500, "height": 1100})
        self.page = self.context.new_page()
        self.outside, self.dialogs = [], []
        self.url = project.connection.url
        self.page.on("request", lambda r: None if self.inside(r.url) else self.outside.append(r.url))
        self.page.on("dialog", lambda d: (self.dialogs.append(d.message), d.dismiss()))
        self.screenshots = screenshots
        self.page.goto(f"{self.url}/user/login/")
        self.page.fill("input[name=email]", person.email)
        self.page.fill("input[name=password]", person.password)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda url: "/login" not in url)
        self.page.goto(f"{self.url}/projects/{project.id}/data?labeling=1")
        self.wait()

    def inside(self, url: str) -> bool:
        return url.startswith((f"{self.url}/", "data:", "blob:"))

    def wait(self) -> None:
        self.page.wait_for_selector(".mk article", timeout=60_000)
        self.page.wait_for_timeout(700)
        if self.page.get_by_text("Labeling Instructions").is_visible():
            self.shot("0-instructions")
            self.page.keyboard.press("Escape")
            self.page.wait_for_timeout(600)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(150)

    def press_arabic(self, key: str) -> None:
        """The key as a keyboard with the Arabic layout sends it."""
        code, letter, number = ARABIC_LAYOUT[key]
        cdp = self.context.new_cdp_session(self.page)
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "code": code, "key": letter, "windowsVirtualKeyCode": number}
            cdp.send("Input.dispatchKeyEvent", event | ({"text": letter} if kind == "keyDown" else {}))
        self.page.wait_for_timeout(300)

    def choose(self, key: str, name: str, *, arabic: bool = False) -> None:
        """Presses the hotkey until the choice is made: a busy machine may not listen at once."""
        for _ in range(6):
            (self.press_arabic if arabic else self.press)(key)
            if self.eventually(lambda: self.picked(name), seconds=3, must=False):
                return
        self.shot("hotkey-failed")
        raise AssertionError(f"{key} does not choose {name}")

    def leave_boxes(self) -> None:
        """Tab until the cursor is out of the text boxes, where hotkeys rest."""
        for _ in range(12):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("document.activeElement.className").startswith("ant-rate"):
                return
        pytest.fail("the Tab key does not lead out of the text boxes")

    def eventually(self, holds, *, seconds: float = 15, must: bool = True) -> bool:
        """Waits until something holds on the page."""
        for _ in range(int(seconds * 5)):
            if holds():
                return True
            self.page.wait_for_timeout(200)
        if must:
            self.shot("never-held")
        assert not must, "what was waited for never came"
        return False

    def picked(self, name: str) -> bool:
        return self.page.locator(f"input[name='{name}']").first.is_checked()

    def text(self) -> str:
        return self.page.locator(".mk article").first.inner_text()

    def box(self, name: str):
        return self.page.locator(f"[name^='{name}:']").first

    def submit(self, how=None, *, last: bool = False) -> None:
        """Submits, by Ctrl+Enter where nothing else is said, and waits for the next task, or for none."""
        shown = self.page.locator(".mk .meta code").first
        before = shown.inner_text()
        try:
            with self.page.expect_response(
                lambda answer: "/annotations" in answer.url and answer.request.method == "POST",
                timeout=20_000,
            ):
                how() if how else self.press("Control+Enter")
        except Exception as error:
            self.shot("submit-failed")
            raise AssertionError("nothing was submitted") from error
        if last:
            self.page.get_by_text("No More Tasks").wait_for(timeout=40_000)
        else:
            self.eventually(lambda: shown.count() and shown.inner_text() != before, seconds=40)
        self.page.wait_for_timeout(800)

    def shot(self, name: str) -> None:
        self.page.screenshot(path=self.screenshots / f"{name}.png")

    def close(self) -> None:
        self.context.close()


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path))


CONTEXT = "قال الشاعر:\nقفا نبك"
ITEMS = [
    choice(0),
    choice(1),
    choice(2, options=("المعنى الأول", "المعنى الثاني", "المعنى الثالث", "المعنى الرابع"), context=CONTEXT),
    choice(3),
    choice(4, question=HOSTILE, context=HOSTILE, options=(HOSTILE, "ب"), attribution=HOSTILE),
    explanation(),
    choice(6),
]


def looks_first(screen) -> None:
    """Blind, right to left, nothing chosen for the annotator."""
    page = screen.page
    assert "إيده طويلة" in screen.text()
    assert "1 من 7" in page.locator(".mk .meta").first.inner_text()
    assert "الجواب لا يناسب السؤال" not in page.content(), "what auditors say is not even on the page"
    item, form = (page.locator(f".mk .{name}").first.bounding_box() for name in ("item", "form"))
    assert item["x"] > form["x"] + form["width"] - 1, "the item stands on the right, the form on the left"
    assert not any(screen.picked(name) for name in ("إبقاء", "إصلاح", "حذف")), "no verdict is prefilled"
    assert page.evaluate("getComputedStyle(document.querySelector('.mk .form')).direction") == "rtl"
    keep, fix = (
        page.locator(f"input[name='{name}']").first.bounding_box()["x"] for name in ("إبقاء", "إصلاح")
    )
    assert keep > fix, "choices run from right to left"
    font = page.evaluate("getComputedStyle(document.querySelector('.mk article p')).fontFamily")
    assert font.startswith('"Noto Naskh')
    screen.shot("1-first-look")
    screen.choose("p", "المصدر")
    screen.shot("2-source-opened")


def keeps(screen) -> None:
    screen.choose("q", "إبقاء")
    screen.choose("7", "الجواب خاطئ")
    screen.press("g")
    screen.shot("3-keep")
    screen.submit()


def discards_under_an_arabic_layout(screen) -> None:
    page = screen.page
    screen.choose("e", "حذف", arabic=True)
    screen.press("Control+Enter")
    screen.eventually(lambda: page.get_by_text("بيّن سبب الحذف").count())
    screen.shot("4-reason-required")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    screen.choose("x", "ملتبس", arabic=True)
    screen.submit()


def fixes_from_the_keyboard(screen) -> None:
    page = screen.page
    screen.choose("w", "إصلاح")
    assert screen.box("fix_context").input_value() == CONTEXT

    def shown() -> list[int]:
        return [n for n in range(10) if page.locator(f".opt{n}").first.is_visible()]

    screen.eventually(lambda: shown() == [0, 1, 2, 3])
    assert not page.locator(".for-verses").first.is_visible()
    screen.choose("Control+2", "ب")  # hotkeys rest while the cursor is in a text box
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name || ''").startswith("fix_question:"):
            break
    else:
        pytest.fail("the question's box can't be reached with the Tab key")
    page.keyboard.press("Control+a")
    page.keyboard.type("ما معنى «إيده طويلة» في كلام أهل مصر؟")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name || ''").startswith("fix_option_0:")
    page.keyboard.press("Control+End")
    page.keyboard.type(" المصحّح")
    screen.shot("5-fix")
    screen.leave_boxes()
    screen.submit()


def fixes_with_the_mouse(screen) -> None:
    page = screen.page
    page.locator("label", has=page.locator("input[name='إصلاح']")).first.click()
    screen.eventually(lambda: screen.box("fix_option_1").is_visible())
    screen.box("fix_option_1").fill("يعمل بيده كثيرًا")
    screen.shot("6-fix-with-the-mouse")
    screen.submit(lambda: page.get_by_test_id("bottombar-submit-button").click())


def meets_hostile_text(screen) -> None:
    page = screen.page
    assert "<script>" in screen.text(), "hostile text is shown as text"
    assert "U+202E" in screen.text()
    screen.choose("p", "المصدر")
    screen.choose("w", "إصلاح")
    assert screen.box("fix_question").input_value().startswith("<script>")
    screen.shot("7-hostile")
    screen.choose("q", "إبقاء")
    screen.submit()
    assert page.evaluate("window.__ran") is None


def corrects_one_explanation(screen) -> None:
    page = screen.page
    screen.choose("w", "إصلاح")
    screen.eventually(page.locator(".row1").first.is_visible)
    assert not page.locator(".row2").first.is_visible(), "the poem has two verses"
    assert not page.locator(".for-gold, .for-verses").first.is_visible()
    row = screen.box("fix_explanation_1")
    assert row.input_value() == "يسمّي مواضع الديار"
    row.fill("يسمّي أماكن الديار")
    screen.shot("8-explanations")
    screen.leave_boxes()
    screen.submit()


def skips(screen) -> None:
    screen.choose("h", "لا أعرف اللهجة")
    with screen.page.expect_response(
        lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
    ):
        screen.page.get_by_role("button", name="Skip").first.click()
    screen.page.wait_for_timeout(500)
    screen.shot("9-done")


def opens_what_is_disputed(screen, project) -> None:
    """The page of a project, whose tab tells the lead what is disputed, in which page also everybody begins."""
    show_disputed(project, [ITEMS[0].id])
    screen.page.goto(f"{screen.url}/projects/{project.id}/data")
    screen.page.get_by_text("Disputed").first.click(timeout=90_000)
    screen.page.get_by_text(ITEMS[0].id).first.wait_for(timeout=60_000)
    screen.eventually(lambda: not screen.page.get_by_text(ITEMS[1].id).count())
    screen.shot("10-disputed")


def test_seven_tasks_in_arabic_by_keyboard_and_mouse(connection, members, browser, screenshots, stores):
    project = ensure_project(connection, "browser", "quality_review", "ar", overlap=1)
    tasks = [
        review_task(
            item,
            [finding(item.id)],
            [audit(item.id, who, failed=("answer_alignment",)) for who in ("first", "second")],
        )
        for item in ITEMS
    ]
    push(project, numbered(tasks))
    screen = Screen(browser, members[2], project, screenshots)
    looks_first(screen)
    keeps(screen)
    discards_under_an_arabic_layout(screen)
    fixes_from_the_keyboard(screen)
    fixes_with_the_mouse(screen)
    meets_hostile_text(screen)
    corrects_one_explanation(screen)
    skips(screen)
    assert (screen.outside, screen.dialogs) == ([], [])
    opens_what_is_disputed(screen, project)
    screen.close()

    pulled = pull(project, stores)
    assert (pulled.annotations, pulled.skipped, dict(pulled.rejected)) == (7, 1, {})
    (skipped,) = stored(stores.rejected, Rejection)
    assert (skipped.record, skipped.reason) == (ITEMS[6].id, "skipped_dialect")
    told = {review.item: review for review in pulled.reviews}
    assert [told[item.id].opened for item in ITEMS[:2]] == [("source",), ()]
    assert [told[item.id].decision for item in ITEMS[:6]] == ["keep", "discard", "fix", "fix", "keep", "fix"]
    assert told[ITEMS[0].id].failed == ("answer_alignment",)
    assert told[ITEMS[0].id].objects, "whoever ticks that the answer is wrong calls the item wrong"
    assert told[ITEMS[0].id].confidence == 1
    assert told[ITEMS[1].id].reason == "ambiguous"
    assert told[ITEMS[2].id].corrections == {
        "question": "ما معنى «إيده طويلة» في كلام أهل مصر؟",
        "options[0]": "المعنى الأول المصحّح",
        "gold": "1",
    }
    assert told[ITEMS[3].id].corrections == {"options[1]": "يعمل بيده كثيرًا"}
    assert told[ITEMS[5].id].corrections == {"explanations[1]": "يسمّي أماكن الديار"}
    assert told[ITEMS[0].id].seconds > 0


VOTES = {
    "K": ([("q", "إبقاء")], KEEP),
    "A": ([("w", "إصلاح"), ("Control+2", "ب")], [chosen("decision", "fix"), chosen("fix_gold", "1")]),
    "B": (
        [("w", "إصلاح"), ("Control+1", "أ"), ("Control+2", "ب")],
        [chosen("decision", "fix"), chosen("fix_gold", "0", "1")],
    ),
    "D": ([("e", "حذف"), ("x", "ملتبس")], DISCARD),
}
"""A vote of the table in docs/review.md: the keys that cast it with the choices they make, and what is submitted."""


def test_every_pattern_of_votes_comes_to_what_the_table_says(
    connection, members, browser, screenshots, stores
):
    """One item each; people vote one after the other, and none sees what the others said.

    Of each outcome one pattern is voted for in a browser, the others by the calls that a browser makes.
    """
    patterns = list(table())
    seen = {tuple(told): "".join(votes) for votes, *told in reversed(patterns) if votes}.values()
    # Those of a browser first, longest first: a person finds theirs at the head of the stream.
    order = sorted(("".join(votes) for votes, _, _ in patterns), key=lambda one: (one not in seen, -len(one)))
    items = {votes: choice(n, question=f"ما معنى ({n})؟") for n, votes in enumerate(order)}
    project = ensure_project(connection, "patterns", "quality_review", "ar", overlap=3)
    push(project, numbered([review_task(item) for item in items.values()]))
    tasks = {held.sample: held.task for held in project.held()}
    named = {item.id: votes for votes, item in items.items()}
    for turn, person in enumerate(members):
        waiting = sum(len(votes) > turn for votes in seen)
        screen = Screen(browser, person, project, screenshots) if waiting else None
        for _ in range(waiting):
            item = screen.page.locator(".mk .meta code").first.inner_text().split()[-1]
            for key, name in VOTES[named[item][turn]][0]:
                screen.choose(key, name)
            screen.shot(f"pattern-{named[item]}-{turn + 1}")
            screen.submit()
        if screen:
            assert screen.outside == []
            screen.close()
        for votes in items.keys() - set(seen):
            if len(votes) > turn:
                person.annotate(tasks[items[votes].id], VOTES[votes[turn]][1])

    pulled = pull_review(connection, "patterns", stores=stores, config=ReviewConfig())
    told = {row.item: row for row in pulled.disputed}
    given = grouped(decisions(stores), lambda row: row.item)
    for votes, flagged, sampled in patterns:
        item = items["".join(votes)]
        assert len(given[item.id]) == len(votes)
        assert outcome(given[item.id], "flag", item)[0] == flagged, votes
        assert outcome(given[item.id], "pass", item)[0] == sampled, votes
        assert (item.id in told) is flagged.endswith("disputed"), votes


def idiom() -> Idiom:
    phrase, meaning = Form(raw="إيده طويلة", text="إيده طويلة"), Form(raw="يسرق", text="يسرق")
    return Idiom(
        id="i1", language="ar", dialect="egyptian", phrase=phrase, explanation=meaning, provenance=SOURCE
    )


def poem() -> Poem:
    first, second = Form(raw="قفا نبك من ذكرى حبيب ومنزل"), Form(raw="بسقط اللوى بين الدخول فحومل")
    couplet = Couplet(id="p1:0", position=0, first=first, second=second)
    return Poem(
        id="p1", language="ar", title="المعلقة", poet="imru_al_qays", era="pre_islamic", genre="love",
        sections=(Section(index=0, metre="tawil"),), couplets=(couplet,),
        source_labels={"poet": "امرؤ القيس", "era": "الجاهلي", "genre": "غزل"}, provenance=SOURCE,
    )  # fmt: skip


def refined():
    from mihakk.annotation.decisions.refinements import refinement_task

    change = Refinement(problem="t/1", line=1, status="proposed", before="قم بارجاع العدد", after="أعد العدد")
    return refinement_task(change, "def f(x):\n    ...", "    return x")


SMALL = {
    "label_validation": (lambda: label_question(poem()).task(), ["1", "q", "d", "x"], {"poet": "right", "era": "right", "genre": "unsure", "metre": "wrong"}),
    "text_correction": (lambda: text_question("t1", "قفا نبك مـن ذكرى حبيب", "ar").task(), ["w", "3"], {"state": "corrected", "kinds": "word_breaks"}),
    "distractor_rating": (lambda: option_question(choice(), 1).task(), ["q", "s"], {"correct": "wrong", "tempting": "weak", "plausibility": "1"}),
    "dialect_sentence": (lambda: sentence_question(idiom(), "خلي بالك منه، إيده طويلة.").task(), ["q"], {"verdict": "accept"}),
    "wrong_idiom": (lambda: wrong_idiom_question(idiom(), "خلي بالك منه، ____.", [Candidate("i2", "لسانه طويل", "سليط"), Candidate("i3", "قلبه أبيض", "طيب")]).task(), ["2"], {"wrong": "2"}),
    "connotation": (lambda: connotation_question(idiom()).task(), ["w", "d"], {"idiom": "negative", "explanation": "neutral"}),
    "interpretive_depth": (lambda: item_reply_question(explanation(), "k", "وقف على الأطلال وبكى.").task("reply-1"), ["2", "e", "s", "c", "t"], {"literal": "1", "theme": "2", "culture": "1", "style": "2", "expression": "1", "depth": "7"}),
    "prompt_refinement": (refined, ["q", "a"], {"verdict": "accept", "meaning": "same"}),
    "own_answer": (lambda: own_answer_task(choice()), ["2"], {"own": "1"}),
    "answer_correctness": (lambda: item_reply_question(answer(), "k", "ناولها").task("reply-1"), ["3"], {"correctness": "3"}),
}  # fmt: skip
"""Template to a task, the keys that answer it, and the labels that must come back."""


def test_every_small_question_is_answered_from_the_keyboard(connection, browser, screenshots, stores):
    assert set(SMALL) == set(template_names()) - {"quality_review"}
    person = sign_up(connection.invitation(), "keyboard@example.org")
    screen = None
    for name, (task, keys, wanted) in SMALL.items():
        project = ensure_project(
            connection, "small", name, "fa" if name == "answer_correctness" else "ar", overlap=1
        )
        push(project, [task()])
        if screen is None:
            screen = Screen(browser, person, project, screenshots)
            screen.page.set_viewport_size({"width": 1024, "height": 768})
        screen.page.goto(f"{screen.url}/projects/{project.id}/data?labeling=1")
        screen.wait()
        end = screen.page.locator(".mk .skip").bounding_box()
        bar = screen.page.get_by_test_id("bottombar-submit-button").bounding_box()
        fits = end["y"] + end["height"] < bar["y"]
        # Fifteen points with their words don't fit a small screen: there the page scrolls.
        assert fits or name == "interpretive_depth", f"{name}: the reasons to skip are below the fold"
        for key in keys:  # under an Arabic layout, where its letters differ
            (screen.press_arabic if key in ARABIC_LAYOUT else screen.press)(key)
        screen.page.wait_for_timeout(600)
        screen.shot(f"small-{name}")
        with screen.page.expect_response(lambda a: "/annotations" in a.url and a.request.method == "POST"):
            screen.press("Control+Enter")
        labels = {label.name: label.value for label in pull(project, stores).labels}
        assert {key: labels.get(key) for key in wanted} == wanted, name
    assert screen.outside == []
    screen.close()
