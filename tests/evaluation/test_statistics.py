"""Statistics beside Inspect, SciPy and the truth of simulations."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from mihakk.evaluation.statistics.bootstrap import percentile_interval, ranks, weights
from mihakk.evaluation.statistics.cluster import bounded, clustered, codes_of, effective_clusters, moved
from mihakk.evaluation.statistics.comparison import SignFlips, compare, mcnemar
from mihakk.evaluation.statistics.items import item_statistics, share_within
from mihakk.machinery.stats import t_p_value
from performance.intervals import SIZES, alone, codes_of_sizes, of_corrected, of_differences, of_means, stars

SIMULATIONS = 400
"""Of coverage; 4,000 give 94.9 % for 30 clusters."""


def clusters_of(
    draws: np.random.Generator, clusters: int, items: int, spread: float = 0.25
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """0/1 values whose clusters have chances of their own around .5, and the clusters."""
    codes = np.arange(items) % clusters
    chance = np.clip(0.5 + spread * draws.standard_normal(clusters), 0, 1)
    return (draws.random(items) < chance[codes]).astype(float), codes


def test_inspect_is_not_the_old_one_that_installs_silently() -> None:
    assert tuple(map(int, version("inspect-ai").split(".")[:3])) >= (0, 3, 280)


def test_the_clustered_error_is_inspects() -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    draws = np.random.default_rng(1)
    for count, size in ((2, 7), (12, 60), (40, 41)):
        values, codes = clusters_of(draws, count, size)
        scores = [
            scorer.SampleScore(score=scorer.Score(value=float(value)), sample_metadata={"group": str(code)})
            for value, code in zip(values, codes, strict=True)
        ]
        theirs = scorer.stderr(cluster="group")(scores)
        assert clustered(values, codes).se == pytest.approx(theirs, rel=1e-12)


def test_single_items_have_the_error_of_a_plain_mean() -> None:
    values = np.random.default_rng(2).random(50)
    found = clustered(values, np.arange(50))
    low, high = stats.t.interval(0.95, 49, loc=values.mean(), scale=stats.sem(values))
    assert found.se == pytest.approx(stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_error_of_a_move_is_inspects_for_the_same_items_and_welchs_for_others() -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    draws = np.random.default_rng(8)
    before, codes = clusters_of(draws, 15, 60)
    after, _ = clusters_of(draws, 15, 60)
    scores = [
        scorer.SampleScore(score=scorer.Score(value=float(value)), sample_metadata={"group": str(code)})
        for value, code in zip(after - before, codes, strict=True)
    ]
    found = moved(before, after, codes, codes)
    assert found.se == pytest.approx(scorer.stderr(cluster="group")(scores), rel=1e-12)
    one, other = draws.random(400), draws.random(300)
    apart = moved(one, other, np.arange(400), np.arange(400, 700))
    welch = stats.ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    assert (apart.low, apart.high) == pytest.approx((welch.low, welch.high), abs=2e-4)
    assert moved(before[:9], after[:9], np.arange(9), np.arange(9)).low is None


def test_the_interval_of_a_move_holds_the_true_difference_where_versions_share_most_items() -> None:
    """Forty works of four items; the newer version lacks five works, has five others, and re-answers the rest."""
    draws, held = np.random.default_rng(9), 0
    for _ in range(SIMULATIONS):
        chance = np.clip(0.55 + 0.25 * draws.standard_normal(45), 0.02, 0.98)
        works = np.repeat(np.arange(45), 4)
        kept = (draws.random(45 * 4) < np.repeat(chance, 4)).astype(float)
        again = np.where(draws.random(45 * 4) < 0.1, 1.0, kept)
        found = moved(kept[:160], again[20:], works[:160], works[20:])
        # A tenth of the answers is right now whatever it was; the works are exchangeable.
        truth = 0.1 * (1 - 0.55)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / SIMULATIONS <= 0.98


def test_few_clusters_have_no_interval() -> None:
    values = np.array([0.0, 1.0] * 9)
    assert clustered(values, np.arange(18) % 9).low is None
    assert clustered(values, np.arange(18) % 10).low is not None
    assert clustered(values, np.zeros(18, dtype=np.int64)) == (0.5, None, None, None, 18, 1, 1)


@pytest.mark.parametrize(("truth", "questions"), [(0.5, 20), (0.9, 10), (0.95, 20), (0.98, 50), (0.98, 150)])
@pytest.mark.parametrize("orders", [1, 2])
def test_the_interval_holds_near_the_ends_too(truth: float, questions: int, orders: int) -> None:
    """Systems that answer nearly all right are the ones that a board is about; scipy makes the answers."""
    draws = np.random.default_rng(5)
    known = stats.betabinom(orders, 3 * truth, 3 * (1 - truth)).rvs((1_000, questions), random_state=draws)
    codes = np.repeat(np.arange(questions), orders)
    covered = plain = 0
    for right in known:
        values = (np.arange(orders) < right[:, None]).astype(float).ravel()
        found = clustered(values, codes, bounds=(0.0, 1.0))
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.mean <= found.high <= 1
        covered += found.low <= truth <= found.high
        usual = clustered(values, codes)
        plain += (usual.low or 0) <= truth <= (usual.high or 0)
    assert covered >= 0.93 * len(known)
    assert truth < 0.95 or plain < 0.93 * len(known), "Student's alone says more than it knows"


def test_effective_clusters_are_those_of_bell_and_mccaffrey_written_out() -> None:
    """A sum of squares has the degrees that its covariance's eigenvalues leave."""
    draws = np.random.default_rng(14)
    for alike in (0.0, 0.3, 1.0):
        sizes = draws.integers(1, 40, 15).astype(float)
        residual = np.eye(15) - np.outer(sizes, np.ones(15)) / sizes.sum()
        covariance = residual @ np.diag(sizes * (1 + (sizes - 1) * alike)) @ residual.T
        weights_of_squares = np.linalg.eigvalsh(covariance)
        degrees = weights_of_squares.sum() ** 2 / (weights_of_squares**2).sum()
        assert effective_clusters(sizes, alike) == pytest.approx(degrees + 1)
    assert effective_clusters(np.full(20, 7.0), 0.4) == pytest.approx(20)
    assert effective_clusters(np.array([1000.0, *[1.0] * 30])) < 3


@pytest.mark.parametrize(
    ("law", "clusters"),
    [("lognormal, sd .5", 15), ("lognormal, sd 1", 15), ("Pareto, 1.2", 15), ("Pareto, 1.2", 40)],
)
def test_intervals_hold_over_clusters_of_unlike_size(law: str, clusters: int) -> None:
    draws = np.random.default_rng(15)
    for truth in ((0.7, 0.3), (0.9, 0.3)):
        found = of_means(draws, law, clusters, truth, SIMULATIONS)
        assert found.share >= 0.93
        assert found.withheld == 0
        assert of_means(draws, law, clusters, truth, SIMULATIONS // 2, missing=0.2).share >= 0.92
        assert of_differences(draws, law, clusters, truth, SIMULATIONS // 2).share >= 0.93
        assert of_corrected(draws, law, clusters, truth, SIMULATIONS // 2).share >= 0.92


def test_as_many_degrees_as_clusters_would_promise_too_much() -> None:
    """What the test above would find with Student's interval of all clusters but one: four in five."""
    draws, held = np.random.default_rng(16), 0
    for _ in range(SIMULATIONS):
        codes = codes_of_sizes(SIZES["Pareto, 1.2"](draws, 15))
        values = (draws.random(len(codes)) < draws.beta(1.63, 0.7, 15)[codes]).astype(float)
        found = clustered(values, codes)
        assert found.se is not None
        held += abs(found.mean - 0.7) <= stats.t.ppf(0.975, 14) * found.se
    assert held / SIMULATIONS < 0.87


@pytest.mark.parametrize("questions", [100, 200, 500])
def test_one_question_a_cluster_is_held_by_the_binomial_itself(questions: int) -> None:
    """Every number of right answers, with its chance: no draws."""
    codes, right = np.arange(questions), np.arange(questions // 2, questions + 1)
    ends = np.array(
        [clustered((codes < count).astype(float), codes, bounds=(0.0, 1.0))[2:4] for count in right]
    )
    for truth in (0.9, 0.95, 0.98, 0.99, 0.995):
        inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        assert stats.binom.pmf(right[inside], questions, truth).sum() >= 0.95
    _, difference = alone(np.random.default_rng(17), 0.98, questions, SIMULATIONS // 2)
    assert difference.share >= 0.93


def test_a_cluster_that_holds_nearly_all_items_leaves_no_interval() -> None:
    sizes = np.array([400, *[1] * 14])
    values = np.random.default_rng(18).random(414).round()
    found = clustered(values, codes_of_sizes(sizes), bounds=(0.0, 1.0))
    assert (found.clusters, found.low) == (15, None)
    assert clustered(values[390:], codes_of_sizes(np.array([10, *[1] * 14]))).low is not None


def test_bounded_ends_are_clopper_and_pearsons_for_the_error_of_a_share() -> None:
    ends = bounded(0.9, (0.9 * 0.1 / 50) ** 0.5, (0.0, 1.0), degrees=float("inf"), even=50)
    exact = stats.binomtest(45, 50).proportion_ci(method="exact")
    assert ends == pytest.approx((exact.low, exact.high))
    percent = bounded(90, 100 * (0.9 * 0.1 / 50) ** 0.5, (0, 100), degrees=float("inf"), even=50)
    assert percent == pytest.approx((100 * exact.low, 100 * exact.high))


def test_p_values_of_a_figure_are_scipys() -> None:
    values = np.random.default_rng(19).normal(0.3, 1, 12)
    theirs = stats.ttest_1samp(values, 0)
    assert t_p_value(float(values.mean()), float(stats.sem(values)), 11) == pytest.approx(theirs.pvalue)
    assert (t_p_value(0, 0, 5), t_p_value(1, 0, 5)) == (1, 0)


def test_equal_systems_keep_their_stars_and_others_lose_them_where_holms_pairs_say_so() -> None:
    """Held against the best alone, without regard to its being chosen, 95 of 100 such tables lose some."""
    draws = np.random.default_rng(20)
    assert stars(draws, 20, 100, 40).lost <= 0.1
    assert stars(draws, 8, 200, 15, (0.55, 0.85)).alike >= 0.95


@pytest.mark.drill
def test_equal_systems_keep_their_stars_over_many_tables() -> None:
    draws = np.random.default_rng(21)
    for systems in (5, 20):
        assert stars(draws, systems, 300, 800).lost <= 0.06


def test_equal_clusters_leave_what_textbooks_leave() -> None:
    """No failure in thirty: the upper end is Clopper and Pearson's, not nought."""
    none, codes = np.zeros(60), np.repeat(np.arange(30), 2)
    found = clustered(none, codes, bounds=(0.0, 1.0))
    exact = stats.binomtest(0, 30).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    halves = clustered(np.tile([0.0, 1.0], 30), codes, bounds=(0.0, 1.0))
    assert (halves.low, halves.high) == pytest.approx((0.5 - exact.high / 2, 0.5 + exact.high / 2))


def test_sign_flips_are_scipys_permutation_test() -> None:
    draws = np.random.default_rng(4)
    first, second = draws.random(11), draws.random(11)
    theirs = stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    found = compare(first, second, np.arange(11), seed=0, name="x")
    assert found.test == "exact permutation"
    assert found.p == pytest.approx(theirs.pvalue)
    many = compare(first.repeat(3), second.repeat(3), np.arange(33), seed=0, name="x", resamples=20_000)
    theirs = stats.permutation_test(
        (first.repeat(3), second.repeat(3)), lambda a, b, axis: np.mean(a - b, axis=axis), vectorized=True,
        permutation_type="samples", n_resamples=20_000, rng=5,
    )  # fmt: skip
    assert many.p == pytest.approx(theirs.pvalue, abs=0.015)


def test_whole_clusters_are_flipped() -> None:
    """Eleven equal copies of each item are no further evidence."""
    draws = np.random.default_rng(6)
    first, second = draws.random(12), draws.random(12)
    once = compare(first, second, np.arange(12), seed=0, name="x")
    often = compare(first.repeat(11), second.repeat(11), np.arange(12).repeat(11), seed=0, name="x")
    assert often.p == pytest.approx(once.p)
    assert often.difference.se == pytest.approx(once.difference.se)


def test_many_systems_at_once_have_the_p_values_of_pairs() -> None:
    draws = np.random.default_rng(7)
    sums = draws.random((40, 3))
    together = SignFlips(sums, seed=1, name="n", resamples=500)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        alone = SignFlips(sums[:, [one, other]], seed=1, name="n", resamples=500)
        assert together.p_value(one, other) == alone.p_value(0, 1)


def test_a_p_value_is_uniform_where_nothing_differs() -> None:
    draws = np.random.default_rng(8)
    codes = np.arange(80) % 40
    p_values = []
    for number in range(SIMULATIONS // 2):
        item, common = draws.normal(size=80), draws.normal(size=(2, 40))
        first, second = (item + common[system][codes] + draws.normal(size=80) for system in (0, 1))
        p_values.append(compare(first, second, codes, seed=number, name="null", resamples=400).p)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_mcnemar_where_every_cluster_is_one_item() -> None:
    """12 against 3 discordant items: twice the binomial tail, .03516."""
    first = np.array([1.0] * 12 + [0.0] * 3 + [1.0] * 10)
    second = np.array([0.0] * 12 + [1.0] * 3 + [1.0] * 10)
    found = compare(first, second, np.arange(25), seed=0, name="x")
    assert (found.test, found.p) == ("McNemar", pytest.approx(2 * stats.binom.cdf(3, 15, 0.5)))
    assert found.alike == 0.4
    assert mcnemar(first, first) == 1.0
    assert compare(first, second, np.arange(25) // 2, seed=0, name="x").test != "McNemar"


def test_the_cluster_bootstrap_has_the_spread_of_scipys() -> None:
    draws = np.random.default_rng(9)
    values = draws.random(60)
    drawn = np.concatenate([block @ values / 60 for block in weights(60, seed=0, name="x", resamples=4000)])
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=1)
    assert drawn.std(ddof=1) == pytest.approx(theirs.standard_error, rel=0.06)
    ends = theirs.confidence_interval
    assert percentile_interval(drawn) == pytest.approx([ends.low, ends.high], abs=0.01)


def test_draws_depend_on_seed_and_name_alone() -> None:
    def total(seed: int, name: str) -> float:
        return float(
            sum((block * np.arange(30)).sum() for block in weights(30, seed=seed, name=name, resamples=50))
        )

    assert total(1, "a") == total(1, "a")
    assert len({total(1, "a"), total(2, "a"), total(1, "b")}) == 3
    assert all((block.sum(axis=1) == 30).all() for block in weights(30, seed=0, name="a", resamples=9))


def test_ranks_are_intervals_and_equals_share_the_top() -> None:
    draws = np.random.default_rng(10)
    drawn = np.stack([0.9 + 0.01 * draws.standard_normal(2000), 0.9 + 0.01 * draws.standard_normal(2000), 0.5 + 0.01 * draws.standard_normal(2000)], axis=1)  # fmt: skip
    found = ranks([0.9, 0.9, 0.5], drawn)
    assert [(one.low, one.high, one.top) for one in found] == [(1, 2, True), (1, 2, True), (3, 3, False)]
    same = np.repeat(drawn[:, :1], 3, axis=1)
    assert [(one.low, one.high, one.top) for one in ranks([0.9] * 3, same)] == [(1, 3, True)] * 3


def test_variance_is_split_between_items_and_repeats() -> None:
    draws = np.random.default_rng(11)
    truth = draws.normal(0, 2, size=(4000, 1))
    assert share_within(truth + draws.normal(0, 3, size=(4000, 5))) == pytest.approx(9 / 13, rel=0.05)
    assert share_within(np.ones((3, 3))) is None
    with pytest.raises(ValueError, match="two of each"):
        share_within(np.ones((1, 5)))


def test_rest_correlations_are_scipys() -> None:
    scores = (np.random.default_rng(12).random((9, 15)) < np.linspace(0.2, 0.9, 9)[:, None]).astype(float)
    found = item_statistics(scores)
    for item in range(15):
        rest = np.delete(scores, item, axis=1).mean(axis=1)
        if scores[:, item].std() == 0:
            assert np.isnan(found.rest[item])
        else:
            assert found.rest[item] == pytest.approx(stats.pointbiserialr(scores[:, item], rest).statistic)
    assert found.right == pytest.approx(scores.mean(axis=0))


def test_an_item_that_only_weak_systems_solve_stands_out() -> None:
    scores = (np.random.default_rng(13).random((10, 40)) < np.linspace(0.1, 0.95, 10)[:, None]).astype(float)
    scores[:, 7] = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    found = item_statistics(scores)
    assert int(np.argmax(found.inverted)) == 7
    assert found.rest[7] < -0.5


def test_clusters_are_numbered_by_name() -> None:
    assert codes_of(["b", "a", "b"]).tolist() == [1, 0, 1]
