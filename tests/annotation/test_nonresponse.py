"""Every figure on people's work holds the truth though answers are missing, in whatever way."""

from __future__ import annotations

import random
from itertools import product

import pytest
from scipy.stats import binomtest

from mihakk.machinery import agreement as agreeing
from mihakk.machinery.agreement import Ends, gwet_ac1, krippendorff_alpha
from mihakk.machinery.stats import Interval
from tests.annotation.nonresponse import WORLDS, coverage


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_hold_the_truth_in_a_few_histories_of_each_world(world: str) -> None:
    for figure, held in coverage(world, 4).items():
        told = [one for one in held if one is not None]
        if told:
            assert binomtest(sum(told), len(told), 0.95, "less").pvalue > 0.001, (figure, told)


def test_missing_answers_that_may_all_agree_reach_up_to_full_agreement() -> None:
    units, missing = [["met", "met"]] * 40 + [["unmet", "unmet"]] * 20, [[]] * 30
    ends = agreeing.worst_ends(units, missing, ("met", "unmet"), "nominal", seed=1, name="x")
    assert (ends.alpha.high, ends.ac1.high) == (1, 1)
    assert ends.alpha.low < 0.6


@pytest.mark.drill
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_hold_the_truth_in_ninety_four_of_a_hundred(world: str) -> None:
    for figure, held in coverage(world, 400).items():
        told = [one for one in held if one is not None]
        assert not told or sum(told) / len(told) >= 0.94, figure


def test_no_answers_to_what_is_missing_lead_out_of_the_interval(monkeypatch) -> None:
    """Every way in which people could fill in what they left, on small reviews, before anything is resampled."""
    values = ("keep", "fix", "discard")

    def point(units, level, **_) -> Ends:
        raw, alpha = gwet_ac1(units, 3), krippendorff_alpha(units, level)
        ends = (alpha, raw.observed, raw.ac1)
        return Ends(*(None if one is None else Interval(one, one) for one in ends))

    monkeypatch.setattr(agreeing, "bootstrap", point)
    for seed in range(20):
        draw = random.Random(seed)
        units = [[draw.choices(values, (8, 1, 2))[0] for _ in range(2)] for _ in range(12)]
        missing = [[], [draw.choice(values)], []]
        ends = agreeing.worst_ends(units, missing, values, "nominal", seed=seed, name="x", categories=3)
        for filled in product(values, repeat=5):
            whole = [*units, [*filled[:2]], [missing[1][0], filled[2]], [*filled[3:]]]
            alpha = krippendorff_alpha(whole, "nominal")
            assert alpha is None or ends.least_alpha <= alpha + 1e-9, (seed, filled)
            for end, told in zip(ends[:3], point(whole, "nominal")[:3], strict=True):
                assert told is None or end.low - 1e-9 <= told.low <= end.high + 1e-9, (seed, filled)
