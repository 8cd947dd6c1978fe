"""Style is taken out of the judges' figures: a judge that pays for length, and systems that differ in it alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import linregress

from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.judges.style import StyleRow, features, style_rows
from mihakk.evaluation.statistics.cluster import clustered
from mihakk.evaluation.statistics.regression import regression

SYSTEMS = ("brief", "plain", "wordy")
TRUTH = {"brief": 3.0, "plain": 3.4, "wordy": 3.0}
WORTH = 0.5
"""Points that the judge gives for a reply twice as long."""


def cases(items: int, seed: int, worth: float = WORTH) -> tuple[list[Any], dict[str, float]]:
    """Replies of three systems to the same items; harder items get longer replies and lower scores."""
    draw = np.random.default_rng(seed)
    made, totals = [], {}
    for item in range(items):
        hard = draw.normal()
        for place, system in enumerate(SYSTEMS):
            length = 2 ** (6 + place + 0.7 * hard + 0.5 * draw.normal())
            reply = "ا" * max(1, round(length))
            name = f"{system}-{item}"
            facts = {"release": "r", "item": f"i{item}", "variant": 0, "model": system, "group": f"g{item}"}
            made.append(SimpleNamespace(name=name, reply=reply, answer=SimpleNamespace(**facts)))
            paid = worth * (np.log2(len(reply)) - 7)
            totals[name] = TRUTH[system] - hard + paid + 0.3 * draw.normal()
    return made, totals


def found(rows: list[StyleRow], what: str, name: str = "") -> StyleRow:
    (row,) = [one for one in rows if (one.what, one.name) == (what, name)]
    return row


def test_a_judge_that_pays_for_length_is_told_what_it_pays_and_systems_stand_where_they_belong() -> None:
    rows = style_rows(rubric_named("meaning"), *cases(200, seed=1))
    length = found(rows, "length")
    assert length.low <= WORTH <= length.high
    assert length.low > 0.3
    raw = {name: found(rows, "system", name).raw or 0 for name in SYSTEMS}
    adjusted = {name: found(rows, "system", name).value for name in SYSTEMS}
    assert raw["wordy"] > raw["plain"] > raw["brief"], "length decides the raw order"
    assert adjusted["plain"] - adjusted["wordy"] == pytest.approx(0.4, abs=0.15)
    assert adjusted["wordy"] - adjusted["brief"] == pytest.approx(0, abs=0.2)
    assert {one.what for one in rows} == {"system", "length"}, "features without a difference are left out"


def test_the_intervals_hold_the_truth_as_often_as_they_say_and_no_bias_is_found_where_there_is_none() -> None:
    held = caught = 0
    for seed in range(100):
        length = found(style_rows(rubric_named("meaning"), *cases(60, seed, worth=0)), "length")
        held += length.low <= 0 <= length.high
        caught += length.low > 0
    assert 89 <= held <= 100
    assert caught <= 6


def test_the_regression_on_one_column_is_scipys_slope_and_on_a_constant_the_clustered_mean() -> None:
    draw = np.random.default_rng(4)
    x, y, clusters = draw.normal(size=80), draw.normal(size=80), np.arange(80) // 4
    _, steep = regression(np.column_stack([np.ones(80), x]), y, clusters) or []
    assert steep.value == pytest.approx(linregress(x, y).slope)
    (mean,) = regression(np.ones((80, 1)), y, clusters) or []
    plain = clustered(y, clusters)
    assert (mean.low, mean.high) == pytest.approx((plain.low, plain.high))
    assert regression(np.column_stack([x, 2 * x]), y, clusters) is None


def test_features_are_counted_in_three_alphabets() -> None:
    told = features("## عنوان\n\n- **بند**\n- بند\n١. أول\n۲) دوم\n3. three\nنص **عريض** ونص")
    assert (told["headings"], told["lists"], told["bold"]) == (1, 5, 2)
    assert features("كَتَبَ")["diacritics"] == pytest.approx(10)
    assert features("a" * 8)["length"] == 3


def test_too_few_answers_or_one_system_say_nothing() -> None:
    made, totals = cases(10, seed=2)
    assert style_rows(rubric_named("meaning"), made, totals) == []
    alone = [case for case in cases(100, seed=2)[0] if case.answer.model == "plain"]
    assert style_rows(rubric_named("meaning"), alone, dict.fromkeys((c.name for c in alone), 1.0)) == []
