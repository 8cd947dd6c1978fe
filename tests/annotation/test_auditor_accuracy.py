"""How often auditors are right, estimated from what people saw and systems answered, beside the known truth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest

from mihakk.annotation.statistics.auditor_accuracy import AuditorAccuracy, auditor_accuracy
from mihakk.annotation.statistics.sampling import QueueEntry
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import CRITERIA
from tests.annotation.judged import choice, review, verdict

ITEMS = 500
ROWS = [choice(number) for number in range(ITEMS)]
CONTENTS = [(row.id, content_hash(row)) for row in ROWS]
FINDS = {"first": (0.6, 0.06), "second": (0.35, 0.02)}
"""Chance of each auditor to object to a defective and to a sound item."""
FIGURES = ("right", "found", "false_alarms")


class World(NamedTuple):
    """One simulated benchmark: what is true, and what is known of it."""

    truth: dict[tuple[str, str], float]
    given: dict[str, Any]


def world(seed: int, *, sample: int = 60, answers: bool = True) -> World:
    """Eight in a hundred are defective; answers speak against most of three fifths of these, the wrong golds."""
    draw = np.random.default_rng(seed)
    bad = draw.random(ITEMS) < 0.08
    wrong_gold = bad & (draw.random(ITEMS) < 0.6)
    odds = np.where(wrong_gold, draw.normal(2, 2, ITEMS), draw.normal(-4, 2, ITEMS))
    objects = {
        name: draw.random(ITEMS) < np.where(bad, finds, alarms) for name, (finds, alarms) in FINDS.items()
    }
    flagged = objects["first"] | objects["second"]
    passed = np.flatnonzero(~flagged)
    doubted = set(passed[np.argsort(-odds[passed])][: len(passed) // 10].tolist()) if answers else set()
    lot = set(draw.choice(passed, sample, replace=False).tolist())
    queued, reviews = [], []
    for place, row in enumerate(ROWS):
        why = ["flagged"] if flagged[place] else []
        why += ["suspect"] if place in doubted else []
        why += ["sample"] if place in lot else []
        queued += [QueueEntry(row, one).queued() for one in why]  # type: ignore[arg-type]
        if why:
            said = "discard" if bad[place] else "keep"
            reviews += [review(row, person, said) for person in ("p", "q")]
    scores = {
        content: {
            name: dict.fromkeys(CRITERIA, 1) | {"answer_alignment": int(not said[place])}
            for name, said in objects.items()
        }
        for place, content in enumerate(CONTENTS)
    }
    truth = {}
    for name, said in [*objects.items(), ("verdict", flagged)]:
        truth[name, "right"] = bad[said].mean()
        truth[name, "found"] = said[bad].mean()
        truth[name, "false_alarms"] = said[~bad].mean()
    given = {
        "items": ROWS,
        "verdicts": [verdict(row.id, "flag" if flagged[n] else "pass") for n, row in enumerate(ROWS)],
        "scores": scores,
        "queued": queued,
        "reviews": reviews,
        "odds": {CONTENTS[n]: float(odds[n]) for n in passed} if answers else {},
        "suspects": {CONTENTS[n] for n in doubted},
    }
    return World(truth, given)


def by_name(given: dict[str, Any]) -> dict[str, AuditorAccuracy]:
    return {row.auditor: row for row in auditor_accuracy(**given)}


def held(seeds: range, **how: Any) -> tuple[dict[str, list[bool]], dict[str, list[float]]]:
    """Of each figure, whether its interval held the truth, and how wide it was."""
    inside: dict[str, list[bool]] = {figure: [] for figure in FIGURES}
    width: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    for seed in seeds:
        truth, given = world(seed, **how)
        for name, row in by_name(given).items():
            for figure in FIGURES:
                low, high = (getattr(row, f"{figure}_{end}") for end in ("low", "high"))
                inside[figure].append(low - 1e-9 <= truth[name, figure] <= high + 1e-9)
                width[figure].append(high - low)
    return inside, width


def test_intervals_hold_the_truth_and_answers_make_them_narrower() -> None:
    inside, width = held(range(8))
    for figure, hits in inside.items():
        assert binomtest(sum(hits), len(hits), 0.95, "less").pvalue > 0.001, figure
    _, without = held(range(8), answers=False)
    assert np.mean(width["found"]) < 0.8 * np.mean(without["found"])


@pytest.mark.drill
def test_intervals_hold_the_truth_in_ninety_five_of_a_hundred() -> None:
    for how in ({}, {"sample": 150}, {"answers": False}):
        inside, _ = held(range(100, 500), **how)
        for figure, hits in inside.items():
            assert np.mean(hits) > 0.945, (how, figure)
