"""Calibration: questions with known answers that a person answers before their work counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from math import ceil

from mihakk.machinery.draw import in_turns, lot
from mihakk.machinery.groups import grouped
from mihakk.machinery.stats import clopper_pearson
from mihakk.schemas.calibration import Basis, CalibrationAnswer, Known, Round, Side, Standing, Why
from mihakk.schemas.record import Language

SIDES: tuple[Side, ...] = ("defective", "sound")
BASES: tuple[Basis, ...] = ("written", "adjudicated", "agreed", "source", "planted", "unflagged")
"""Where a known answer comes from, the surest first; `unflagged`: nobody objected to it so far."""
LEAST_OF_A_SIDE = 2
"""Known answers of each side that a round needs at least."""


def draw_round(
    candidates: Sequence[Known], size: int, number: int, seed: int, used: Collection[str]
) -> list[Known]:
    """The questions of one round, half of them sound; none where either side has too few.

    The surest answers go first, and the kinds of defects take turns. What is drawn depends on the seed, the
    round and each question's own base. Bases `used` in earlier rounds are left out: they have been explained.
    """
    bases = {side: {one.base for one in candidates if one.side == side} - set(used) for side in SIDES}
    half = min(
        max(LEAST_OF_A_SIDE, size // 2), *map(len, bases.values()), len(set().union(*bases.values())) // 2
    )
    taken, chosen = set(used), []
    for side in SIDES:
        line = sorted(
            (one for one in candidates if one.side == side), key=lambda known: _place(known, number, seed)
        )
        turns = [
            one
            for basis in BASES
            for one in in_turns([known for known in line if known.basis == basis], lambda known: [known.kind])
        ]
        picked: dict[str, Known] = {}
        for one in turns:
            if one.base not in taken and len(picked) < half:
                picked.setdefault(one.base, one)
        taken |= picked.keys()
        chosen.append(list(picked.values()))
    least = min(map(len, chosen))
    if least < LEAST_OF_A_SIDE:
        return []
    both = [one.model_copy(update={"round": number}) for rows in chosen for one in rows[:least]]
    return sorted(both, key=lambda known: _place(known, number, seed))


def _place(known: Known, number: int, seed: int) -> str:
    return lot(f"{seed} {known.template} {known.language} {number} {known.base} {known.kind}")


def needed(items: int, pass_mark: float) -> int:
    """Right answers that pass a round of so many questions."""
    return ceil(round(items * pass_mark, 9))


def is_right(accepts: Mapping[str, Sequence[str]], values: Mapping[str, str]) -> bool:
    """Whether an answer is right: each control that matters holds an accepted value."""
    return all(values.get(name, "") in wanted for name, wanted in accepts.items())


def standings(
    rounds: Iterable[Round], known: Iterable[Known], answers: Iterable[CalibrationAnswer]
) -> list[Standing]:
    """Where each person stands with each round they have begun.

    A round is passed or failed when all of it is answered; the moment is that of the last answer.
    """
    begun: dict[tuple[str, str, Language, int], dict[str, CalibrationAnswer]] = defaultdict(dict)
    for row in answers:
        mine = begun[row.annotator, row.template, row.language, row.round]
        mine.setdefault(row.subject, row)
    asked = {(row.template, row.language, row.number): row for row in rounds}
    sides = {(row.template, row.language, row.round, row.subject): row.side for row in known}
    found = []
    for (person, template, language, number), given in sorted(begun.items()):
        if (told := asked.get((template, language, number))) is None:
            continue
        right = sum(row.right for row in given.values())
        done = len(given) >= told.items
        passed = done and right >= told.needed
        ends = clopper_pearson(right, len(given))
        planted = [
            row
            for row in given.values()
            if sides.get((template, language, number, row.subject)) == "defective"
        ]
        found.append(
            Standing(
                annotator=person,
                template=template,
                language=language,
                round=number,
                items=told.items,
                answered=len(given),
                right=right,
                needed=told.needed,
                state="passed" if passed else "failed" if done else "under way",
                passed_at=max(row.decided_at for row in given.values()) if passed else None,
                low=ends.low,
                high=ends.high,
                planted=len(planted),
                found=sum(row.right for row in planted),
            )
        )
    return found


class Gate:
    """Whose answers count, and from when on.

    Adjudicators, and whom the config names, are `exempt` from calibration.
    """

    def __init__(
        self, rounds: Iterable[Round], standings: Iterable[Standing], exempt: Collection[str]
    ) -> None:
        asks = (row for row in rounds if row.why != "failed")
        self._asks = grouped(asks, lambda row: (row.template, str(row.language)))
        self._standings = grouped(standings, lambda one: (one.annotator, one.template, str(one.language)))
        self._exempt = set(exempt)

    def counts(self, annotator: str, template: str, language: str, when: datetime) -> bool:
        """Whether an answer given then counts: the person had passed what was asked for by then.

        What was answered before calibration was asked for at all counts.
        """
        asked = [row for row in self._asks[template, language] if row.begun_at <= when]
        if not asked or annotator in self._exempt:
            return True
        last = max(row.number for row in asked)
        return any(
            one.round >= last and one.passed_at is not None and one.passed_at <= when
            for one in self._standings[annotator, template, language]
        )


def due(
    rounds: Sequence[Round], standings: Iterable[Standing], substantial: Iterable[datetime]
) -> Why | None:
    """Why another round of one template and language is to be drawn now; None where it is not.

    `substantial` are the moments at which its guideline changed so that people are asked again.
    """
    if not rounds:
        return "first"
    newest = max(rounds, key=lambda row: row.number)
    asked = max(row.begun_at for row in rounds if row.why != "failed")
    if any(when > asked for when in substantial):
        return "guideline"
    passed = {one.annotator for one in standings if one.state == "passed" and one.round >= _ask(rounds)}
    lost = any(
        one.state == "failed" and one.round == newest.number and one.annotator not in passed
        for one in standings
    )
    return "failed" if lost else None


def current(rounds: Iterable[Round]) -> set[int]:
    """Numbers of the rounds that people are asked now: since calibration was last asked for."""
    rows = list(rounds)
    return {row.number for row in rows if row.number >= _ask(rows)}


def _ask(rounds: Iterable[Round]) -> int:
    return max((row.number for row in rounds if row.why != "failed"), default=0)
