"""Six simulated people of known habits: the alarms ring for who guesses, copies, hurries or falls silent."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from mihakk.annotation.decisions.store import add
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.exchange import ReviewPulled, _open_votes
from mihakk.annotation.statistics.auditor_errors import _less_by_chance, annotators
from mihakk.annotation.statistics.sampling import NEWCOMER_CHECKS, Queued
from mihakk.machinery.groups import grouped
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.review import Review
from tests.annotation.team import SKILLS, START, Team

PARTLY = 0.3
REASONS = ("wrong_gold", "ambiguous", "not_authentic", "duplicate", "unreadable", "sensitive")


def world(
    seed: int, size: int = 240, *, guesser: float = 1.0, copier: float = 1.0, checks: int = NEWCOMER_CHECKS
):
    """Two of six people judge each item; the copier mostly comes after the careful one.

    `guesser` and `copier` are the shares of their answers that two people guess and copy; else they judge as
    the careful one does. A push makes `checks` for each newcomer. The leaver stops after a third.
    """
    draw = random.Random(seed)
    people = ["careful", "other", "guesser", "leaver", "keeper"]
    extra = (len(people) + 1) * checks // 2
    rows, queued = [], []
    for place in range(size + extra):
        is_check = place % 20 == 7 or (place < 3 * extra and place % 3 == 1)
        bad = draw.random() < (0.75 if is_check else 0.3)
        name = f"i{place}"
        known = ("swapped_gold" if bad else "sound") if is_check else ""
        why = "attention" if is_check else "flagged"
        queued.append(Queued(item=name, content_hash="h", why=why, stratum="ar/x", known=known))
        able = [one for one in people if one != "leaver" or place <= (size + extra) // 3]
        asked = draw.sample(able, 2)
        if "careful" in asked and draw.random() < 0.8:
            asked = ["careful", "copier"]
        said: dict[str, bool] = {}
        for person in asked:
            finds, spares = SKILLS.get(person, SKILLS["careful"])
            objects = draw.random() < finds if bad else draw.random() >= spares
            if person == "guesser" and draw.random() < guesser:
                objects = draw.random() < 0.5
            if person == "copier" and draw.random() < copier:
                objects = said["careful"]
            said[person] = objects
            rows.append(
                Review(
                    item=name,
                    content_hash="h",
                    annotator=person,
                    decision="discard" if objects else "keep",
                    reason="ambiguous" if objects else None,
                    decided_at=START + timedelta(minutes=len(rows)),
                    seconds=30 * draw.uniform(0.6, 1.6),
                )
            )
    return rows, queued


def alarmed(seeds: range, **habits: float) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Share of worlds in which a person is alarmed, and in which an alarm rings for them."""
    anything, each = Counter[str](), Counter[tuple[str, str]]()
    for seed in seeds:
        for row in annotators(*world(seed, **habits)):
            anything[row.annotator] += bool(row.alarms)
            each.update((row.annotator, alarm) for alarm in row.alarms)
    size = len(seeds)
    return (
        Counter({name: n / size for name, n in anything.items()}),
        Counter({name: n / size for name, n in each.items()}),
    )


def test_who_guesses_or_copies_is_alarmed_and_who_is_careful_is_not():
    anything, each = alarmed(range(40_000, 40_020))
    assert anything["guesser"] >= 0.95
    assert each["copier", "copying"] >= 0.9
    assert anything["careful"] <= 0.05
    assert each["keeper", "guessing"] >= 0.8, "who keeps everything is mostly right, and finds nothing"


@pytest.mark.drill
@pytest.mark.parametrize(
    ("habit", "alarm", "least"), [("guesser", "guessing", 0.55), ("copier", "copying", 0.5)]
)
def test_who_guesses_or_copies_three_answers_in_ten_is_often_alarmed(habit, alarm, least):
    anything, each = alarmed(range(50_000, 50_100), **{habit: PARTLY})
    assert each[habit, alarm] >= least
    assert anything["careful"] <= 0.05
    assert anything["other"] <= 0.09, "who judges 88 of 100 rightly: one in twenty, and what chance allows"


def evidence(seed: int, copier: float, checks: int) -> float:
    """Log of how much likelier a world's answers are where `PARTLY` of the copier's are copied than where none.

    Of all tests with as few false alarms the one that goes by it finds most copiers (J. Neyman and E. S.
    Pearson, 1933). It knows what nobody does: everybody's skill, whom one copies and how much, and how many
    items are defective; of the checks also which.
    """
    rows, queued = world(seed, copier=copier, checks=checks)
    known = {row.item: float(row.known != "sound") for row in queued if row.known}
    said = {(row.item, row.annotator): row.decision != "keep" for row in rows}
    finds, spares = SKILLS["careful"]
    found = 0.0
    for item in (item for item, person in said if person == "copier"):
        first, second = said[item, "careful"], said[item, "copier"]
        alone = copied = 0.0
        for bad, share in ((True, known.get(item, 0.3)), (False, 1 - known.get(item, 0.3))):
            one, two = (
                (finds if bad else 1 - spares) if objects else (1 - finds if bad else spares)
                for objects in (first, second)
            )
            alone += share * one * two
            copied += share * one * ((1 - PARTLY) * two + PARTLY * (first == second))
        found += math.log(copied / alone)
    return found


@pytest.mark.drill
@pytest.mark.parametrize(("checks", "least", "most"), [(0, 0.22, 0.5), (NEWCOMER_CHECKS, 0.5, 0.78)])
def test_what_the_best_test_of_all_would_find_of_who_copies_three_answers_in_ten(checks, least, most):
    honest = sorted(evidence(seed, 0.0, checks) for seed in range(60_000, 60_200))
    found = [evidence(seed, PARTLY, checks) > honest[190] for seed in range(61_000, 61_200)]
    assert least <= sum(found) / len(found) <= most


@pytest.mark.drill
@pytest.mark.timeout(7200)
def test_asking_one_more_about_what_may_be_copied_tells_copiers_from_who_agrees(tmp_path):
    """Pushes and pulls as they are; an alarm counts that rings after any pull."""
    rings = {share: Counter[tuple[str, str]]() for share in (0.0, PARTLY)}
    for share, found in rings.items():
        for seed in range(70_000, 70_100):
            folder = str(tmp_path / f"{share} {seed}")
            team = Team(seed, folder, ReviewConfig(team=6, copying_doubt=0.1), guesser=PARTLY, copier=share)
            looks = [{row.annotator: row.alarms for row in look} for look in team.work(200)]
            found.update({(name, alarm) for look in looks for name, told in look.items() for alarm in told})
    # On 60 other seeds 35 (.45 to .71), on 29 before them 23: the .6 that is wanted is within, and not shown.
    assert rings[PARTLY]["copier", "copying"] >= 45
    assert rings[PARTLY]["guesser", "guessing"] >= 80
    assert rings[0.0]["copier", "copying"] <= 12, "who is careful and follows another, of 100"
    assert max(found["careful", alarm] for found in rings.values() for alarm in ("guessing", "copying")) <= 8


def test_what_may_be_a_copy_is_asked_of_one_more_person(tmp_path):
    rows, queued = world(40_000)
    stores = Stores.under(str(tmp_path))
    add(stores.decisions, Review, rows)
    add(stores.queued, Queued, queued)
    checks = {row.item for row in queued if row.known}
    said = grouped([row for row in rows if row.item not in checks], lambda row: row.item)
    agreed = {
        item: {row.annotator for row in votes}
        for item, votes in said.items()
        if len({row.decision for row in votes}) == 1
    }
    copied = {item for item, people in agreed.items() if people == {"careful", "copier"}}

    def asked(**more: float) -> set[str]:
        config = ReviewConfig(team=6, **more)
        return {item for item, _ in _open_votes([], ReviewPulled(), stores, config)} & agreed.keys()

    assert len(copied) > 50
    assert asked(copying_doubt=0.3) == copied, "who copies and who is copied are one vote"
    assert asked() == set()


def test_the_one_whose_answers_are_copied_is_not_called_a_copier():
    rows, queued = world(40_000)
    found = {row.annotator: row for row in annotators(rows, queued)}
    assert found["copier"].copied_from == "careful"
    assert found["copier"].copying > 0.9
    assert found["copier"].copied > 0.8
    assert "copying" not in found["careful"].alarms


def alone(seed: int, right: tuple[float, ...], size: int = 400) -> list[Review]:
    """Two of four people judge each item; each judges that share rightly."""
    draw, rows = random.Random(seed), []
    for place in range(size):
        bad = draw.random() < 0.3
        for person in draw.sample("abcd", 2):
            objects = bad if draw.random() < right["abcd".index(person)] else not bad
            when = START + timedelta(minutes=len(rows))
            said = {"decision": "discard", "reason": "ambiguous"} if objects else {"decision": "keep"}
            rows.append(Review(item=f"i{place}", content_hash="h", annotator=person, decided_at=when, **said))
    return rows


def test_people_who_judge_alone_are_not_alarmed_for_agreeing():
    alarms = Counter(
        alarm
        for seed, right in enumerate([1.0, 0.95, 0.85] * 4)
        for row in annotators(alone(seed, (right,) * 4), ())
        for alarm in row.alarms
    )
    assert alarms["copying"] <= 3, "of 48 people"


def test_who_judges_beside_many_is_no_likelier_a_copier_than_who_judges_beside_one():
    seeds = range(7_000, 7_003)
    found = [row for seed in seeds for row in annotators(alone(seed, (0.9, 0.9, 0.88, 0.88), 800), ())]
    # A tenth of people is taken beforehand to copy: of three whom each could copy from, a tenth each gave .13.
    assert sum(row.copying or 0 for row in found) / len(found) < 0.1


def test_two_who_are_surely_nearly_always_right_copy_nobody():
    found = {row.annotator: row for row in annotators(alone(870_004, (1.0, 1.0, 0.88, 0.88), 800), ())}
    assert found["a"].copied_from != "b"
    assert "copying" not in found["a"].alarms + found["b"].alarms


def test_haste_is_beyond_ones_own_habit_and_silence_while_others_go_on():
    def rows(person: str, seconds: list[float], day: int = 0) -> list[Review]:
        return [
            Review(
                item=f"{person}{place}",
                content_hash="h",
                annotator=person,
                decision="keep",
                decided_at=START + timedelta(days=day, minutes=place),
                seconds=time,
            )
            for place, time in enumerate(seconds)
        ]

    draw = random.Random(1)
    steady = [draw.uniform(20, 60) for _ in range(40)]
    fast = [draw.uniform(3, 8) for _ in range(40)]
    hurried = [draw.uniform(20, 60) for _ in range(25)] + [draw.uniform(5, 15) for _ in range(20)]
    work = [
        *rows("steady", steady, 8),
        *rows("fast", fast, 7),
        *rows("hurried", hurried, 2),
        *rows("gone", [30] * 9),
    ]
    found = {row.annotator: row for row in annotators(work, ())}
    assert "faster" in found["hurried"].alarms
    assert found["hurried"].pace < 0.5
    assert "faster" not in found["fast"].alarms, "always fast is a habit"
    assert found["steady"].pace == pytest.approx(1, abs=0.5)
    assert found["gone"].alarms == ("silent",)
    assert (found["gone"].silent, found["hurried"].silent) == (8, 5)
    ahead = rows("ahead", [30], (datetime.now(UTC) - START).days + 30)
    wrong_clock = {row.annotator: row for row in annotators([*work, *ahead], ())}
    assert (wrong_clock["steady"].silent, wrong_clock["ahead"].silent) == (0, 0)
    assert wrong_clock["steady"].alarms == found["steady"].alarms


def simulated(seed: int, size: int, *, hard: float = 0.0, copied: float = 0.0) -> list[Review]:
    """Four people, two on each item, with reasons of their own for what they object to.

    On hard items everybody tosses a coin. `b` repeats that share of the answers that `a` gave before, word by
    word.
    """
    draw, rows = random.Random(seed), []
    for place in range(size):
        bad, tossed = draw.random() < 0.3, draw.random() < hard
        reason = draw.choice(REASONS)
        asked = ["a", "b"] if copied and draw.random() < 0.5 else draw.sample(["a", "b", "c", "d"], 2)
        said: dict[str, dict[str, str]] = {}
        for person in sorted(asked):
            objects = draw.random() < (0.5 if tossed else 0.9 if bad else 0.06)
            own = reason if bad and draw.random() < 0.5 else draw.choice(REASONS)
            said[person] = {"decision": "discard", "reason": own} if objects else {"decision": "keep"}
            if person == "b" and "a" in said and draw.random() < copied:
                said["b"] = said["a"]
            when = START + timedelta(minutes=len(rows))
            rows.append(
                Review(item=f"i{place}", content_hash="h", annotator=person, decided_at=when, **said[person])
            )
    return rows


def test_items_that_are_hard_for_everybody_accuse_nobody():
    alarms = Counter(
        alarm
        for seed in range(4)
        for row in annotators(simulated(seed, 500, hard=0.15), ())
        for alarm in row.alarms
    )
    assert alarms["guessing"] <= 1, "of 16 people"
    assert alarms["copying"] <= 1


def test_reasons_that_are_repeated_tell_of_copying():
    rows = simulated(3, 240, copied=0.4)
    plain = [row.model_copy(update={"reason": row.reason and "ambiguous"}) for row in rows]
    with_reasons, without = (
        next(one for one in annotators(some, ()) if one.annotator == "b") for some in (rows, plain)
    )
    assert with_reasons.copied_from == "a"
    assert with_reasons.copying > without.copying


@given(
    st.lists(st.integers(1, 30), min_size=20, max_size=20),
    st.lists(st.integers(1, 90), min_size=20, max_size=60),
)
def test_haste_is_judged_as_scipy_judges_it(last: list[int], before: list[int]) -> None:
    expected = mannwhitneyu(last, before, alternative="less").pvalue
    assert _less_by_chance(last, before) == pytest.approx(expected, rel=1e-9)
    assert _less_by_chance([7] * 20, [7] * 20) == 1.0
