"""Agreement against the published implementation and worked cases, overturns, misses, people."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.annotation.decisions.fixes import fixed
from mihakk.annotation.decisions.store import add, decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.agreement import (
    Judgement,
    agreement,
    label_judgements,
    review_judgements,
)
from mihakk.annotation.statistics.auditor_errors import annotators, overturns
from mihakk.annotation.statistics.review_markdown import markdown
from mihakk.annotation.statistics.review_report import review_report
from mihakk.annotation.statistics.sampling import Queued, QueueEntry
from mihakk.machinery.agreement import Ends, bootstrap, krippendorff_alpha
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.review import Decision, Review
from tests.annotation.judged import NOON, audit, choice, review

DECISIONS = get_args(Decision)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_worked_example_of_the_inventor(level, alpha):
    units = [
        ["1", "1", "1"], ["2", "2", "3", "2"], ["3", "3", "3", "3"], ["3", "3", "3", "3"], ["2", "2", "2", "2"],
        ["1", "2", "3", "4"], ["4", "4", "4", "4"], ["1", "1", "2", "1"], ["2", "2", "2", "2"],
        ["5", "5", "5"], ["1", "1"],
    ]  # fmt: skip
    assert krippendorff_alpha(units, level) == pytest.approx(alpha, abs=0.0006)


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("0123"), min_size=2, max_size=4), min_size=2, max_size=30),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_that_of_the_published_implementation(units, level):
    own = krippendorff_alpha(units, level)
    if len({value for values in units for value in values}) == 1:
        assert own is None
        return
    domain = sorted({float(value) for values in units for value in values})
    counts = [[sum(float(value) == one for value in values) for one in domain] for values in units]
    published = krippendorff.alpha(
        value_counts=np.array(counts), value_domain=domain, level_of_measurement=level
    )
    assert own == pytest.approx(published)


def test_the_interval_covers_and_is_the_same_every_time():
    random.seed(1)
    units = [[str(v), str(v if random.random() < 0.8 else random.randrange(3))] for v in [0, 1, 2] * 40]
    ends = bootstrap(units, "nominal", seed=5, name="x")
    low, high = ends.alpha
    assert low < krippendorff_alpha(units, "nominal") < high
    assert high - low < 0.4
    assert bootstrap(units, "nominal", seed=5, name="x") == ends
    assert bootstrap(units, "nominal", seed=6, name="x") != ends


def test_agreement_that_cannot_be_known_is_none():
    assert krippendorff_alpha([["a", "a"], ["a", "a"]], "nominal") is None
    assert krippendorff_alpha([], "ordinal") is None
    assert bootstrap([["a", "b"]], "nominal", seed=0, name="x") == Ends(None, None, None)


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
    assert [one.value for one in judged["answer_quality"]] == ["unmet", "met"], (
        "the first word is the independent one"
    )
    assert judged["decision"][0].language == "ar"


def test_votes_asked_for_because_people_disagreed_change_no_agreement():
    """The oracle is the published implementation over the first two columns alone."""
    chance = random.Random(3)
    first = [
        (d, d if chance.random() < 0.8 else chance.choice(DECISIONS))
        for d in chance.choices(DECISIONS, k=300)
    ]
    items = [choice(n) for n in range(300)]
    votes = [review(item, f"p{n}", pair[n]) for n in (0, 1) for item, pair in zip(items, first, strict=True)]
    third = [(item, pair) for item, pair in zip(items, first, strict=True) if pair[0] != pair[1]]
    votes += [review(item, "p2", chance.choice(pair)) for item, pair in third]
    votes += [review(items[0], "p0", first[0][1])]
    expected = krippendorff.alpha(
        list(zip(*first, strict=True)), value_domain=DECISIONS, level_of_measurement="nominal"
    )
    judged = review_judgements(votes, {})["decision"]
    rows = {row.group: row for row in agreement("quality_review", "decision", judged, resamples=20)}
    assert set(rows) == {"all"}, "the third person judged nothing independently, so no pair is theirs"
    assert rows["all"].alpha == pytest.approx(expected)
    assert rows["all"].observed == pytest.approx(sum(one == two for one, two in first) / 300)
    everybody = [
        [*pair, *([vote.decision for vote in votes[600:-1] if vote.item == item.id])]
        for item, pair in zip(items, first, strict=True)
    ]
    assert krippendorff_alpha(everybody, "nominal") != pytest.approx(expected, abs=0.01), (
        "all votes say another thing"
    )


def test_pearson_between_people_is_the_one_scipy_finds():
    """Three people's scores of replies, as BALSAM's table 3 has them: pair by pair, some replies not by all."""
    from math import atanh, tanh

    from scipy.stats import pearsonr

    chance = random.Random(8)
    truth = [chance.randrange(4) for _ in range(80)]
    scores = {
        f"p{p}": {
            n: min(3, max(0, score + chance.choice((-1, 0, 0, p - 1)))) for n, score in enumerate(truth)
        }
        for p in range(3)
    }
    for n in range(0, 80, 7):
        del scores["p2"][n]
    judged = [Judgement(f"u{n}", p, str(value)) for p, given in scores.items() for n, value in given.items()]
    rows = {row.group: row for row in agreement("answer_correctness", "correctness", judged, resamples=5)}
    expected = {}
    for one, two in (("p0", "p1"), ("p0", "p2"), ("p1", "p2")):
        both = sorted(scores[one].keys() & scores[two].keys())
        expected[f"pair:{one}+{two}"] = pearsonr(
            [scores[one][n] for n in both], [scores[two][n] for n in both]
        ).statistic
    assert {name: rows[name].pearson for name in expected} == pytest.approx(expected)
    assert rows["all"].pearson == pytest.approx(tanh(sum(map(atanh, expected.values())) / 3))
    labels = [
        Label(subject=f"u{n}", content_hash="h", annotator=p, template="answer_correctness", name="correctness",
              value=str(value), decided_at=NOON)
        for p, given in scores.items() for n, value in given.items()
    ]  # fmt: skip
    tasks = {f"u{n}": "prose" if n < 30 else "completion" for n in range(80)}
    ((_, judged),) = label_judgements(labels, {}, tasks, 3).items()
    rows = {row.group: row for row in agreement("answer_correctness", "correctness", judged, resamples=5)}
    prose = [
        pearsonr(
            *([scores[p][n] for n in range(30) if n in scores[one] and n in scores[two]] for p in (one, two))
        )
        for one, two in (("p0", "p1"), ("p0", "p2"), ("p1", "p2"))
    ]
    assert rows["task:prose"].pearson == pytest.approx(tanh(sum(atanh(r.statistic) for r in prose) / 3))
    assert rows["task:prose"].items + rows["task:completion"].items == rows["all"].items
    alike = [Judgement(f"u{n}", p, "2" if p == "p0" else str(n % 3)) for n in range(9) for p in ("p0", "p1")]
    (row,) = agreement("answer_correctness", "correctness", alike, resamples=5)
    assert row.pearson is None, "one of them always gave the same number"
    (row,) = agreement("connotation", "idiom", alike, resamples=5)
    assert row.pearson is None, "labels have no order"


def test_raw_agreement_and_ac1_stand_beside_a_low_alpha(tmp_path):
    stores, items = Stores.under(str(tmp_path)), [choice(n) for n in range(60)]
    votes = [
        review(
            item,
            person,
            failed=("spelling_accuracy",) if (n, person) in ((0, "p1"), (1, "p2"), (2, "p1")) else (),
        )
        for n, item in enumerate(items)
        for person in ("p1", "p2")
    ]
    add(stores.decisions, Review, votes)
    report = review_report(stores, items, [], seed=1)
    rows = {row.label: row for row in report.agreement if row.group == "all"}
    spelling = rows["spelling_accuracy"]
    assert spelling.alpha < 0
    assert spelling.observed == pytest.approx(0.95)
    # By hand: the mean share of "unmet" is 3 of 120, so chance agreement is 2 x .025 x .975.
    assert spelling.ac1 == pytest.approx((0.95 - 0.04875) / (1 - 0.04875))
    assert (rows["decision"].alpha, rows["decision"].observed, rows["decision"].ac1) == (None, 1, 1)
    assert (
        f"| {spelling.alpha:.2f} | {spelling.low:.2f} to {spelling.high:.2f} | {spelling.alpha_after:.2f} | 95.00% "
        f"| {spelling.observed_low:.2f} to {spelling.observed_high:.2f} | 0.95 "
        f"| {spelling.ac1_low:.2f} to {spelling.ac1_high:.2f} | – | 60 | 100.00% | 0 | 0 | 2 |"
        in markdown(report)
    )


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


def test_who_discards_as_wrong_gold_agrees_with_the_auditor_and_judges_nothing_else():
    item = choice()
    votes = [review(item, person, "discard", reason="wrong_gold") for person in ("p1", "p2")]
    said = {name: int(name not in ("answer_alignment", "spelling_accuracy")) for name in CRITERIA}
    rows = {row.criterion: row for row in overturns(votes, {(item.id, content_hash(item)): {"strict": said}})}
    gold, spelling = rows["answer_alignment"], rows["spelling_accuracy"]
    assert (gold.zeros, gold.overturned, gold.not_judged) == (1, 0, 0)
    assert (spelling.zeros, spelling.overturned, spelling.not_judged, spelling.rate) == (0, 0, 1, None)
    assert sum(row.missed for row in rows.values()) == 0


@pytest.mark.parametrize(
    ("decision", "more", "judged"),
    [
        ("keep", {}, dict.fromkeys(CRITERIA, True)),
        ("keep", {"failed": ("answer_quality",)}, {name: name != "answer_quality" for name in CRITERIA}),
        ("discard", {"reason": "wrong_gold"}, {"answer_alignment": False}),
        (
            "discard",
            {"reason": "unreadable", "failed": ("spelling_accuracy",)},
            {"text_readability": False, "spelling_accuracy": False},
        ),
        ("discard", {"reason": "duplicate"}, {}),
        ("fix", {"corrections": {"gold": "1"}}, {"answer_alignment": False}),
        ("fix", {"corrections": {"question": "ما المقصود؟"}}, {}),
        (
            "fix",
            {"corrections": {"question": "؟"}, "failed": ("question_clarity",)},
            {"question_clarity": False},
        ),
    ],
)
def test_what_a_decision_judges(decision, more, judged):
    assert review(choice(), "p1", decision, **more).judged == judged


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
    assert "| ar/meaning_choice | 2 | 1 | 0 | 0 | 0 | 50.00% | 1.26% to 98.74% | 97.47% |" in text
    assert "| first | answer_alignment | 3 | 3 | 1.00 | 0.12 to 1.00 | 0 | 3 |" in text, (
        "three were not judged"
    )
    assert "nobody" not in text


def test_a_corrected_item_still_counts_as_missed_and_as_judged(tmp_path):
    stores, item = Stores.under(str(tmp_path)), choice()
    fix = {"corrections": {"gold": "1"}, "failed": ("answer_alignment",)}
    add(
        stores.decisions,
        Review,
        [review(item, person, "fix", **fix) for person in ("annotator-01", "annotator-02")],
    )
    before = QueueEntry(item, "sample").queued(
        [audit(item.id, "first"), audit(item.id, "second", failed=("answer_alignment",))]
    )
    add(stores.queued, Queued, [before])
    corrected, _ = fixed([item], decisions(stores), 2)
    report = review_report(stores, corrected, [audit(item.id, "first")], seed=1)
    assert (report.outcomes, report.stale) == ({"fix": 1}, 0)
    assert (report.miss_rates[0].decided, report.miss_rates[0].missed) == (1, 1)
    rows = {(row.auditor, row.criterion): row for row in report.overturns}
    assert rows["first", "answer_alignment"].missed == 1
    assert (rows["second", "answer_alignment"].zeros, rows["second", "answer_alignment"].overturned) == (1, 0)


def test_a_criterion_tells_on_what_share_of_the_items_two_people_judged_it(tmp_path):
    stores, items = Stores.under(str(tmp_path)), [choice(n) for n in range(60)]
    reasons = {"annotator-01": "ambiguous", "annotator-02": "not_authentic"}
    votes = [
        review(item, who, "discard" if n < 30 else "keep", reason=why if n < 30 else None)
        for n, item in enumerate(items)
        for who, why in reasons.items()
    ]
    add(stores.decisions, Review, votes)
    rows = {
        row.label: row for row in review_report(stores, items, [], seed=1).agreement if row.group == "all"
    }
    assert (rows["decision"].items, rows["decision"].judged) == (60, None)
    clarity = rows["question_clarity"]
    assert (clarity.observed, clarity.items, clarity.judged) == (1, 30, 0.5), "100 %, of half the items"
    assert "50.00%" in markdown(review_report(stores, items, [], seed=1))


def test_an_empty_report_says_so(tmp_path):
    report = review_report(Stores.under(str(tmp_path)), [choice()], [], seed=1)
    assert report.outcomes == {}
    assert "Nothing yet." in markdown(report)


def test_decisions_later_in_time_are_last(tmp_path):
    rows = annotators(
        [review(choice(n), "p", decided_at=NOON - timedelta(days=n), seconds=1.0) for n in range(3)], []
    )
    assert rows[0].decisions == 3
