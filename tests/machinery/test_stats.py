"""Intervals and corrections beside SciPy and worked examples."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv, chdtrc, stdtr, stdtrit
from scipy.stats import binomtest

from mihakk.machinery.agreement import gwet_ac1
from mihakk.machinery.stats import (
    binomial_tail,
    chi_square_tail,
    clopper_pearson,
    fisher_mean,
    holm,
    t_p_value,
    t_quantile,
    t_tails,
    wilson,
)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_those_of_scipy(case: tuple[int, int]) -> None:
    hits, cases = case
    test = binomtest(hits, cases)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        theirs = test.proportion_ci(method=method)
        assert ours(hits, cases) == pytest.approx((theirs.low, theirs.high), abs=1e-12, rel=0)


@given(st.floats(0.01, 1e6), st.floats(0, 1), st.sampled_from(["both", "upper", "lower"]))
def test_exact_intervals_of_weighted_samples_are_those_of_scipy(
    cases: float, share: float, side: str
) -> None:
    hits = min(cases, round(cases * share))
    tail = 0.025 if side == "both" else 0.05
    low = betaincinv(hits, cases - hits + 1, tail) if hits > 0 and side != "upper" else 0.0
    high = betaincinv(hits + 1, cases - hits, 1 - tail) if hits < cases and side != "lower" else 1.0
    assert clopper_pearson(hits, cases, side) == pytest.approx((low, high), abs=2e-12, rel=0)


@given(st.integers(1, 40), st.floats(0, 500))
def test_tails_of_chi_square_are_those_of_scipy(degrees: int, value: float) -> None:
    expected = pytest.approx(chdtrc(degrees, value), rel=1e-12, abs=1e-15)
    assert chi_square_tail(value, degrees) == expected


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0, 1))
def test_chances_of_as_many_hits_are_those_of_scipy(case: tuple[int, int], share: float) -> None:
    expected = binomtest(*case, share, alternative="greater").pvalue
    assert binomial_tail(*case, share) == pytest.approx(expected, abs=2e-12, rel=0)


@given(st.floats(0, 60), st.floats(0.3, 1e4) | st.just(inf))
def test_tails_of_students_t_are_those_of_scipy(value: float, degrees: float) -> None:
    assert t_tails(value, degrees) == pytest.approx(2 * stdtr(degrees, -value), rel=1e-9, abs=1e-12)


@given(st.floats(0.5, 1e4) | st.just(inf), st.floats(1e-9, 0.9))
def test_quantiles_of_students_t_are_those_of_scipy(degrees: float, tails: float) -> None:
    assert t_quantile(degrees, tails) == pytest.approx(-stdtrit(degrees, tails / 2), rel=1e-9)


def test_what_lies_at_the_ends_of_students_t() -> None:
    assert t_tails(0.0, 3) == t_tails(0.0, inf) == 1.0
    assert t_p_value(1.0, 0.0, 5) == 0.0
    assert t_p_value(1e-13, 1e-14, 5) == 1.0


def test_one_sided_bounds() -> None:
    assert clopper_pearson(0, 300, side="upper") == (0.0, pytest.approx(1 - 0.05 ** (1 / 300)))
    assert clopper_pearson(300, 300, side="lower") == (pytest.approx(0.05 ** (1 / 300)), 1.0)


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)


def test_shared_ties_are_fractions_of_a_hit() -> None:
    low, high = wilson(10.5, 20)
    assert wilson(10, 20).low < low < high < wilson(11, 20).high


def test_holm_on_the_textbooks_example() -> None:
    """S. Holm's procedure on p = .01, .04, .03, .005: adjusted .03, .06, .06, .02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    by_p = [adjusted[place] for place in np.argsort(p_values, kind="stable")]
    assert by_p == sorted(by_p)


def test_correlations_are_averaged_through_z() -> None:
    assert fisher_mean([0.5, 0.9]) == pytest.approx(np.tanh((np.arctanh(0.5) + np.arctanh(0.9)) / 2))
    assert fisher_mean([1.0, 0.2]) == 1.0
    for wrong in ([], [1.2], [1.0, -1.0]):
        with pytest.raises(ValueError):
            fisher_mean(wrong)


def test_ac1_of_the_paradox_that_it_was_made_for() -> None:
    # Gwet 2002, "Kappa statistic is not satisfactory ...": 118, 5, 2 and 0 of 125; kappa is -.02 there.
    units = [["+", "+"]] * 118 + [["+", "-"]] * 5 + [["-", "+"]] * 2
    found = gwet_ac1(units, 2)
    assert found == (pytest.approx(118 / 125), pytest.approx(0.9408, abs=5e-5))


def test_ac1_of_four_raters_with_gaps_is_that_of_irrcac() -> None:
    # cac.raw4raters of Gwet's own package: pa .8181818, AC1 .7754441.
    units = [
        "111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3",
    ]  # fmt: skip
    found = gwet_ac1([list(values) for values in units], 5)
    assert found == (pytest.approx(0.8181818, abs=1e-7), pytest.approx(0.7754441, abs=1e-6))


def test_ac1_is_one_where_all_say_the_same_and_nothing_without_pairs() -> None:
    assert gwet_ac1([["a", "a"], ["a", "a", "a"]], 2) == (1.0, 1.0)
    assert gwet_ac1([["a"], []], 2) is None


def test_units_that_are_alike_may_be_counted() -> None:
    alike = gwet_ac1([["a", "b"], [], ["a", "a"], ["b"]], 2, times=[3, 9, 20, 2])
    assert alike == gwet_ac1([["a", "b"]] * 3 + [["a", "a"]] * 20 + [["b"]] * 2, 2)
