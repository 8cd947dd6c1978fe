"""Agreement against the published implementation and worked cases, overturns, misses, people."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement import (
    Judgement,
    _alphas,
    _counts,
    agreement,
    bootstrap,
    krippendorff_alpha,
    label_judgements,
    review_judgements,
)
from annotation.decisions import add, decisions
from annotation.fixes import fixed
from annotation.pull import Stores
from annotation.quality import annotators, miss_rates, overturns, upper_bound, wilson
from annotation.ratings import Label
from annotation.report import markdown, review_report
from annotation.sampling import Entry, Queued
from mihakk.ids import content_hash
from schemas.review import Review
from tests.annotation.judged import NOON, audit, choice, review


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_worked_example_of_the_inventor(level, alpha):
    units = [
        ["1", "1", "1"], ["2", "2", "3", "2"], ["3", "3", "3", "3"], ["3", "3", "3", "3"], ["2", "2", "2", "2"],
        ["1", "2", "3", "4"], ["4", "4", "4", "4"], ["1", "1", "2", "1"], ["2", "2", "2", "2"],
        ["5", "5", "5"], ["1", "1"],
    ]  # fmt: skip
    assert krippendorff_alpha(units, level) == pytest.approx(alpha, abs=0.0006)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("0123"), min_size=2, max_size=4), min_size=2, max_size=30),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_the_fast_alpha_of_the_bootstrap_is_the_published_one(units, level):
    import numpy as np

    counts, domain = _counts(units, level)
    (fast,) = _alphas(counts, domain, level, np.ones((1, len(units))))
    slow = krippendorff_alpha(units, level)
    assert np.isnan(fast) if slow is None else fast == pytest.approx(slow)


def test_the_interval_covers_and_is_the_same_every_time():
    random.seed(1)
    units = [[str(v), str(v if random.random() < 0.8 else random.randrange(3))] for v in [0, 1, 2] * 40]
    low, high = bootstrap(units, "nominal", seed=5, name="x")
    assert low < krippendorff_alpha(units, "nominal") < high
    assert high - low < 0.4
    assert bootstrap(units, "nominal", seed=5, name="x") == (low, high)
    assert bootstrap(units, "nominal", seed=6, name="x") != (low, high)


def test_agreement_that_cannot_be_known_is_none():
    assert krippendorff_alpha([["a", "a"], ["a", "a"]], "nominal") is None
    assert krippendorff_alpha([], "ordinal") is None
    assert bootstrap([["a", "b"]], "nominal", seed=0, name="x") == (None, None)


def test_groups_are_all_languages_and_pairs():
    judged = [
        Judgement(f"u{n}", f"p{p}", value, "ar" if n < 4 else "fa")
        for n in range(8)
        for p, value in enumerate(["keep", "keep" if n % 2 else "fix", "discard"])
    ]
    rows = {row.group: row for row in agreement("quality_review", "decision", judged, resamples=50)}
    assert set(rows) == {"all", "language:ar", "language:fa", "pair:p0+p1", "pair:p0+p2", "pair:p1+p2"}
    assert (rows["all"].items, rows["all"].values, rows["all"].people) == (8, 24, 3)
    assert rows["pair:p0+p2"].alpha < 0
    assert rows["language:ar"].items == 4


def test_decisions_become_judgements_of_the_decision_and_of_every_criterion():
    item = choice()
    votes = [
        review(item, "p1", failed=("answer_quality",)),
        review(item, "p1", "keep"),
        review(item, "p2", "keep"),
    ]
    judged = review_judgements(votes, {item.id: "ar"})
    assert len(judged) == 11
    assert [one.value for one in judged["answer_quality"]] == ["met", "met"], (
        "a changed mind replaces the first"
    )
    assert judged["decision"][0].language == "ar"


def test_depth_is_an_interval_and_its_parts_ordinal():
    labels = [
        Label(subject=f"i@m{n}", content_hash="h", annotator=p, template="interpretive_depth", name="depth",
              value=str(value), decided_at=NOON)
        for n, pair in enumerate([(7, 8), (3, 3), (10, 9), (1, 2)])
        for p, value in zip(("p1", "p2"), pair, strict=True)
    ]  # fmt: skip
    judged = label_judgements(labels, {"i": "ar"})
    (row,) = [
        row
        for row in agreement("interpretive_depth", "depth", judged["interpretive_depth", "depth"])
        if row.group == "all"
    ]
    assert row.level == "interval"
    assert row.alpha > 0.9


def test_people_overturn_an_auditor():
    items = [choice(n) for n in range(4)]
    audits = [audit(item.id, "strict", failed=("answer_alignment",)) for item in items[:3]] + [
        audit(items[3].id, "strict")
    ]
    votes = [review(item, person) for item in items[:2] for person in ("p1", "p2")]
    votes += [
        review(items[2], "p1", failed=("answer_alignment",)),
        review(items[3], "p1", failed=("factual_accuracy",)),
    ]
    votes.append(review(choice(2, question="سؤال آخر"), "p3"))
    scores = {
        (row.item, content_hash(item)): {row.auditor: row.scores}
        for row, item in zip(audits, items, strict=True)
    }
    rows = {row.criterion: row for row in overturns(votes, scores)}
    assert (rows["answer_alignment"].zeros, rows["answer_alignment"].overturned) == (3, 2)
    assert rows["answer_alignment"].rate == pytest.approx(2 / 3)
    assert (
        rows["factual_accuracy"].zeros,
        rows["factual_accuracy"].missed,
        rows["factual_accuracy"].rate,
    ) == (0, 1, None)


@pytest.mark.parametrize(
    ("found", "tried", "bound"), [(0, 300, 0.0099), (0, 600, 0.0050), (3, 50, 0.1478), (5, 5, 1), (0, 0, 1)]
)
def test_clopper_pearson_upper_bound(found, tried, bound):
    assert upper_bound(found, tried) == pytest.approx(bound, abs=0.0001)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60))
def test_the_bound_is_the_beta_quantile(found, tried):
    beta = pytest.importorskip("scipy.stats").beta
    if found < tried:
        assert upper_bound(found, tried) == pytest.approx(beta.ppf(0.95, found + 1, tried - found), abs=1e-9)


def test_wilson_interval():
    low, high = wilson(160, 200)
    assert (round(low, 2), round(high, 2)) == (0.74, 0.85)


def test_the_miss_rate_counts_settled_samples_only():
    items = [choice(n) for n in range(5)]
    queued = [
        Queued(
            item=item.id,
            content_hash=content_hash(item),
            why="sample" if n else "flagged",
            stratum="ar/meaning_choice",
        )
        for n, item in enumerate(items)
    ]
    votes = [review(item, p, "keep") for item in items[:3] for p in ("p1", "p2")]
    votes += [review(items[3], p, "discard", reason="wrong_gold") for p in ("p1", "p2")]
    votes += [review(items[4], "p1")]
    rows = miss_rates(queued, votes, 2)
    assert [(row.stratum, row.decided, row.missed) for row in rows] == [
        ("all", 3, 1),
        ("ar/meaning_choice", 3, 1),
    ]


def work(person, number, *, seconds=30.0, decision="keep") -> list[Review]:
    return [
        review(
            choice(n),
            person,
            decision,
            seconds=seconds,
            reason="other" if decision == "discard" else None,
            minute=n,
        )
        for n in range(number)
    ]


def test_alarms_ring_for_odd_work_and_not_for_good_work():
    careful = work("careful", 20) + work("careful", 40, decision="discard")[20:]
    hasty = [row.model_copy(update={"seconds": 4.0}) for row in work("hasty", 40)]
    tired = [
        row.model_copy(
            update={"seconds": 60.0 if n < 20 else 11.0, "decision": "discard" if n < 20 else "keep"}
        )
        for n, row in enumerate(work("tired", 40))
    ]
    check = choice(99)
    missed = [review(check, "hasty", "keep"), review(check, "careful", "discard", reason="other")]
    queued = [Queued(item=check.id, content_hash="h", why="attention", stratum="s", base="b")]
    rows = {row.annotator: row for row in annotators([*careful, *hasty, *tired, *missed], queued)}
    assert set(rows["hasty"].alarms) == {"attention", "quick", "keeps_all"}
    assert rows["hasty"].attention_passed == 0
    assert set(rows["tired"].alarms) == {"faster", "drifting"}
    assert rows["careful"].alarms == ("drifting",)
    assert rows["careful"].attention_passed == 1


def test_the_report_reads_the_stores_and_is_the_same_every_time(tmp_path):
    stores = Stores.under(str(tmp_path))
    items = [choice(n) for n in range(6)]
    votes = [
        review(
            item, person, "keep" if n % 2 else "discard", reason=None if n % 2 else "ambiguous", seconds=20.0
        )
        for n, item in enumerate(items)
        for person in ("annotator-01", "annotator-02")
    ]
    add(stores.decisions, Review, votes)
    rows = [
        Queued(item=item.id, content_hash=content_hash(item), why="sample", stratum="ar/meaning_choice")
        for item in items[1:3]
    ]
    add(stores.queued, Queued, rows)
    audits = [audit(item.id, "first", failed=("answer_alignment",)) for item in items]
    report = review_report(stores, items, audits, seed=1)
    assert (report.outcomes, report.discards) == ({"discard": 3, "keep": 3}, {"ambiguous": 3})
    assert report.agreement[0].alpha == 1
    assert report == review_report(stores, items, audits, seed=1)
    text = markdown(report)
    assert "| ar/meaning_choice | 2 | 1 | 0.50 | 97.47% |" in text
    assert "| first | answer_alignment | 6 | 6 | 1.00 |" in text
    assert "nobody" not in text


def test_a_corrected_item_still_counts_as_missed_and_as_judged(tmp_path):
    stores, item = Stores.under(str(tmp_path)), choice()
    fix = {"corrections": {"gold": "1"}, "failed": ("answer_alignment",)}
    add(
        stores.decisions,
        Review,
        [review(item, person, "fix", **fix) for person in ("annotator-01", "annotator-02")],
    )
    before = Entry(item, "sample").queued(
        [audit(item.id, "first"), audit(item.id, "second", failed=("answer_alignment",))]
    )
    add(stores.queued, Queued, [before])
    corrected, _ = fixed([item], decisions(stores.decisions), 2)
    report = review_report(stores, corrected, [audit(item.id, "first")], seed=1)
    assert (report.outcomes, report.stale) == ({"fix": 1}, 0)
    assert (report.miss_rates[0].decided, report.miss_rates[0].missed) == (1, 1)
    rows = {(row.auditor, row.criterion): row for row in report.overturns}
    assert rows["first", "answer_alignment"].missed == 1
    assert (rows["second", "answer_alignment"].zeros, rows["second", "answer_alignment"].overturned) == (1, 0)


def test_an_empty_report_says_so(tmp_path):
    report = review_report(Stores.under(str(tmp_path)), [choice()], [], seed=1)
    assert report.outcomes == {}
    assert "Nothing yet." in markdown(report)


def test_decisions_later_in_time_are_last(tmp_path):
    rows = annotators(
        [review(choice(n), "p", decided_at=NOON - timedelta(days=n), seconds=1.0) for n in range(3)], []
    )
    assert rows[0].decisions == 3
