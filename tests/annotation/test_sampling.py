"""Who gets into the queue, and that the queue does not tell why."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.decisions.pseudonyms import Person, pseudonyms
from mihakk.annotation.decisions.store import stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.benchmark_push import _tasks, queue_tasks
from mihakk.annotation.screens.queue import by_subject
from mihakk.annotation.statistics.auditor_errors import annotators
from mihakk.annotation.statistics.sampling import NEWCOMER_CHECKS, QueueEntry, allocate, choose
from mihakk.machinery.ids import content_hash
from mihakk.schemas.benchmark import ReviewConfig
from tests.annotation.judged import answer, audit, choice, explanation, finding, review, verdict

ITEMS = [choice(n) for n in range(90)] + [answer(n) for n in range(30)]
VERDICTS = [verdict(item.id, "flag" if n % 3 == 0 else "pass") for n, item in enumerate(ITEMS)]


def test_flagged_items_a_stratified_sample_and_attention_checks():
    entries = choose(ITEMS, VERDICTS, seed=1, sample=12, attention_every=20)
    assert Counter(entry.why for entry in entries) == {"flagged": 40, "sample": 12, "attention": 3}
    strata = Counter(entry.queued().stratum for entry in entries if entry.why == "sample")
    assert strata == {"ar/meaning_choice": 9, "fa/last_word": 3}
    flagged = {verdict.item for verdict in VERDICTS if verdict.status == "flag"}
    assert not {entry.item.id for entry in entries if entry.why == "sample"} & flagged


def test_one_item_less_changes_no_other_draw():
    whole = {entry.item.id for entry in choose(ITEMS, VERDICTS, seed=1, sample=12) if entry.why == "sample"}
    gone = next(iter(sorted(whole)))
    rest = [item for item in ITEMS if item.id != gone]
    less = {entry.item.id for entry in choose(rest, VERDICTS, seed=1, sample=12) if entry.why == "sample"}
    assert len(whole - less - {gone}) <= 1
    assert {
        entry.item.id for entry in choose(ITEMS, VERDICTS, seed=2, sample=12) if entry.why == "sample"
    } != whole


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 50), max_size=6), st.integers(0, 120))
def test_shares_add_up_and_leave_no_stratum_out(sizes, total):
    shares = allocate(sizes, total)
    assert sum(shares.values()) == min(total, sum(sizes.values()))
    assert all(0 <= shares[name] <= sizes[name] for name in sizes)
    if total >= len(sizes):
        assert all(shares[name] for name in sizes if sizes[name])


MANY = [
    *(choice(n, question=f"ما معنى «إيده طويلة» في كلام أهل مصر ({n})؟") for n in range(40)),
    *(answer(n, answer=f"ناولها{n}", accepted=()) for n in range(40)),
    *(explanation(id=f"ar-verse_explanation-{n:016x}") for n in range(20)),
]


def test_a_planted_defect_is_real_and_looks_like_any_item():
    """Each kind is told by the sound item, not by what planted it."""
    sound = {item.id: item for item in MANY}
    entries = choose(MANY, [verdict(i.id, "pass") for i in MANY], seed=1, sample=90, attention_every=1)
    checks = [entry for entry in entries if entry.why == "attention"]
    assert len(checks) == 90
    kinds = Counter(entry.known for entry in checks)
    assert set(kinds) == {"swapped_gold", "cut_question", "other_answer", "shifted_explanations", "garbled"}
    assert kinds["garbled"] < 40, "most of them take reading"
    for entry in checks:
        base, item = sound[entry.base], entry.item
        assert content_hash(item) != content_hash(base)
        assert item.id not in sound
        assert item.id.rpartition("-")[0] == base.id.rpartition("-")[0]
        assert len(item.id) == len(base.id)
        if entry.known == "swapped_gold":
            assert item.options == base.options
            assert not set(item.gold) & set(base.gold)
        if entry.known == "other_answer":
            assert item.answer not in (base.answer, *base.accepted)
            assert item.answer in {one.answer for one in MANY if one.task == base.task}
        if entry.known == "shifted_explanations":
            assert sorted(item.explanations) == sorted(base.explanations)
            assert all(one != two for one, two in zip(item.explanations, base.explanations, strict=True))
        if entry.known == "cut_question":
            assert base.question.startswith(item.question)


def test_half_of_the_checks_are_sound_items_that_looked_odd_once_people_agreed_on_some():
    verdicts = [verdict(item.id, "flag" if n % 2 else "pass") for n, item in enumerate(MANY)]
    agreed = {item.id for item in MANY[1:30:2]}
    plain = choose(MANY, verdicts, seed=1, attention_every=5)
    found = choose(MANY, verdicts, seed=1, attention_every=5, agreed=agreed)
    checks = [entry for entry in found if entry.why == "attention"]
    assert Counter(entry.known == "sound" for entry in checks) == {True: 5, False: 5}
    sound = {item.id: item for item in MANY}
    for entry in checks:
        if entry.known == "sound":
            assert entry.base in agreed
            assert content_hash(entry.item) == content_hash(sound[entry.base])
            assert entry.item.id not in sound, "an answer to it is no vote on the item"
    before = {entry.item.id for entry in plain if entry.why == "attention"}
    assert {entry.item.id for entry in checks if entry.known != "sound"} <= before


def test_right_answers_to_checks_are_counted_in_both_directions():
    planted = [choice(n) for n in range(30)]
    odd = [choice(100 + n) for n in range(10)]
    queued = [
        QueueEntry(item, "attention", known=known).queued()
        for item, known in [*((i, "swapped_gold") for i in planted), *((i, "sound") for i in odd)]
    ]

    def person(misses: int, falls: int) -> list:
        said = ["keep" if n < misses else "discard" for n in range(30)]
        also = ["fix" if n < falls else "keep" for n in range(10)]
        return [review(i, "p", d) for i, d in zip([*planted, *odd], [*said, *also], strict=True)]

    (found,) = annotators(person(2, 1), queued)
    assert (found.attention, found.attention_passed, found.planted, found.planted_found) == (40, 37, 30, 28)
    assert found.alarms == (), "two subtle defects escape the careful too"
    (poor,) = annotators(person(15, 4), queued)
    assert poor.alarms == ("guessing",)
    older = [row.model_copy(update={"known": ""}) for row in queued[:30]]
    assert annotators(person(30, 0)[:30], older)[0].alarms == ("guessing",)


def test_the_head_of_the_queue_is_dense_with_checks_for_newcomers(tmp_path):
    stores, config = Stores.under(str(tmp_path)), ReviewConfig(overlap=2, team=4)
    verdicts = [verdict(item.id, "flag" if n % 2 else "pass") for n, item in enumerate(MANY)]

    tasks, entries = queue_tasks(MANY, verdicts, [], audits=[], stores=stores, seed=1, config=config)
    why = {entry.item.id: entry.why for entry in entries}
    is_check = [why[task["data"]["sample_id"]] == "attention" for task in tasks]
    real = is_check.count(False)
    expected = math.ceil(real / 20) + min(4 * NEWCOMER_CHECKS // 2, real // 2)
    assert sum(is_check) == expected
    head = is_check[:30]
    assert all(sum(head[n : n + 3]) == 1 for n in range(0, 30, 3))
    assert len({tuple(head[n : n + 3]) for n in range(0, 30, 3)}) > 1, "no fixed place gives it away"


def test_annotators_cannot_tell_why_an_item_is_there():
    entries = choose(ITEMS, VERDICTS, seed=1, sample=12, attention_every=10)
    flagged = [entry.item.id for entry in entries if entry.why == "flagged"]
    findings = [finding(item) for item in flagged]
    audits = [audit(item.id, failed=("answer_quality",) if item.id in flagged else ()) for item in ITEMS]
    tasks = _tasks(entries, *by_subject(findings, audits), seed=1)
    rows = [task["data"] for task in tasks]
    why = {entry.item.id: entry.why for entry in entries}
    assert len({tuple(row) for row in rows}) == 1, "every task has the same fields"
    by_why = {
        kind: {row["priority"] for row in rows if why[row["sample_id"]] == kind} for kind in set(why.values())
    }
    assert by_why["sample"] <= by_why["flagged"]
    assert by_why["attention"] <= by_why["flagged"]
    assert not any(word in str(row) for row in rows for word in ("attention", "flagged", "miss_rate"))


def test_people_get_pseudonyms_once(tmp_path):
    folder = str(tmp_path)
    assert pseudonyms(folder, {7: "Sara@example.org", 3: "ali@example.org"}) == {
        3: "annotator-01",
        7: "annotator-02",
    }
    again = pseudonyms(folder, {1: "new@example.org", 9: "sara@example.org "})
    assert again == {1: "annotator-03", 9: "annotator-02"}
    assert len(stored(folder, Person)) == 3
    assert "example" not in "".join(path.read_text() for path in tmp_path.iterdir())
