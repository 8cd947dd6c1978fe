"""Six simulated people whose skill is known: it is recovered from their answers, and disputes are settled."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import decisions
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.tasks import review_task
from mihakk.annotation.statistics.auditor_errors import annotators
from mihakk.annotation.statistics.skill import skills
from mihakk.machinery.ids import content_hash
from tests.annotation.exported import pulled
from tests.annotation.judged import choice

PEOPLE = ((0.95, 0.97), (0.9, 0.95), (0.85, 0.92), (0.9, 0.75), (0.6, 0.97), (0.92, 0.95))
"""True shares of defective items found and of sound ones kept; the last person tires: see `TIRED`."""
TIRED = 0.35
"""What the last person finds in the second half of the work."""
KEEP, DISCARD = {"decision": "keep"}, {"decision": "discard", "reason": "ambiguous"}


@dataclass
class Simulation:
    stores: Stores
    truth: dict[str, bool]
    items: list


def simulate(folder, size: int, seed: int = 7) -> Simulation:
    """Two people judge each item and a third where they differ; all of it pulled as a server exports it."""
    draw = random.Random(seed)
    items = [choice(n) for n in range(size)]
    truth = {item.id: draw.random() < 0.3 for item in items}
    answers: dict[str, list[dict[str, str] | None]] = {}

    def vote(person: int, place: int) -> dict[str, str]:
        finds, spares = PEOPLE[person]
        if person == len(PEOPLE) - 1 and place > size / 2:
            finds = TIRED
        right = draw.random() < (finds if truth[items[place].id] else spares)
        return DISCARD if truth[items[place].id] == right else KEEP

    for place, item in enumerate(items):
        asked = draw.sample(range(len(PEOPLE)), 3)
        said: list[dict[str, str] | None] = [None] * len(PEOPLE)
        for person in asked[:2]:
            said[person] = vote(person, place)
        if said[asked[0]] != said[asked[1]]:
            said[asked[2]] = vote(asked[2], place)
        answers[item.id] = said
    stores = Stores.under(str(folder / "bench"))
    pulled(stores, "quality_review", [review_task(item) for item in items], answers)
    return Simulation(stores, truth, items)


def recovered(folder, size: int, within: float) -> None:
    made = simulate(folder, size)
    reviews = decisions(made.stores)
    found = skills(reviews)
    assert len(found) == len(PEOPLE)
    for number, (finds, spares) in enumerate(PEOPLE[:-1], 1):
        one = found[f"annotator-{number:02d}"]
        assert (one.finds, one.spares) == (
            pytest.approx(finds, abs=within),
            pytest.approx(spares, abs=within),
        )
        assert one.finds_drift is None or abs(one.finds_drift) < 0.25
    tired = found[f"annotator-{len(PEOPLE):02d}"]
    assert tired.finds == pytest.approx((PEOPLE[-1][0] + TIRED) / 2, abs=within + 0.03)
    alarmed = {row.annotator for row in annotators(reviews, ()) if "finds_less" in row.alarms}
    assert alarmed == {f"annotator-{len(PEOPLE):02d}"}

    told = resolve(reviews, {item.id: content_hash(item) for item in made.items})
    assert len(told) == size
    assert {row.outcome for row in told} == {"keep", "discard"}, "a third vote settles every dispute"
    settled = sum((row.outcome == "discard") == made.truth[row.item] for row in told) / size
    single = sum((row.decision == "discard") == made.truth[row.item] for row in reviews) / len(reviews)
    assert settled > single + 0.01, "two and a third are right more often than one"


def test_skill_is_recovered_from_answers_whose_truth_nobody_told(tmp_path):
    recovered(tmp_path, 900, within=0.12)


@pytest.mark.drill
def test_skill_is_recovered_closely_from_five_thousand_tasks(tmp_path):
    recovered(tmp_path, 5000, within=0.05)


def test_known_defects_are_held_fixed_and_few_votes_tell_nothing(tmp_path):
    made = simulate(tmp_path, 900)
    reviews = decisions(made.stores)
    known = [item for item, is_bad in made.truth.items() if is_bad]
    told = skills(reviews, known)["annotator-05"]
    own = [row for row in reviews if row.annotator == "annotator-05" and made.truth[row.item]]
    counted = sum(row.decision == "discard" for row in own) / len(own)
    assert abs(told.finds - counted) < 0.03
    assert skills([row for row in reviews if row.annotator == "annotator-05"][:29]) == {}
    assert skills([]) == {}
