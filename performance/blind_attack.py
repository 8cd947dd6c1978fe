"""How much of a sealed half attackers learn from the figures of a blind board, over a season.

    python -m performance.blind_attack

The attackers see what a team sees, its own replies, and use the legal quota of three submissions a week for
twelve weeks; ten teams of theirs put together what they were told. They know that golds are drawn evenly.
Their guesses are compared with the golds of the half that figures are told of, and of the half that is kept.
Exits 1 where one of them gains more than the stated bound, or where the same attack on exact figures fails.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.disclosure import most_gain
from mihakk.evaluation.blind.submission import Submission
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.releases.content.secret import keyed
from mihakk.schemas.blind import BlindBoard, SubmissionCard
from mihakk.schemas.evaluation import Question

SEED = 20261122
WEEKS, PER_WEEK, TEAMS = 12, 3, 10
OPENS = datetime(2026, 1, 5, 9, tzinfo=UTC)
LABELS = ("أ", "ب", "ج", "د")
Picks = NDArray[np.int64]
"""An option for every question; -1: no answer."""


class Told(NamedTuple):
    """One submission and what came back."""

    picks: Picks
    figure: float | None
    """None where nothing new was told."""


Ask = Callable[[str, int, Picks], float | None]
"""(team, number of its submission, picks) -> the figure, if a new one is told."""


class World:
    """Questions whose golds nobody could know, and a board over them."""

    def __init__(self, items: int, options: int, folder: Path, *, gain: float, seed: int = SEED) -> None:
        draw = np.random.default_rng(seed)
        self.options = options
        self.golds = draw.integers(0, options, items)
        self.names = [f"q{number:05d}" for number in range(items)]
        questions = {
            name: Question.model_validate(
                {
                    **{"item": name, "content_hash": name, "release": "attacked", "version": "1.0.0"},
                    **{"digest": "d" * 64, "config": "ar_meaning_choice", "task": "meaning_choice"},
                    **{"language": "ar", "group": f"g{name}", "kind": "choice", "gold": (int(gold),)},
                    **{"options": tuple(f"معنى {place}" for place in range(options))},
                    **{"labels": LABELS[:options]},
                }
            )
            for name, gold in zip(self.names, self.golds, strict=True)
        }
        rules: dict[str, Any] = {
            "name": "attacked",
            "title": "Attacked",
            "release": "attacked@1.0.0",
            "teams": [f"team{number}" for number in range(TEAMS)],
            "opens": date(2026, 1, 1),
            "closes": date(2026, 12, 31),
            "gain": gain,
        }
        secret = draw.bytes(32)
        self.board = Board(
            BlindBoard.model_validate(rules),
            questions,
            folder,
            lambda purpose, text: keyed(secret, purpose, text),
        )

    def ask(self, team: str, number: int, picks: Picks) -> float | None:
        """The board's reply to one submission, at the earliest time the quota allows."""
        replies = {
            name: LABELS[pick] if pick >= 0 else ""
            for name, pick in zip(self.names, picks.tolist(), strict=True)
        }
        card = SubmissionCard(
            team=team,
            model="m",
            revision=f"{number}",
            release="attacked",
            version="1.0.0",
            open=True,
            kind="arabic",
        )
        at = OPENS + timedelta(days=7 * (number // PER_WEEK), minutes=number)
        try:
            reply = self.board.receive(Submission(card, replies, sha256(picks.tobytes())), now=at)
        except UsageError:
            return None
        return reply.figure if reply.told == "shown" else None

    def ask_exact(self, team: str, number: int, picks: Picks) -> float | None:  # noqa: ARG002
        """What a board without any of this would say: the exact figure, of the same half."""
        items = self.board.public.items
        return float((picks == self.golds)[items].mean())

    def known(self, guesses: Picks) -> tuple[float, float]:
        """Share of golds guessed beyond chance, in the half that was told of and in the other one."""
        right = guesses == self.golds
        first, second = (float(right[half.items].mean()) for half in (self.board.public, self.board.other))
        return first - 1 / self.options, second - 1 / self.options


Attack = Callable[[np.random.Generator, World, float, "Picks | None"], Picks]
"""(draw, world, share of the season that is over, the team's best answers yet) -> the answers to submit."""


def boost(draw: np.random.Generator, world: World, over: float, best: Picks | None) -> Picks:  # noqa: ARG001
    """Random answers, which their figures weigh."""
    return draw.integers(0, world.options, len(world.golds))


def climb(draw: np.random.Generator, world: World, over: float, best: Picks | None) -> Picks:
    """Random answers to ever more of the questions: each figure rises, so that the ladder shows it."""
    picks = boost(draw, world, over, best)
    picks[draw.random(len(picks)) >= over] = -1
    return picks


def hill(draw: np.random.Generator, world: World, over: float, best: Picks | None) -> Picks:
    """A share of the answers changed at a time, kept where a better figure is shown."""
    picks = boost(draw, world, over, best)
    return picks if best is None else np.where(draw.random(len(picks)) < 0.1, picks, best)


ATTACKS: dict[str, Attack] = {"boost": boost, "climb": climb, "hill": hill}


def submitted(world: World, attack: Attack, ask: Ask, *, teams: int, rounds: int, seed: int) -> list[Told]:
    """What the teams were told for all their submissions, in turns."""
    draw = np.random.default_rng(seed)
    best: dict[str, Picks] = {}
    told = []
    for number in range(rounds):
        for team in (f"team{place}" for place in range(teams)):
            picks = attack(draw, world, (number + 1) / rounds, best.get(team))
            figure = ask(team, number, picks)
            if figure is not None:
                best[team] = picks
            told.append(Told(picks, figure))
    return told


def guessed(world: World, told: Sequence[Told]) -> Picks:
    """The likeliest golds: every figure votes for the answers it is of by how far it exceeds what was due."""
    votes = np.random.default_rng(SEED).random((len(world.golds), world.options)) * 1e-9
    for one in told:
        if one.figure is None:
            continue
        there = np.flatnonzero(one.picks >= 0)
        if len(there):
            due = len(there) / len(world.golds) / world.options
            votes[there, one.picks[there]] += (one.figure - due) / len(there)
    return votes.argmax(axis=1).astype(np.int64)


def season(
    items: int,
    options: int,
    attack: str,
    teams: int,
    weeks: int,
    *,
    gain: float,
    exact: bool = False,
    seed: int = SEED,
) -> dict[str, Any]:
    """One attack over a season.

    Returns:
        `gains`: (half told of, other half) by week; `bound`: what the figures told could have added, by week.
    """
    with tempfile.TemporaryDirectory() as folder:
        world = World(items, options, Path(folder), gain=gain, seed=seed)
        ask = world.ask_exact if exact else world.ask
        told = submitted(world, ATTACKS[attack], ask, teams=teams, rounds=weeks * PER_WEEK, seed=seed + 1)
        entries = [] if exact else world.board.log.entries
        gains, bounds = [], []
        for week in range(1, weeks + 1):
            count = week * PER_WEEK * teams
            gains.append(world.known(guessed(world, told[:count])))
            bounds.append(most_gain(sum(one.figures for one in entries[:count]), world.board.public))
    return {"gains": gains, "bound": bounds, "figures": sum(one.figures for one in entries)}


def main() -> int:
    """Prints what each attack comes to; 1 when a bound is passed."""
    items, options, seeds = 1000, 2, range(SEED, SEED + 3)
    met = []
    for label, teams, gain, exact in (
        ("exact figures, one team", 1, 0.5, True),
        ("exact figures, ten teams", TEAMS, 0.5, True),
        ("board, one team", 1, 0.2, False),
        ("board, ten teams", TEAMS, 0.2, False),
    ):
        runs = {
            attack: [
                season(items, options, attack, teams, WEEKS, gain=gain, exact=exact, seed=seed)
                for seed in seeds
            ]
            for attack in ATTACKS
        }
        means = {name: np.mean([run["gains"] for run in each], axis=0) for name, each in runs.items()}
        worst = max(means, key=lambda name: float(means[name][-1, 0]))
        told = np.mean([run["figures"] for run in runs[worst]])
        print(f"{label}: best attack {worst}: {means[worst][-1, 0]:+.3f} of the half told of, ", end="")
        print(f"{means[worst][-1, 1]:+.3f} of the other half, {told:.0f} figures told")
        if exact:
            met.append(means[worst][-1, 0] > 0.04)
            continue
        bound = np.mean([run["bound"] for run in runs[worst]], axis=0)
        print(f"  stated bound {bound[-1]:.3f}")
        sampling = 3 * (0.25 / (items / 2) / len(seeds)) ** 0.5
        for found in means.values():
            met += [bool((found[:, 0] <= bound + sampling).all()), bool((abs(found[:, 1]) <= sampling).all())]
    print("all goals met" if all(met) else "a goal was missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
