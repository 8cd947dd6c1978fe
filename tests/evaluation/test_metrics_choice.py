"""Figures of choices beside SciPy and hand counts."""

from __future__ import annotations

from itertools import combinations
from math import comb, log
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from mihakk.evaluation.metrics import figures
from mihakk.evaluation.metrics.figures import FIGURES, Measured, Scores, pass_at_k
from mihakk.evaluation.metrics.metric import METRICS, Case
from mihakk.evaluation.reading import read
from mihakk.machinery.settings import ROOT
from mihakk.schemas.evaluation import Method, Question
from tests.evaluation.material import AR, OPTIONS, choice


def scored(question: Question, reply: str, metric: str = "accuracy") -> tuple[float | None, dict[str, Any]]:
    (found,) = METRICS.get(metric).score([Case(question, read(question, "written", reply), reply)])
    return found.value, dict(found.detail)


def by_likelihood(question: Question, likelihoods: tuple[float, ...], metric: str) -> float | None:
    method: Method = "likelihood"
    assert METRICS.get(metric).applies(question, method)
    reading = read(question, method, "", likelihoods)
    (found,) = METRICS.get(metric).score([Case(question, reading, "", likelihoods)])
    return found.value


def test_accuracy_keeps_what_figures_over_many_answers_need() -> None:
    question = choice(gold=1, option_kinds=("shuffled", "gold", "same_poem", "other_poem"))
    value, detail = scored(question, "ج")
    assert value == 0.0
    assert (detail["pick"], detail["gold"], detail["options"], detail["kind"]) == (2, (1,), 4, "same_poem")
    assert scored(question, "ب")[0] == 1.0
    assert "kind" not in scored(question, "ب")[1]


def test_an_option_is_named_by_its_words_wherever_it_stands() -> None:
    other = choice(options=tuple(reversed(OPTIONS)), gold=3)
    assert scored(choice(), "أ")[1]["option"] == scored(other, "د")[1]["option"]
    assert scored(choice(), "أ")[1]["option"] != scored(other, "أ")[1]["option"]


def test_a_label_of_two_characters_is_favoured_by_dividing_by_length() -> None:
    """QIMMA's fifth letter is written هـ: two code points, half the loss."""
    labels = (*AR, "هـ")
    question = choice(labels=labels, options=(*OPTIONS, "غير ذلك"), gold=(0,))
    likelihoods = (-1.0, -3.0, -3.0, -3.0, -1.5)
    assert by_likelihood(question, likelihoods, "accuracy") == 1.0
    assert by_likelihood(question, likelihoods, "accuracy_by_characters") == 0.0


def test_mass_on_several_golds_is_a_softmax() -> None:
    question = choice(gold=(0, 2), multiple=True)
    likelihoods = (-0.4, -2.0, -1.1, -5.0)
    expected = softmax(likelihoods)[[0, 2]].sum()
    assert by_likelihood(question, likelihoods, "gold_mass") == pytest.approx(expected)
    assert by_likelihood(question, likelihoods, "exact_set") == 1.0
    assert by_likelihood(question, (-0.4, -0.5, -1.1, -5.0), "exact_set") == 0.0
    wide = choice(gold=(0, 4), multiple=True, labels=(*AR, "هـ"), options=(*OPTIONS, "غير ذلك"))
    five = (-1.0, -1.4, -3.0, -3.0, -1.9)
    halved = softmax(np.array(five) / [1, 1, 1, 1, 2])
    assert by_likelihood(wide, five, "gold_mass_by_characters") == pytest.approx(halved[[0, 4]].sum())
    assert by_likelihood(wide, five, "exact_set") == 0.0
    assert by_likelihood(wide, five, "exact_set_by_characters") == 1.0


def test_a_written_set_is_right_only_as_a_whole() -> None:
    question = choice(gold=(0, 2), multiple=True)
    assert [scored(question, reply, "exact_set")[0] for reply in ("أ، ج", "أ", "أ، ب، ج")] == [1.0, 0.0, 0.0]
    assert not METRICS.get("accuracy").applies(question, "written")


def scores_of(rows: list[tuple[str, int, float, dict[str, Any]]]) -> Scores:
    """(pair, order, value, detail) of each answer, every pair a cluster."""
    pairs = [row[0] for row in rows]
    codes = np.unique(pairs, return_inverse=True)[1]
    values = np.array([row[2] for row in rows])
    return Scores(values, codes, [f"i{n}" for n in range(len(rows))], pairs, [row[1] for row in rows], [row[3] for row in rows])  # fmt: skip


def measured(name: str, scores: Scores) -> Measured:
    found = getattr(figures, name)(scores)
    assert found is not None
    return found


def pick(place: int | None, option: str | None, gold: int, options: int = 2) -> dict[str, Any]:
    return {"pick": place, "option": option, "gold": [gold], "options": options}


PAIRS = scores_of(
    [
        ("p1", 0, 1.0, pick(0, "x", 0)),
        ("p1", 1, 1.0, pick(1, "x", 1)),
        ("p2", 0, 1.0, pick(0, "x", 0)),
        ("p2", 1, 0.0, pick(0, "y", 1)),
        ("p3", 0, 0.0, pick(1, "y", 0)),
        ("p3", 1, 0.0, pick(0, "y", 1)),
        ("p4", 0, 0.0, pick(None, None, 0)),
        ("p4", 1, 0.0, pick(None, None, 1)),
        ("p5", 0, 1.0, pick(0, "x", 0)),
    ]
)


def test_pairs_are_counted_by_hand() -> None:
    assert measured("pair_accuracy", PAIRS)[0] == 1 / 4
    assert measured("consistency", PAIRS)[0] == 2 / 4, (
        "right twice, or wrong twice in the same way; not unread"
    )
    assert measured("order_gap", PAIRS)[0] == 1 / 4
    assert measured("pair_accuracy", PAIRS).units == 4, "a question asked in one order is no pair"


def test_the_order_gap_is_signed_and_paired() -> None:
    turned = scores_of(
        [(f"p{n}", order, float(order == 1), pick(0, "x", order)) for n in range(30) for order in (0, 1)]
    )
    found = measured("order_gap", turned)
    unseen = stats.binomtest(0, 30).proportion_ci(method="exact").high
    assert (found.value, found.low) == (-1.0, -1.0)
    assert found.high == pytest.approx(-1.0 + 2 * unseen), "thirty alike say little of the next"


def test_guessing_is_nothing_above_chance() -> None:
    rows = [(f"p{n}", 0, float(n % 4 == 0), pick(0, "x", 0, 4)) for n in range(40)]
    found = measured("chance_adjusted", scores_of(rows))
    assert found.value == pytest.approx(0)
    assert found.detail["chance"] == 0.25
    perfect = scores_of([(f"p{n}", 0, 1.0, pick(0, "x", 0, 3)) for n in range(12)])
    assert measured("chance_adjusted", perfect).value == pytest.approx(1)


def picks_of(counts: list[int], golds: list[int]) -> Scores:
    """So many picks of each place; right options stand at the places of `golds` in turn."""
    picked = [place for place, size in enumerate(counts) for _ in range(size)]
    rows = [
        (
            f"p{n}",
            0,
            float(place == golds[n % len(golds)]),
            pick(place, "x", golds[n % len(golds)], len(counts)),
        )
        for n, place in enumerate(picked)
    ]
    return scores_of(rows)


def test_position_preference_is_the_textbooks_g_test_where_right_options_stand_everywhere() -> None:
    counts = [52, 20, 20, 8]
    found = measured("position_preference", picks_of(counts, [0, 1, 2, 3]))
    g = 2 * sum(count * log(count / 25) for count in counts)
    assert found.value == pytest.approx(0.27)
    assert found.detail["p"] == pytest.approx(stats.chi2.sf(g, 3))
    assert (found.detail["picks"], found.detail["place"], found.detail["flagged"]) == (counts, 0, True)
    assert (
        measured("position_preference", picks_of([10, 10, 10, 10], [0, 1, 2, 3])).detail["flagged"] is False
    )


def test_a_system_that_is_always_right_prefers_no_place_wherever_the_right_options_stand() -> None:
    rows = [(f"p{n}", 0, 1.0, pick(n % 2 * 2, "x", n % 2 * 2, 3)) for n in range(40)]
    found = measured("position_preference", scores_of(rows))
    assert (found.value, found.detail["flagged"]) == (0.0, False)


def test_unread_replies_and_questions_of_another_size_have_no_position() -> None:
    rows = [(f"p{n}", 0, 1.0, pick(n % 4, "x", n % 4, 4)) for n in range(8)]
    rows += [("u", 0, 0.0, pick(None, None, 0, 4)), ("three", 0, 0.0, pick(2, "x", 0, 3))]
    assert measured("position_preference", scores_of(rows)).units == 8


def test_wrong_picks_are_shared_out_by_kind() -> None:
    rows = [
        (f"p{n}", 0, 0.0, {**pick(1, "x", 0), "kind": kind})
        for n, kind in enumerate(["same_poem"] * 3 + ["other_poem"])
    ]
    found = measured("wrong_picks", scores_of(rows))
    assert found.detail["shares"] == {"other_poem": 0.25, "same_poem": 0.75}
    assert figures.wrong_picks(PAIRS) is None


def test_pass_at_k_is_the_mean_over_all_choices_of_k() -> None:
    for tries, solved, k in ((5, 2, 1), (5, 2, 3), (7, 0, 2), (4, 4, 2), (10, 1, 10)):
        ways = list(combinations([True] * solved + [False] * (tries - solved), k))
        assert len(ways) == comb(tries, k)
        assert pass_at_k(tries, solved, k) == pytest.approx(sum(map(any, ways)) / len(ways))
    with pytest.raises(ValueError, match="pass@6"):
        pass_at_k(5, 2, 6)


def test_pass_at_k_is_averaged_over_problems() -> None:
    values = np.array([1.0] * 3 + [0.0] * 7 + [0.0] * 10)
    items = ["a"] * 10 + ["b"] * 10
    scores = Scores(values, np.array([0] * 10 + [1] * 10), items, [""] * 20, [0] * 20, [{}] * 20)
    assert measured("pass_at_1", scores).value == pytest.approx(0.15)
    assert measured("pass_at_10", scores).value == pytest.approx(0.5)


def test_every_metric_and_figure_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    for name, metric in METRICS:
        assert metric.meaning
        assert f"`{name}`" in page or name.endswith("_by_characters")
    for measure in (one for several in FIGURES.values() for one in several):
        assert measure.__doc__
        assert f"`{measure.__name__}`" in page
