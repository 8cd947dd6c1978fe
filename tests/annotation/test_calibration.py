"""Calibration: what is known, who passes, from when on answers count, and what a person is shown of it."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from scipy.stats import binom, binomtest

from mihakk.annotation.campaigns.questions import text_questions
from mihakk.annotation.decisions.store import add, decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.answers import Reader, texts_of
from mihakk.annotation.label_studio.exported import Answer, Task
from mihakk.annotation.label_studio.exported import Row as Annotation
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.review_markdown import markdown
from mihakk.annotation.statistics.review_report import review_report
from mihakk.annotation.teaching import known as making
from mihakk.annotation.teaching.page import calibration_words, explanation, person_page
from mihakk.annotation.teaching.rounds import Gate, draw_round, due, is_right, needed, standings
from mihakk.annotation.teaching.written import read_written
from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import CalibrationAnswer, Known, Round, Standing
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.review import Resolution, Review, Voided
from tests.annotation.exported import pulled, result
from tests.annotation.judged import NOON, answer, choice
from tests.annotation.people_round import known_questions
from tests.generators.records import make_idiom

ITEMS = [
    *(choice(n, question=f"ما معنى «إيده طويلة» في كلام أهل مصر ({n})؟") for n in range(40)),
    *(answer(n, answer=f"ناولها{n}", accepted=()) for n in range(20)),
]
PASSED = {item.id for item in ITEMS}


def known_in(language: str) -> list[Known]:
    return [one for one in making.known_items(ITEMS, PASSED, {}, 1) if one.language == language]


def test_a_round_is_half_sound_takes_kinds_in_turns_and_no_thing_twice():
    some = known_in("ar")
    first = draw_round(some, 12, 1, 7, ())
    assert Counter(one.side for one in first) == {"sound": 6, "defective": 6}
    assert Counter(one.kind for one in first) == {"unflagged": 6, "swapped_gold": 3, "cut_question": 3}
    assert len({one.base for one in first}) == 12
    assert first == draw_round(some[::-1], 12, 1, 7, ())
    assert first != draw_round(some, 12, 1, 8, ())
    second = draw_round(some, 12, 2, 7, {one.base for one in first})
    assert not {one.base for one in first} & {one.base for one in second}
    assert draw_round([one for one in some if one.side == "sound"], 12, 1, 7, ()) == [], (
        "one direction is none"
    )
    fewer = draw_round([one for one in some if one.base in {item.id for item in ITEMS[:6]}], 12, 1, 7, ())
    assert Counter(one.side for one in fewer) == {"sound": 3, "defective": 3}


def test_what_people_settled_goes_before_what_nobody_objected_to():
    told = {
        ITEMS[0].id: Resolution(item=ITEMS[0].id, outcome="keep", by="agreement", votes=2),
        ITEMS[1].id: Resolution(item=ITEMS[1].id, outcome="keep", by="adjudicator", votes=3),
        ITEMS[2].id: Resolution(
            item=ITEMS[2].id, outcome="discard", by="agreement", reason="ambiguous", votes=2
        ),
        ITEMS[3].id: Resolution(item=ITEMS[3].id, outcome="keep", by="single", votes=1),
    }
    flagged = {ITEMS[1].id, ITEMS[2].id, ITEMS[3].id}
    some = list(making.known_items(ITEMS[:20], PASSED - flagged, told, 1))
    sure = {
        one.base: (one.side, one.kind, one.basis) for one in some if one.basis in ("agreed", "adjudicated")
    }
    assert sure == {
        ITEMS[0].id: ("sound", "kept", "agreed"),
        ITEMS[1].id: ("sound", "kept_though_odd", "adjudicated"),
        ITEMS[2].id: ("defective", "discarded_ambiguous", "agreed"),
    }
    assert ITEMS[3].id not in {one.base for one in some}, "one person's word on a flagged item is not known"
    drawn = {one.base: one.basis for one in draw_round(some, 8, 1, 1, ())}
    assert sure.keys() <= drawn.keys()
    busy = list(making.known_items(ITEMS[:20], PASSED, {}, 1, busy={ITEMS[5].id}))
    assert ITEMS[5].id not in {one.base for one in busy}, "people are asked about it for real"


def person(name: str, rows: list[Known], rights: list[bool], day: int = 0) -> list[CalibrationAnswer]:
    return [
        CalibrationAnswer(
            template=row.template, language=row.language, round=row.round, subject=row.subject, annotator=name,
            values={}, right=ok, decided_at=NOON + timedelta(days=day, minutes=minute),
        )
        for minute, (row, ok) in enumerate(zip(rows, rights, strict=True))
    ]  # fmt: skip


def ask(number: int = 1, why: str = "first", day: int = 0, items: int = 12) -> Round:
    return Round(
        template="quality_review", language="ar", number=number, why=why, items=items,
        needed=needed(items, 0.75), begun_at=NOON + timedelta(days=day),
    )  # fmt: skip


@pytest.mark.parametrize(("finds", "spares"), [(0.5, 0.5), (0.0, 1.0), (0.7, 0.8), (0.9, 0.9), (0.97, 0.95)])
def test_people_of_stated_skill_pass_as_often_as_the_binomial_says(finds, spares):
    """Whoever finds and spares these shares passes with the probability of two binomials together."""
    rows = draw_round(known_in("ar"), 12, 1, 7, ())
    chance = random.Random(f"{finds} {spares}")
    people = 400
    answers = []
    for n in range(people):
        rights = [chance.random() < (finds if row.side == "defective" else spares) for row in rows]
        answers += person(f"p{n}", rows, rights)
    found = standings([ask()], rows, answers)
    assert len(found) == people
    passed = sum(one.state == "passed" for one in found)
    expected = sum(binom.pmf(k, 6, finds) * binom.sf(9 - k - 1, 6, spares) for k in range(7))
    assert passed == 0 if expected == 0 else binomtest(passed, people, min(1.0, expected)).pvalue > 1e-4
    one = found[0]
    exact = binomtest(one.right, 12).proportion_ci(method="exact")
    assert (one.low, one.high) == pytest.approx((exact.low, exact.high))
    assert sum(one.found for one in found) <= sum(one.planted for one in found) == 6 * people


def test_who_is_half_through_has_neither_passed_nor_failed_and_only_first_answers_count():
    rows = draw_round(known_in("ar"), 12, 1, 7, ())
    half = person("p", rows, [True] * 12)[:9]
    (one,) = standings([ask()], rows, half)
    assert (one.state, one.answered, one.right) == ("under way", 9, 9)
    wrong = person("p", rows, [False] * 12)
    (one,) = standings([ask()], rows, [*wrong, *person("p", rows, [True] * 12, day=1)])
    assert (one.state, one.right) == ("failed", 0), "an answer changed after the explanation counts no more"


def passed_at(day: int, number: int = 1, name: str = "p", state: str = "passed") -> Standing:
    return Standing(
        annotator=name, template="quality_review", language="ar", round=number, items=12, answered=12, right=10,
        needed=9, state=state, passed_at=NOON + timedelta(days=day) if state == "passed" else None,
    )  # fmt: skip


def test_answers_count_from_the_moment_of_passing_and_again_only_after_the_next_one_asked():
    rounds = [ask(1, day=1), ask(2, "failed", day=3), ask(3, "guideline", day=10)]
    gate = Gate(rounds, [passed_at(4, 2), passed_at(12, 3), passed_at(2, 1, "q")], {"lead"})

    def days(name: str, *when: float) -> list[bool]:
        return [gate.counts(name, "quality_review", "ar", NOON + timedelta(days=day)) for day in when]

    assert days("p", 0.5, 2, 4, 9, 10.5, 13) == [True, False, True, True, False, True]
    assert days("q", 1.5, 2, 9, 11, 30) == [False, True, True, False, False], (
        "the changed guideline asks again"
    )
    assert days("lead", 2, 11) == [True, True]
    assert gate.counts("p", "quality_review", "fa", NOON + timedelta(days=2)), "nothing was asked there"


def test_another_round_is_drawn_for_who_failed_the_last_and_when_the_guideline_changed():
    failed, passed = passed_at(2, 1, state="failed"), passed_at(2, 1, "q")
    assert due([], [], []) == "first"
    assert due([ask(day=1)], [passed], []) is None
    assert due([ask(day=1)], [failed, passed], []) == "failed"
    assert due([ask(day=1), ask(2, "failed", day=3)], [failed, passed], []) is None, (
        "it has not been answered yet"
    )
    assert due([ask(day=1)], [passed], [NOON + timedelta(days=5)]) == "guideline"
    assert due([ask(day=1), ask(2, "guideline", day=6)], [passed], [NOON + timedelta(days=5)]) is None


AFTER_AGREEMENT = {"dialect_sentence", "wrong_idiom"}
"""What a sound sentence or a fitting wrong idiom is, people have to say first."""
RIGHT = {
    "quality_review": ({"decision": "keep"}, {"decision": "discard", "reason": "other"}),
    "distractor_rating": ({"plausibility": "2"}, {"plausibility": "0"}),
    "label_validation": (
        dict.fromkeys(("poet", "era", "genre", "metre"), "right"),
        dict.fromkeys(("poet", "era", "genre", "metre"), "wrong"),
    ),
    "text_correction": ({"state": "sound"}, {"state": "corrected"}),
    "connotation": (
        {"idiom": "positive", "explanation": "neutral"},
        {"idiom": "negative", "explanation": "neutral"},
    ),
    "interpretive_depth": (
        {"literal": "1", "theme": "2", "culture": "2", "style": "3", "expression": "2"},
        dict.fromkeys(("literal", "theme", "culture", "style", "expression"), "0"),
    ),
    "answer_correctness": ({"correctness": "3"}, {"correctness": "0"}),
    "dialect_sentence": ({"verdict": "accept"}, {"verdict": "replace"}),
    "wrong_idiom": ({"wrong": "1"}, {"wrong": "none"}),
}
"""By template a careful person's answer to sound and to defective questions."""


@pytest.mark.parametrize("template", sorted(RIGHT))
def test_a_careful_person_is_right_and_whoever_says_the_opposite_is_wrong(template, label_interface):
    rows = known_questions()[template]
    sides = {row.side for row in rows}
    assert sides == ({"defective"} if template in AFTER_AGREEMENT else {"sound", "defective"})
    assert len({row.subject for row in rows}) == len(rows)
    for row in rows[:8] + rows[-8:]:
        assert label_interface(labelling(template, row.language).config).validate_task(
            {"data": row.sent["data"]}
        )
        sound, defective = RIGHT[template]
        careful, careless = (sound, defective) if row.side == "sound" else (defective, sound)
        reader = Reader(labelling(template, row.language))
        for values, right in ((careful, True), (careless, False)):
            given = Annotation(
                id=1, completed_by=1, was_cancelled=False, result=result(values), updated_at=NOON
            )
            answered = Answer(Task(id=1, data=row.sent["data"], annotations=[]), given)
            assert is_right(row.accepts, texts_of(reader.values(answered), template)) is right, row.kind


def test_every_kind_is_explained_in_three_languages_and_nothing_else_is():
    used = {row.kind for rows in known_questions().values() for row in rows}
    reasons = {
        f"discarded_{name}" for name in calibration_words("en")["explain"] if name.startswith("discarded")
    }
    for language in ("ar", "fa", "en"):
        told = calibration_words(language)
        assert used <= told["explain"].keys()
        assert told.keys() == calibration_words("en").keys()
        assert told["explain"].keys() == calibration_words("en")["explain"].keys()
    assert reasons


def test_the_page_explains_what_was_answered_and_shows_nothing_else():
    rows = draw_round(known_in("ar"), 12, 1, 7, ())
    given = person("p", rows, [True, False, *[True] * 10])[:2]
    page = person_page(given, rows, standings([ask()], rows, given))
    assert page.count("<article") == 2
    assert all(explanation(row) in page.replace("&#34;", '"') for row in rows[:2])
    shown = {row.sent["data"]["item_html"] for row in rows[:2]}
    assert not any(
        row.sent["data"]["item_html"] in page
        for row in rows[2:]
        if row.sent["data"]["item_html"] not in shown
    )
    assert 'dir="rtl"' in page
    assert "<article" not in person_page([], rows, [])


def test_a_hostile_item_can_not_run_on_the_page():
    bad = "<script>alert(1)</script>" * 1
    item = choice(1, question=f"ما معنى هذا الكلام كله {bad} هنا", options=(bad, "ب"))
    rows = [one.model_copy(update={"round": 1}) for one in making.known_items([item], {item.id}, {}, 1)]
    page = person_page(
        person("p", rows, [True] * len(rows)),
        rows,
        standings([ask()], rows, person("p", rows, [True] * len(rows))),
    )
    assert "<script" not in page
    assert page.count("<article") == len(rows) == 3


def test_what_people_agreed_on_in_a_campaign_is_known_from_then_on(tmp_path):
    stores = Stores.under(str(tmp_path))
    records = [make_idiom(f"files:i{n}", phrase=f"مثل {n}", explanation=f"شرح المثل {n}") for n in range(4)]
    questions = [q for q in text_questions(records, None) if q.key.endswith("explanation")]
    tasks = [q.task(q.key) for q in questions]
    add(
        stores.campaigns,
        Drawn,
        [
            Drawn(
                template="text_correction", key=q.key, subject=q.key, record=q.record,
                content_hash=task["data"]["content_hash"], before=dict(q.before),
            )
            for q, task in zip(questions, tasks, strict=True)
        ],
    )  # fmt: skip
    sound, broken = {"state": "sound"}, {"state": "corrected", "fix_text": "شرح"}
    said = [[sound, sound], [broken, broken], [sound, broken], [sound, None]]
    given = {q.key: answers for q, answers in zip(questions, said, strict=True)}
    pulled(stores, "text_correction", tasks, given)
    rows = list(
        making.settled_questions(
            questions, stored(stores.campaigns, Drawn), stored(stores.labels, Label), ReviewConfig(overlap=2)
        )
    )
    assert {row.base: (row.side, row.accepts) for row in rows} == {
        questions[0].key: ("sound", {"state": ("sound",)}),
        questions[1].key: ("defective", {"state": ("corrected",)}),
    }


def test_answers_before_passing_are_kept_and_count_nowhere(tmp_path):
    stores, tasks = Stores.under(str(tmp_path)), [choice(n) for n in range(2)]
    from mihakk.annotation.screens.tasks import review_task

    sent = [review_task(item) for item in tasks]
    keep = {"decision": "keep"}
    gate = Gate([ask(day=-1)], [passed_at(-0.5, name="annotator-02")], ())
    found = pulled(stores, "quality_review", sent, {item.id: [keep, keep] for item in tasks}, gate=gate)
    assert (found.withheld, len(found.reviews)) == (2, 4)
    assert {row.annotator for row in stored(stores.decisions, Review)} == {"annotator-01", "annotator-02"}
    assert {row.annotator for row in decisions(stores)} == {"annotator-02"}
    assert {row.by for row in stored(stores.voided, Voided)} == {"calibration"}
    rows = draw_round(known_in("ar"), 4, 1, 7, ())
    add(stores.known, Known, rows)
    add(stores.rounds, Round, [ask(items=4)])
    add(stores.calibrated, CalibrationAnswer, person("annotator-01", rows, [True, False, True, True]))
    report = markdown(review_report(stores, tasks, [], seed=1))
    exact = binomtest(3, 4).proportion_ci(method="exact")
    assert f"| 4/4 | 3 | 3 | {exact.low:.2f} to {exact.high:.2f} | " in report
    assert "Answers kept that don't count, made before passing: annotator-01 2." in report


GOOD = """
questions:
  - template: quality_review
    language: ar
    sound: false
    accepts: {decision: [fix, discard]}
    says: القافية مكسورة.
    item: {kind: answer, question: أكمل البيت, context: قفا نبك, answer: ومنزل}
  - template: distractor_rating
    language: en
    sound: true
    accepts: {plausibility: ["2"]}
    says: It is wrong and plausible.
    parts: [["", "What does it mean?"], [right, "He steals."], [wrong, "He is tall."]]
"""


def test_the_lead_writes_known_questions_by_hand(tmp_path):
    path = tmp_path / "known.yaml"
    path.write_text(GOOD, "utf-8")
    one, two = read_written(path)
    assert (one.template, one.side, one.basis, explanation(one)) == (
        "quality_review", "defective", "written", "القافية مكسورة.",
    )  # fmt: skip
    assert (two.language, two.accepts) == ("en", {"plausibility": ("2",)})
    assert "He is tall." in two.sent["data"]["item_html"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("decision: [", "verdict: [", "quality_review has no answer 'verdict'; it has decision"),
        ("[wrong,", "[worng,", "questions.1: distractor_rating has no heading 'worng'"),
        ("says: القافية مكسورة.", "says: ''", "questions.0.says"),
        ("kind: answer", "kind: choice", "questions.0.item.choice"),
        ("template: distractor_rating", "template: distractors", "no such template"),
    ],
)
def test_a_known_question_that_nobody_could_answer_is_refused(tmp_path, before, after, said):
    path = tmp_path / "known.yaml"
    path.write_text(GOOD.replace(before, after, 1), "utf-8")
    with pytest.raises(UsageError) as refused:
        list(read_written(path))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
