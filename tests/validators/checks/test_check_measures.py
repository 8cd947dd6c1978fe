"""The measures behind the checks, each against a slower way to the same figure."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.validators.checks.leak.answer_in_prompt import contains, longest_run
from mihakk.validators.checks.whole.baselines import at_least, uniform

WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


@given(WORDS, WORDS)
def test_the_longest_run_is_found(answer: list[str], text: list[str]) -> None:
    runs = [length for length in range(1, len(answer) + 1) for start in range(len(answer) - length + 1)
            if contains(" ".join(text), " ".join(answer[start : start + length]))]  # fmt: skip
    assert longest_run(answer, text) == max(runs, default=0)


@pytest.mark.parametrize(
    "counts", [[10, 10, 10], [30, 0, 0], [12, 9, 14, 5], [100, 130], [1000, 1100, 900, 1010]]
)
def test_the_chi_square_test_agrees_with_scipy(counts: list[int]) -> None:
    from scipy.stats import chisquare

    assert uniform(counts) == pytest.approx(chisquare(counts).pvalue, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("hits", "trials", "chance"), [(30, 100, 0.25), (60, 100, 0.5), (500, 1000, 0.5)])
def test_the_one_sided_test_is_near_the_exact_binomial(hits: int, trials: int, chance: float) -> None:
    from scipy.stats import binomtest

    exact = binomtest(hits, trials, chance, alternative="greater").pvalue
    assert at_least(hits, trials, chance) == pytest.approx(exact, abs=0.03)


def test_nothing_is_no_surprise() -> None:
    assert uniform([]) == uniform([0, 0]) == at_least(0, 0, 0.5) == 1.0


def test_an_even_set_is_seldom_called_biased() -> None:
    draw = random.Random(7)
    false = sum(
        uniform([sum(draw.randrange(4) == k for _ in range(50)) for k in range(4)]) < 0.001
        for _ in range(300)
    )
    assert false <= 30
