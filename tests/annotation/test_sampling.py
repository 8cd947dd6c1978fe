"""Who gets into the queue, and that the queue does not tell why."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.decisions.pseudonyms import Person, pseudonyms
from annotation.decisions.store import stored
from annotation.label_studio.exchange import _tasks
from annotation.screens.queue import by_subject
from annotation.statistics.sampling import allocate, broken, choose
from mihakk.ids import content_hash
from tests.annotation.judged import answer, audit, choice, explanation, finding, verdict

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


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 50), max_size=6), st.integers(0, 120))
def test_shares_add_up_and_leave_no_stratum_out(sizes, total):
    shares = allocate(sizes, total)
    assert sum(shares.values()) == min(total, sum(sizes.values()))
    assert all(0 <= shares[name] <= sizes[name] for name in sizes)
    if total >= len(sizes):
        assert all(shares[name] for name in sizes if sizes[name])


@pytest.mark.parametrize("item", [choice(), answer(), explanation()], ids=["choice", "answer", "explanation"])
def test_an_attention_check_is_plainly_broken_and_looks_like_any_item(item):
    check = broken(item)
    assert content_hash(check) != content_hash(item)
    assert check.id != item.id
    assert check.id.rpartition("-")[0] == item.id.rpartition("-")[0]
    assert len(check.id) == len(item.id)


def test_annotators_cannot_tell_why_an_item_is_there():
    entries = choose(ITEMS, VERDICTS, seed=1, sample=12, attention_every=10)
    flagged = [entry.item.id for entry in entries if entry.why == "flagged"]
    findings = [finding(item) for item in flagged]
    audits = [audit(item.id, failed=("answer_quality",) if item.id in flagged else ()) for item in ITEMS]
    tasks = _tasks(entries, *by_subject(findings, audits), seed=1)
    rows = [task["data"] for language in tasks for task in tasks[language]]
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
