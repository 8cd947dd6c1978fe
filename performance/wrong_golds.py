"""Ways to find wrong golds by answers, on real ones: `python -m performance.wrong_golds [ANSWERS.csv]`.

The table has a row per question with `choices`, `gold` (its place), `error_type` (what experts found) and a
column of labels per system; without an argument it is `panel/mmlu_redux_answers.csv` of the shared data. Ties
are broken in every way alike. Each way is compared with plain disagreement on the same 2,000 resamples of
items, so that no way is put before another that chance put there.
"""

from __future__ import annotations

import argparse
from ast import literal_eval
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from mihakk.evaluation.statistics.bootstrap import percentile_interval
from mihakk.evaluation.statistics.wrong_golds import gold_odds
from performance._measure import BESIDE

Values = NDArray[np.float64]
LISTS: Final = (0.01, 0.02, 0.05, 0.1)
"""Shares of the items that somebody looks at."""
RESAMPLES: Final = 2_000
BINS: Final = (0.0, 0.01, 0.2, 1.01)


class Truth(NamedTuple):
    """Answers, and what experts say of the golds."""

    shares: Values
    """Items x systems x options, the stated gold first."""
    options: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    """The gold is wrong."""
    faulty: NDArray[np.bool_]
    """Anything is."""


def load(path: Path) -> Truth:
    """The table of real answers."""
    import pandas as pd

    table = pd.read_csv(path)
    systems = [name for name in table.columns if name not in ("question", "choices", "gold", "error_type")]
    options = np.array([len(literal_eval(one)) for one in table["choices"]])
    letters = {letter: place for place, letter in enumerate("ABCDEFGHIJ"[: options.max()])}
    shares = np.zeros((len(table), len(systems), options.max()))
    gold = table["gold"].to_numpy()
    for place, name in enumerate(systems):
        picks = table[name].map(letters).fillna(-1).to_numpy(dtype=int)
        there = np.flatnonzero(picks >= 0)
        shares[there, place, picks[there]] = 1
    rows = np.arange(len(table))
    first = shares[:, :, 0].copy()
    shares[:, :, 0] = shares[rows, :, gold]
    shares[rows[gold > 0], :, gold[gold > 0]] = first[gold > 0]
    error = table["error_type"].astype(str)
    return Truth(shares, options, (error == "wrong_groundtruth").to_numpy(), (error != "ok").to_numpy())


def disagreement(shares: Values) -> Values:
    """Share of the systems that do not choose the gold."""
    return 1 - shares[:, :, 0].sum(axis=1) / shares.sum(axis=(1, 2))


def weighted_vote(shares: Values) -> Values:
    """Lead of the best other option over the gold, systems weighted by their log-odds of being right."""
    wrong_options = shares.shape[2] - 1
    right = (shares[:, :, 0].sum(axis=0) + 1) / (shares.sum(axis=(0, 2)) + 2)
    votes = np.einsum("iso,s->io", shares, np.log(right * wrong_options / (1 - right)))
    lead: Values = votes[:, 1:].max(axis=1) - votes[:, 0]
    return lead


def dawid_skene(shares: Values, rounds: int = 50) -> Values:
    """Log-odds against the gold by a matrix of confusions per system (A. P. Dawid and A. M. Skene, 1979)."""
    belief = shares.sum(axis=1) / shares.sum(axis=(1, 2))[:, None]
    for _ in range(rounds):
        confusion = np.einsum("ik,iso->sko", belief, shares) + 0.01
        confusion /= confusion.sum(axis=2, keepdims=True)
        log = np.log(belief.mean(axis=0) + 1e-9) + np.einsum("iso,sko->ik", shares, np.log(confusion))
        log -= np.logaddexp.reduce(log, axis=1, keepdims=True)
        belief = np.exp(log)
    odds: Values = np.logaddexp.reduce(log[:, 1:], axis=1) - log[:, 0]
    return odds


def two_parameters(shares: Values, rounds: int = 60) -> Values:
    """Minus the discrimination of each item by the two-parameter logistic model (a normal prior on both)."""
    right = shares[:, :, 0]
    ability = ndtri((right.sum(axis=0) + 1) / (len(right) + 2))
    design = np.column_stack([np.ones(len(ability)), (ability - ability.mean()) / ability.std()])
    centre, precision = np.array([1.5, 1.0]), np.diag([0.25, 1.0])
    found = np.tile(centre, (len(right), 1))
    for _ in range(rounds):
        chance = expit(found @ design.T)
        slope = (right - chance) @ design - (found - centre) @ precision
        curve = np.einsum("is,sa,sb->iab", chance * (1 - chance), design, design) + precision
        found = found + np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
    return -found[:, 1]


def recall(scores: Values, wrong: NDArray[np.bool_], share: float, counts: Values | None = None) -> float:
    """Share of the wrong ones in the first part of the list, ties broken in every way alike.

    Args:
        scores: The higher, the earlier.
        wrong: What is looked for.
        share: Of the items that somebody looks at.
        counts: How often each item is there; once if left out.
    """
    order = np.argsort(-scores, kind="stable")
    times = np.ones(len(scores)) if counts is None else counts
    sorted_scores, of_item = scores[order], times[order]
    hits = of_item * wrong[order]
    _, starts = np.unique(-sorted_scores, return_index=True)
    items, found = np.add.reduceat(of_item, starts), np.add.reduceat(hits, starts)
    before = np.concatenate([[0.0], items.cumsum()[:-1]])
    taken = np.clip(share * times.sum() - before, 0, items)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(items > 0, taken / items, 0.0)
    return float(part @ found / hits.sum())


def beside(truth: NDArray[np.bool_], ways: dict[str, Values], seed: int = 7) -> dict[str, list[str]]:
    """Recall of each way at each length of the list, and its lead over the first way with its interval."""
    draw = np.random.default_rng(seed)
    plain = next(iter(ways))
    drawn: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(RESAMPLES):
        counts = np.bincount(draw.integers(0, len(truth), len(truth)), minlength=len(truth)).astype(float)
        for name, scores in ways.items():
            drawn[name].append([recall(scores, truth, share, counts) for share in LISTS])
    told = {}
    for name, scores in ways.items():
        low, high = percentile_interval(np.array(drawn[name]) - np.array(drawn[plain]))
        told[name] = [
            f"{recall(scores, truth, share):.3f}" + ("" if name == plain else f" ({a:+.2f} to {b:+.2f})")
            for share, a, b in zip(LISTS, low, high, strict=True)
        ]
    return told


def reliability(confidence: Values, known: Truth) -> list[tuple[float, int, float, float]]:
    """Mean confidence, items, share of wrong golds and of faulty items by bins of the confidence."""
    rows = []
    for low, high in pairwise(BINS):
        own = (confidence >= low) & (confidence < high)
        if own.any():
            rows.append(
                (
                    float(confidence[own].mean()),
                    int(own.sum()),
                    float(known.wrong[own].mean()),
                    float(known.faulty[own].mean()),
                )
            )
    return rows


def replanted(known: Truth, draw: np.random.Generator) -> Truth:
    """The real answers to sound items, another option of as many of them drawn at random called right."""
    sound = ~known.faulty
    shares, options = known.shares[sound].copy(), known.options[sound]
    wrong = np.zeros(len(shares), dtype=bool)
    for place in draw.choice(len(shares), int(known.wrong.sum()), replace=False):
        other = draw.integers(1, options[place])
        shares[place][:, [0, other]] = shares[place][:, [other, 0]]
        wrong[place] = True
    return Truth(shares, options, wrong, wrong)


def main() -> None:
    """Prints recall, reliability and what planting at random would have promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="?", default=BESIDE / "panel" / "mmlu_redux_answers.csv")
    known = load(parser.parse_args().answers)
    found = gold_odds(known.shares, known.options)
    ways = {
        "plain disagreement": disagreement(known.shares),
        "accuracy-weighted vote": weighted_vote(known.shares),
        "Dawid and Skene": dawid_skene(known.shares),
        "discrimination (2PL)": two_parameters(known.shares),
        "`evaluate suspects`": found.odds,
    }
    items, systems, _ = known.shares.shape
    print(
        f"{items:,} items, {systems} systems, {known.wrong.sum()} wrong golds, {known.faulty.sum()} faulty."
    )
    print(f"Systems fail together: correlation {found.shared}.\n")
    print("| wrong golds in the first | " + " | ".join(f"{share:.0%}" for share in LISTS) + " |")
    print("|---|" + "---:|" * len(LISTS))
    for name, told in beside(known.wrong, ways).items():
        print(f"| {name} | {' | '.join(told)} |")
    print("\n| confidence | items | wrong golds | faulty |\n|---:|---:|---:|---:|")
    for mean, count, wrong, faulty in reliability(found.confidence, known):
        print(f"| {mean:.3f} | {count:,} | {wrong:.1%} | {faulty:.1%} |")
    certain = expit(ways["Dawid and Skene"]) > 0.95
    print(
        f"\nDawid and Skene are over 95 % sure of {certain.sum():,} items; "
        f"{known.wrong[certain].mean():.1%} have wrong golds."
    )
    agreed = known.shares[known.wrong][:, :, 0].mean(axis=1) > 0.5
    print(f"\nMost systems choose the wrong gold itself in {agreed.sum()} of {known.wrong.sum()}.")
    draw = np.random.default_rng(1)
    drawn = [replanted(known, draw) for _ in range(20)]
    means = [
        np.mean([recall(gold_odds(one.shares, one.options).odds, one.wrong, share) for one in drawn])
        for share in LISTS
    ]
    print("Planted at random in the same answers: " + ", ".join(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    main()
