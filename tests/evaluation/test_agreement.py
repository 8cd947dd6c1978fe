"""Agreement and corrected means against other packages, hand-worked figures, and simulations of known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mihakk.evaluation.statistics.agreement import (
    Sampled,
    Weighting,
    correlations,
    kappas,
    system_correlations,
)
from mihakk.evaluation.statistics.cluster import clustered
from mihakk.evaluation.statistics.prediction_powered import Labelled, corrected_mean, drawn_means
from mihakk.evaluation.statistics.regression import regression

LinearRegression = pytest.importorskip("sklearn.linear_model").LinearRegression
cohen_kappa_score = pytest.importorskip("sklearn.metrics").cohen_kappa_score


def rated(seed: int, size: int = 120, levels: int = 5) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    first = draw.integers(1, levels + 1, size)
    return first, np.clip(first + draw.integers(-1, 2, size), 1, levels)


@pytest.mark.parametrize("weighting", ["linear", "quadratic"])
@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_scikit_learn(weighting: Weighting, seed: int) -> None:
    x, y = rated(seed)
    weights = np.random.default_rng(seed + 50).integers(1, 9, len(x))
    for own in (np.ones(len(x)), weights.astype(float)):
        wanted = cohen_kappa_score(x, y, weights=weighting, sample_weight=own)
        assert kappas(x.astype(float), y.astype(float), own[None, :], weighting)[0] == pytest.approx(wanted)


@pytest.mark.parametrize("weighting", ["linear", "quadratic"])
def test_kappa_of_means_is_that_of_the_same_scores_in_sixths(weighting: Weighting) -> None:
    draw = np.random.default_rng(3)
    x, y = draw.integers(6, 31, 90), draw.integers(6, 31, 90)
    wanted = cohen_kappa_score(x, y, weights=weighting, labels=list(range(6, 31)))
    assert kappas(x / 6, y / 6, np.ones((1, 90)), weighting)[0] == pytest.approx(wanted)


def test_correlation_is_that_of_scipy_and_undefined_for_a_constant() -> None:
    x, y = rated(1)
    assert correlations(x * 1.0, y * 1.0, np.ones((1, len(x))))[0] == pytest.approx(stats.pearsonr(x, y)[0])
    assert np.isnan(correlations(np.full(5, 2.0), np.arange(5, dtype=np.float64), np.ones((1, 5)))[0])
    assert np.isnan(kappas(np.full(5, 2.0), np.full(5, 2.0), np.ones((1, 5)))[0])


def test_the_slope_is_that_of_least_squares_and_its_error_covers() -> None:
    draw = np.random.default_rng(4)
    covered = 0
    for number in range(300):
        groups = np.repeat(np.arange(40), 3)
        x = draw.normal(size=120) + draw.normal(size=40)[groups]
        y = 0.5 * x + draw.normal(size=120) + draw.normal(size=40)[groups]
        _, found = regression(np.column_stack([np.ones(120), x]), y, groups) or (None, None)
        assert found is not None
        if number == 0:
            assert found.value == pytest.approx(LinearRegression().fit(x[:, None], y).coef_[0])
        covered += found.low <= 0.5 <= found.high
    assert 0.91 <= covered / 300 <= 0.98


def sampled(x: np.ndarray, y: np.ndarray) -> Sampled:
    size = len(x)
    return Sampled(x.astype(float), y.astype(float), np.ones(size), np.arange(size, dtype=np.int64))


def test_the_interval_of_kappa_covers_the_kappa_of_the_population() -> None:
    x, y = rated(9, size=200_000)
    truth = cohen_kappa_score(x, y, weights="quadratic")
    draw = np.random.default_rng(10)
    inside = 0
    for number in range(200):
        chosen = draw.integers(0, len(x), 150)
        found = sampled(x[chosen], y[chosen]).statistic(kappas, seed=number, name="kappa", resamples=400)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    assert 0.90 <= inside / 200 <= 0.985


def test_three_weak_systems_alone_can_carry_a_correlation() -> None:
    draw = np.random.default_rng(5)
    good = draw.normal(4, 0.05, 8)
    people = np.concatenate([good, [1.0, 1.2, 1.4]])
    judges = np.concatenate([draw.permutation(good), [1.1, 1.0, 1.5]])
    systems = np.repeat(np.arange(11), 30).astype(np.int64)
    found = sampled(judges[systems], people[systems])
    everybody = found.statistic(system_correlations(systems), seed=0, name="all")
    rest = found.statistic(system_correlations(systems, 3), seed=0, name="rest")
    assert everybody.value == pytest.approx(stats.pearsonr(judges, people)[0])
    assert rest.value == pytest.approx(stats.pearsonr(judges[:8], people[:8])[0])
    assert everybody.value is not None
    assert everybody.value > 0.95
    assert rest.value is not None
    assert abs(rest.value) < 0.8


def simulated(
    draw: np.random.Generator, *, items: int = 400, scored: int = 60, noise: float = 0.6
) -> Labelled:
    """Answers whose true mean is 3; a judge that gives 0.5 too much, more to longer ones; two answers a poem."""
    groups = np.repeat(np.arange(items // 2), 2).astype(np.int64)
    truth = 3 + 0.6 * draw.normal(size=items // 2)[groups] + 0.6 * draw.normal(size=items)
    judge = truth + 0.5 + noise * draw.normal(size=items)
    people = np.full(items, np.nan)
    weights = np.zeros(items)
    # Answers that the judge likes are drawn three times as often as the others.
    liked = judge > np.median(judge)
    for stratum, share in ((liked, 0.75), (~liked, 0.25)):
        places = draw.choice(np.flatnonzero(stratum), int(scored * share), replace=False)
        people[places] = truth[places]
        weights[places] = stratum.sum() / len(places)
    return Labelled(judge, people, weights, np.zeros(items, dtype=bool), groups)


def coverage(draws: int, seed: int) -> tuple[float, float, float, float]:
    draw = np.random.default_rng(seed)
    corrected = alone = 0
    widths: list[tuple[float, float]] = []
    for _ in range(draws):
        found = simulated(draw)
        one = corrected_mean(found)
        judge = clustered(found.judge, found.clusters)
        assert one.low is not None
        assert one.high is not None
        assert judge.low is not None
        assert judge.high is not None
        corrected += one.low <= 3 <= one.high
        alone += judge.low <= 3 <= judge.high
        there = ~np.isnan(found.people)
        values, weights = found.people[there], found.weights[there]
        mean = weights @ values / weights.sum()
        people = np.sqrt(((weights * (values - mean)) ** 2).sum()) / weights.sum()
        widths.append((one.high - one.low, 2 * 1.96 * people))
    ours, theirs = np.mean(widths, axis=0)
    return corrected / draws, alone / draws, float(ours), float(theirs)


def test_corrected_means_hold_the_truth_as_often_as_they_say_and_judges_alone_hardly_ever() -> None:
    corrected, alone, ours, theirs = coverage(400, 6)
    assert 0.92 <= corrected <= 0.98
    assert alone < 0.01
    assert ours < 0.95 * theirs, "a judge that knows something makes the interval narrower"


@pytest.mark.drill
def test_coverage_over_many_simulations() -> None:
    """Held more often than it says: each interval counts one scored answer more, the farthest off (.973)."""
    corrected, _, _, _ = coverage(10_000, 7)
    assert 0.94 <= corrected <= 0.98


def test_answers_that_are_not_there_are_known_and_need_no_people() -> None:
    size = 40
    judge = np.concatenate([np.full(20, 4.0), np.zeros(20)])
    people, weights = np.full(size, np.nan), np.zeros(size)
    people[:5], weights[:5] = 3.0, 4.0
    known = np.arange(size) >= 20
    found = Labelled(judge, people, weights, known, np.arange(size, dtype=np.int64))
    assert corrected_mean(found).mean == pytest.approx((20 * 3 + 20 * 0) / 40)
    with pytest.raises(ValueError, match="no answer"):
        corrected_mean(found._replace(weights=np.zeros(size)))


def test_the_drawn_means_spread_as_the_error_says() -> None:
    found = simulated(np.random.default_rng(8))
    count = int(found.clusters.max()) + 1
    draws = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), size=3000).astype(float)
    se = corrected_mean(found).se
    assert se is not None
    assert drawn_means(found, draws).std() == pytest.approx(se, rel=0.12)
