"""How often intervals and stars hold the truth of simulated systems: `python -m performance.intervals`.

Clusters have sizes of several laws and chances of their own (beta, so that two answers about one poem
correlate); a system's truth is the mean chance. Where a table says "held", it is the share of the intervals
that were given; "withheld" is the share of worlds with ten effective clusters and more (clusters over one and
the squared variation of their sizes, A. V. Carter, K. T. Schnepel and D. G. Steigerwald, 2017) that got none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from mihakk.evaluation.statistics.bootstrap import ranks, weights
from mihakk.evaluation.statistics.cluster import Estimate, clustered
from mihakk.evaluation.statistics.comparison import mcnemar
from mihakk.evaluation.statistics.prediction_powered import Labelled, corrected_mean
from mihakk.machinery.stats import holm

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


def _lognormal(mean: float, sd: float) -> Callable[[np.random.Generator, int], Codes]:
    return lambda draw, count: np.maximum(1, np.round(np.exp(draw.normal(mean, sd, count)))).astype(int)


def _pareto(shape: float, scale: float) -> Callable[[np.random.Generator, int], Codes]:
    return lambda draw, count: np.clip((draw.pareto(shape, count) * scale).astype(int), 1, 200)


SIZES: Final = {
    "one each": lambda _, count: np.full(count * 5, 1),
    "equal, 7": lambda _, count: np.full(count, 7),
    "lognormal, sd .5": _lognormal(2, 0.5),
    "lognormal, sd 1": _lognormal(1.5, 1),
    "Pareto, 2": _pareto(2, 5),
    "Pareto, 1.2": _pareto(1.2, 3),
}
CLUSTERS: Final = (15, 20, 30, 40)
TRUTHS: Final = ((0.5, 0.1), (0.7, 0.1), (0.7, 0.3), (0.9, 0.1), (0.9, 0.3), (0.95, 0.3), (0.98, 0.2))
"""Accuracy, and correlation of two answers about one poem."""
ALONE: Final = tuple((p, n) for p in (0.9, 0.95, 0.98, 0.99, 0.995) for n in (100, 200, 500))
"""Accuracy and number of questions where each is a cluster of its own."""


class Held(NamedTuple):
    """What became of many intervals of one world."""

    share: float
    """That held the truth, of those that were given."""
    width: float
    withheld: float
    """Of worlds with ten effective clusters and more."""


def codes_of_sizes(sizes: Codes) -> Codes:
    """Clusters of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)


def answers(draw: np.random.Generator, codes: Codes, truth: float, alike: float) -> Values:
    """0/1 values whose clusters have chances of their own around `truth`."""
    scale = (1 - alike) / alike
    chance = draw.beta(truth * scale, (1 - truth) * scale, codes.max() + 1)
    return (draw.random(len(codes)) < chance[codes]).astype(float)


def carter(codes: Codes) -> float:
    """Clusters over one and the squared variation of their sizes."""
    sizes = np.bincount(codes)
    return float(len(sizes) / (1 + sizes.var() / sizes.mean() ** 2))


def tally(found: Iterator[tuple[Estimate, float, float]]) -> Held:
    """Of intervals, each with its truth and its number of effective clusters."""
    rows = list(found)
    given = [(one, truth) for one, truth, _ in rows if one.low is not None and one.high is not None]
    held = np.mean([(one.low or 0) <= truth <= (one.high or 0) for one, truth in given])
    width = np.mean([(one.high or 0) - (one.low or 0) for one, _ in given])
    enough = [one.low is None for one, _, effective in rows if effective >= 10]
    return Held(float(held), float(width), float(np.mean(enough)) if enough else 0.0)


def missed(draw: np.random.Generator, codes: Codes, share: float) -> NDArray[np.bool_]:
    """Which replies are there where a share is missing: half of it item by item, half by whole clusters."""
    kept = draw.random(len(codes)) >= share / 2
    kept &= (draw.random(codes.max() + 1) >= share / 2)[codes]
    return kept


def of_means(
    draw: np.random.Generator,
    law: str,
    clusters: int,
    truth: tuple[float, float],
    repeats: int,
    *,
    missing: float = 0.0,
) -> Held:
    """Intervals of one system's accuracy, where a share of its replies is missing."""

    def each() -> Iterator[tuple[Estimate, float, float]]:
        for _ in range(repeats):
            codes = codes_of_sizes(SIZES[law](draw, clusters))
            values = answers(draw, codes, *truth)
            if missing:
                kept = missed(draw, codes, missing)
                values, codes = values[kept], np.unique(codes[kept], return_inverse=True)[1]
            yield clustered(values, codes, bounds=(0.0, 1.0)), truth[0], carter(codes)

    return tally(each())


def of_differences(
    draw: np.random.Generator, law: str, clusters: int, truth: tuple[float, float], repeats: int
) -> Held:
    """Intervals of the paired difference of two systems, the second a tenth of the way to chance."""

    def each() -> Iterator[tuple[Estimate, float, float]]:
        for _ in range(repeats):
            codes = codes_of_sizes(SIZES[law](draw, clusters))
            first = answers(draw, codes, *truth)
            second = np.where(draw.random(len(codes)) < 0.1, draw.random(len(codes)) < 0.5, first)
            found = clustered(first - second, codes, bounds=(-1.0, 1.0))
            yield found, 0.1 * (truth[0] - 0.5), carter(codes)

    return tally(each())


def alone(draw: np.random.Generator, truth: float, questions: int, repeats: int) -> tuple[Held, Held]:
    """Questions that are clusters of their own: intervals of the accuracy, and of a difference of nothing."""
    codes = np.arange(questions)

    def each(difference: bool) -> Iterator[tuple[Estimate, float, float]]:
        for _ in range(repeats):
            values = (draw.random(questions) < truth).astype(float)
            if difference:
                again = draw.random(questions) < 0.5
                values -= np.where(again, draw.random(questions) < truth, values)
            bounds = (-1.0, 1.0) if difference else (0.0, 1.0)
            yield clustered(values, codes, bounds=bounds), 0.0 if difference else truth, questions

    return tally(each(False)), tally(each(True))


def of_corrected(
    draw: np.random.Generator,
    law: str,
    clusters: int,
    truth: tuple[float, float],
    repeats: int,
    *,
    scored: float = 0.3,
) -> Held:
    """Intervals of an accuracy that a kind judge sees of all answers and people of a share of them.

    The judge takes one wrong answer in three for right, and one right answer in twenty for wrong.
    """

    def each() -> Iterator[tuple[Estimate, float, float]]:
        for _ in range(repeats):
            codes = codes_of_sizes(SIZES[law](draw, clusters))
            right = answers(draw, codes, *truth)
            judge = (draw.random(len(codes)) < np.where(right == 1, 0.95, 1 / 3)).astype(float)
            people = draw.random(len(codes)) < scored
            if people.sum() < 2:
                continue
            found = Labelled(
                judge,
                np.where(people, right, np.nan),
                people / scored,
                np.zeros(len(codes), dtype=bool),
                codes,
            )
            yield corrected_mean(found, (0.0, 1.0)), truth[0], carter(codes[people])

    return tally(each())


class Told(NamedTuple):
    """What tables of equally good systems say."""

    lost: float
    """Share of tables in which some system loses the star."""
    holm: float
    """Share in which Holm's correction tells any pair apart."""
    alike: float
    """Share of systems that lose the star exactly where Holm's correction tells the best from them."""


def answers_of_systems(
    draw: np.random.Generator, systems: int, questions: int, ends: tuple[float, float], shared: float = 0.7
) -> Values:
    """Systems x questions, by a normal copula: systems fail on the same questions."""
    ease = np.sqrt(shared) * draw.normal(size=questions)
    own = np.sqrt(1 - shared) * draw.normal(size=(systems, questions))
    return (ease + own < ndtri(np.linspace(*ends, systems))[:, None]).astype(float)


def stars(
    draw: np.random.Generator,
    systems: int,
    questions: int,
    repeats: int,
    ends: tuple[float, float] = (0.7, 0.7),
) -> Told:
    """How often a star is lost, and how far stars and ranks agree with Holm's pairs."""
    lost = any_pair = same = 0
    pairs = [(one, other) for one in range(systems) for other in range(one)]
    for seed in range(repeats):
        right = answers_of_systems(draw, systems, questions, ends)
        figures = right.mean(axis=1)
        drawn = np.concatenate(list(weights(questions, seed=seed, name="stars"))) @ right.T / questions
        found = ranks(figures, drawn, questions - 1)
        lost += not all(one.top for one in found)
        p_values = holm([mcnemar(right[one], right[other]) for one, other in pairs])
        told = {pair for pair, p in zip(pairs, p_values, strict=True) if p < 0.05}
        any_pair += bool(told)
        best = int(figures.argmax())
        below = [bool({(best, place), (place, best)} & told) for place in range(systems)]
        same += sum(one.top != other for one, other in zip(found, below, strict=True))
    return Told(lost / repeats, any_pair / repeats, same / repeats / systems)


def _grid(
    title: str, draw: np.random.Generator, run: Callable[..., Held], repeats: int, **more: float
) -> None:
    print(f"\n{title}: least share held over {len(TRUTHS)} accuracies and correlations (mean width)\n")
    print("| sizes | " + " | ".join(f"{n} clusters" for n in CLUSTERS) + " | withheld |")
    print("|---|" + "---:|" * (len(CLUSTERS) + 1))
    for law in SIZES:
        cells, withheld = [], []
        for clusters in CLUSTERS:
            found = [run(draw, law, clusters, truth, repeats, **more) for truth in TRUTHS]
            cells.append(f"{min(one.share for one in found):.3f} ({np.mean([f.width for f in found]):.2f})")
            withheld += [one.withheld for one in found]
        print(f"| {law} | {' | '.join(cells)} | {np.mean(withheld):.1%} |", flush=True)


def main() -> None:
    """Prints all as Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    draw = np.random.default_rng(asked.seed)
    _grid("Means", draw, of_means, asked.repeats)
    _grid("Means, a fifth of the replies missing", draw, of_means, asked.repeats, missing=0.2)
    _grid("Paired differences", draw, of_differences, asked.repeats)
    _grid("Means of a judge, corrected by people", draw, of_corrected, asked.repeats)
    print("\nOne question a cluster: share held (mean width)\n")
    print("| accuracy | questions | mean | paired difference |\n|---:|---:|---:|---:|")
    for truth, questions in ALONE:
        mean, difference = alone(draw, truth, questions, asked.repeats)
        told = " | ".join(f"{one.share:.3f} ({one.width:.3f})" for one in (mean, difference))
        print(f"| {truth} | {questions} | {told} |", flush=True)
    print("\nEqually good systems (accuracy .7): tables where one loses the star, or a pair is told apart\n")
    print("| systems | questions | star lost | Holm |\n|---:|---:|---:|---:|")
    tables = asked.repeats // 5
    for systems, questions in ((5, 300), (20, 60), (20, 300), (30, 300)):
        found = stars(draw, systems, questions, tables)
        print(f"| {systems} | {questions} | {found.lost:.1%} | {found.holm:.1%} |", flush=True)
    apart = stars(draw, 20, 300, tables // 2, (0.6, 0.8))
    print(f"\nOf systems of 60 to 80 %, {apart.alike:.1%} lose the star exactly where Holm's pairs say so.")


if __name__ == "__main__":
    main()
