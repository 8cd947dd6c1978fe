"""How many wrong golds planted at random are in a tenth of the list: `python -m performance.suspects`.

400 items of four options, one in twenty with a wrong gold (another option, drawn at random, is called right).
Systems have true accuracies evenly between two ends. Their errors are shared in two ways: whether a system
errs comes by a normal copula whose correlation between systems is `blind` (they fail on the same items), and
whoever errs falls for the item's trap with the chance `trap`, else for any wrong option. The same is asked
of answers that are made in another way, so that the method is not judged by its own model alone: by the
nominal response model (R. D. Bock, 1972), where items differ in difficulty and in how far they tell systems
apart, and each wrong option has a pull of its own.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from mihakk.evaluation.statistics.wrong_golds import gold_odds

ITEMS: Final = 400
OPTIONS: Final = 4
PLANTED: Final = 0.05
BLIND: Final = 0.3
BLINDS: Final = (BLIND, 0.6, 0.8, 0.9)
"""Correlations between systems; 0.8 is what real ones have (`python -m performance.wrong_golds`)."""
LIST: Final = 0.1
"""Share of all items that somebody looks at."""
QUALITIES: Final = {"weak": (0.35, 0.7), "as stated": (0.55, 0.9), "strong": (0.75, 0.95)}
NUMBERS: Final = (6, 10, 15, 30)


def planted(
    draw: np.random.Generator,
    systems: int,
    ends: tuple[float, float],
    trap: float,
    *,
    items: int = ITEMS,
    blind: float = BLIND,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Items x systems x options with the stated gold in place 0, and which golds are wrong."""
    accuracy = np.linspace(*ends, systems)
    shared = draw.normal(size=(items, 1))
    z = np.sqrt(blind) * shared + np.sqrt(1 - blind) * draw.normal(size=(items, systems))
    is_wrong = z < ndtri(1 - accuracy)
    in_trap = draw.random((items, systems)) < trap
    anywhere = draw.integers(1, OPTIONS, (items, systems))
    # Option 0 is true, option 1 the trap.
    picks = np.where(is_wrong, np.where(in_trap, 1, anywhere), 0)
    return _misstated(draw, picks)


def _misstated(
    draw: np.random.Generator, picks: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Option 0 is true; of some items another is said to be the gold, and changes places with it."""
    items = len(picks)
    wrong = np.zeros(items, dtype=bool)
    wrong[draw.choice(items, int(items * PLANTED), replace=False)] = True
    stated = np.where(wrong, draw.integers(1, OPTIONS, items), 0)
    shares = np.eye(OPTIONS)[picks]
    shares[np.arange(items), :, 0], shares[np.arange(items), :, stated] = (
        shares[np.arange(items), :, stated],
        shares[np.arange(items), :, 0].copy(),
    )
    return shares, wrong


def by_nominal_response(
    draw: np.random.Generator, systems: int, ends: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """As `planted`, by the nominal response model, with abilities that give the same accuracies."""
    from scipy.optimize import brentq

    slope, hard = np.exp(draw.normal(0, 0.4, ITEMS)), draw.normal(0, 1.2, ITEMS)
    pull = draw.normal(0, 1, (ITEMS, OPTIONS - 1))

    def chances(ability: float) -> NDArray[np.float64]:
        found: NDArray[np.float64] = softmax(np.column_stack([slope * (ability - hard), pull]), axis=1)
        return found

    picks = np.empty((ITEMS, systems), dtype=np.int64)
    for place, accuracy in enumerate(np.linspace(*ends, systems)):
        ability = brentq(lambda one, wanted=accuracy: chances(one)[:, 0].mean() - wanted, -20, 20)
        below = chances(ability).cumsum(axis=1)
        picks[:, place] = (draw.random((ITEMS, 1)) > below[:, :-1]).sum(axis=1)
    return _misstated(draw, picks)


def recall_and_precision(
    systems: int,
    ends: tuple[float, float],
    trap: float | None,
    *,
    seed: int,
    repeats: int,
    blind: float = BLIND,
) -> tuple[float, float]:
    """Share of the planted golds in the first tenth, and of planted ones there; means of repeats.

    Answers are made by the nominal response model where `trap` is None.
    """
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        if trap is None:
            shares, wrong = by_nominal_response(draw, systems, ends)
        else:
            shares, wrong = planted(draw, systems, ends, trap, blind=blind)
        odds = gold_odds(shares, np.full(ITEMS, OPTIONS, dtype=np.int64)).odds
        first = np.argsort(-odds, kind="stable")[: int(ITEMS * LIST)]
        found.append((wrong[first].sum() / wrong.sum(), wrong[first].mean()))
    recall, precision = np.mean(found, axis=0)
    return float(recall), float(precision)


def main() -> None:
    """Prints the curve as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=19)
    asked = parser.parse_args()
    print(f"Recall of {PLANTED:.0%} wrong golds in the first {LIST:.0%} ({asked.repeats} simulations).\n")
    print("| true accuracies | wrong answers | correlation | " + " | ".join(f"{n} systems" for n in NUMBERS))
    print("|---|---|---:|" + "---:|" * len(NUMBERS))
    for name, ends in QUALITIES.items():
        for trap, blinds in ((BLIND, BLINDS), (1.0, BLINDS), (None, (BLIND,))):
            where = "nominal response" if trap is None else f"{trap:.0%} on one option"
            for blind in blinds:
                told = [
                    recall_and_precision(n, ends, trap, seed=asked.seed, repeats=asked.repeats, blind=blind)[
                        0
                    ]
                    for n in NUMBERS
                ]
                shown = " | ".join(f"{recall:.2f}" for recall in told)
                print(f"| {name}: {ends[0]} to {ends[1]} | {where} | {blind} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
