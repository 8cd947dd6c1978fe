"""Judges stand beside people though people left answers that were drawn: intervals hold whatever those would be."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mihakk.evaluation.judges.people import NOBODY, PeopleScores
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.judges.validation import (
    GATE,
    AgreementWithPeople,
    Scored,
    agreement_rows,
    vouching,
)
from mihakk.evaluation.statistics.agreement import kappas

RUBRIC = rubric_named("answer")
Missing = Callable[[int, float, int, Random], bool]
"""Place in the queue (of 100), judge less people, person."""
WORLDS: dict[str, Missing] = {
    "complete": lambda place, gap, person, draw: False,
    "at random": lambda place, gap, person, draw: draw.random() < 0.4,
    "front-loaded": lambda place, gap, person, draw: place >= 60,
    "easy first": lambda place, gap, person, draw: gap != 0 and draw.random() < 0.8,
    "one stops": lambda place, gap, person, draw: person == 1 and place >= 50,
    "one language": lambda place, gap, person, draw: place % 2 == 1,
}


def answers(draw: Random, count: int) -> list[tuple[float, float]]:
    """What judges and people give; every fourth reply they see a point apart, or two."""
    found = []
    for _ in range(count):
        people = draw.choice((0, 1, 2, 3))
        off = draw.choice((-2, -1, 1, 2)) if draw.random() < 0.25 else 0
        found.append((float(min(3, max(0, people + off))), float(people)))
    return found


def scored(missing: Missing, draw: Random) -> list[Scored]:
    rows = []
    for place, (judge, people) in enumerate(answers(draw, 100)):
        by = {f"p{person}": people for person in range(2) if not missing(place, judge - people, person, draw)}
        case: Any = SimpleNamespace(
            name=str(place),
            reply="كلمة",
            answer=SimpleNamespace(
                task="t", language="ar", model=f"m{place % 4}", release="r", group=f"g{place}"
            ),
        )
        given = PeopleScores(by, by) if by else NOBODY
        rows.append(Scored(case, "f", {"j": judge}, given, float(bool(by)), drawn=1.0, lacks=2 - len(by)))
    return rows


def told(rows: list[Scored]) -> AgreementWithPeople:
    return next(one for one in agreement_rows(RUBRIC, rows, ["j"], 0) if one.judge == "j")


@pytest.mark.parametrize("world", WORLDS)
def test_kappa_and_bias_hold_the_truth_whatever_people_left(world: str) -> None:
    many = np.array(answers(Random(0), 40_000))
    (kappa,) = kappas(many[:, 0], many[:, 1], np.ones((1, len(many))))
    bias = float((many[:, 0] - many[:, 1]).mean())
    held = []
    for seed in range(4):
        row = told(scored(WORLDS[world], Random(f"{world} {seed}")))
        assert (row.unanswered > 0) == (world != "complete")
        held += [row.kappa_low <= kappa <= row.kappa_high, row.bias_low <= bias <= row.bias_high]
    assert sum(held) >= 7


def test_nobody_is_vouched_for_by_the_easy_half_alone() -> None:
    draw = Random(1)
    rows = scored(lambda place, gap, person, _: gap != 0 or place < 20, draw)
    (whole, *_) = [one for one in agreement_rows(RUBRIC, rows, ["j"], 0) if one.judge == "both judges"]
    easy = [one._replace(lacks=0) for one in rows if one.people.by]
    assert told(easy).kappa_low >= GATE
    assert whole.kappa == 1
    assert not vouching(RUBRIC, [whole], ("j",)).vouched
