"""What a blind board tells attackers, and what it does to honest teams, in simulations with known golds.

    python -m performance.blind_attack

1,000 questions, `gain: 0.2`, ten teams, twelve weeks of the legal quota of three submissions a week, signed
like any other. Attackers see what a team sees, put together what they were told, and know more than anybody
could: which questions are in the half that figures are told of. They guess by the best linear estimate of
every gold. Exits 1 where they gain more than the board states, where the same attack on exact figures fails,
or where an honest team gets another's figure, is held too often or is missing at the end.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from numpy.typing import NDArray

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.keys import sign
from mihakk.evaluation.blind.season import OTHER, PUBLIC
from mihakk.evaluation.blind.submission import Submission
from mihakk.machinery.ids import sha256
from mihakk.releases.content.secret import keyed
from mihakk.schemas.blind import BlindBoard, BlindReply, FinalFigure, SubmissionCard
from mihakk.schemas.evaluation import Question

SEED = 20261122
WEEKS, PER_WEEK, TEAMS = 12, 3, 10
OPENS = datetime(2026, 1, 5, 9, tzinfo=UTC)
LABELS = ("أ", "ب", "ج", "د")
Picks = NDArray[np.int64]
"""An option for every question."""


class Told(NamedTuple):
    """One figure that attackers were told."""

    picks: Picks
    figure: float
    noise: float
    """Standard deviation of its noise."""


class World:
    """Questions whose golds nobody could know, ten teams with keys, and a board over them."""

    def __init__(
        self, items: int, options: int, store: Path, *, gain: float = 0.2, seed: int = SEED, name: str = "s1"
    ) -> None:
        draw = np.random.default_rng(seed)
        self.options, self.name, self.draw = options, name, np.random.default_rng((seed, len(name), items))
        self.golds = draw.integers(0, options, items)
        self.names = [f"q{number:05d}" for number in range(items)]
        self.teams = [f"team{number}" for number in range(TEAMS)]
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
            **{"name": name, "title": name, "release": "attacked@1.0.0", "teams": self.teams, "gain": gain},
            **{"opens": OPENS.date(), "closes": OPENS.date() + timedelta(weeks=WEEKS)},
        }
        secret = draw.bytes(32)
        self.board = Board(
            BlindBoard.model_validate(rules),
            questions,
            store,
            lambda purpose, text: keyed(secret, purpose, text),
        )
        self.keys = {team: Ed25519PrivateKey.from_private_bytes(draw.bytes(32)) for team in self.teams}
        known = self.board.register.keys()
        for team, key in self.keys.items():
            public = sign(key, "", OPENS).key
            if public not in known:
                self.board.register.register(team, public, OPENS)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a figure."""
        return self.board.season.noise * self.board.public.size.se

    def send(self, team: str, number: int, picks: Picks) -> BlindReply:
        """The board's reply to a team's submission of this number, at the earliest time the quota allows."""
        replies = {name: LABELS[pick] for name, pick in zip(self.names, picks.tolist(), strict=True)}
        card = SubmissionCard.model_validate(
            {
                **{"board": self.name, "team": team, "model": "m", "revision": str(number)},
                **{"release": "attacked", "version": "1.0.0", "open": True, "kind": "arabic"},
            }
        )
        at = OPENS + timedelta(days=7 * (number // PER_WEEK), minutes=number % PER_WEEK)
        body = sha256(f"{card}".encode() + picks.tobytes())
        return self.board.receive(Submission(card, replies, body, sign(self.keys[team], body, at)), now=at)

    def finals(self) -> list[FinalFigure]:
        """The final figures, when the season is over."""
        over = datetime.combine(self.board.config.closes, datetime.min.time(), UTC)
        return self.board.close(now=over)

    def system(self, right: float) -> Picks:
        """Answers of which so many are right."""
        wrong = (self.golds + self.draw.integers(1, self.options, len(self.golds))) % self.options
        found: Picks = np.where(self.draw.random(len(self.golds)) < right, self.golds, wrong)
        return found

    def truth(self, picks: Picks, half: str = "") -> float:
        """Share of right answers, in a half or in all."""
        right = picks == self.golds
        places = {PUBLIC: self.board.public.items, OTHER: self.board.other.items}.get(half)
        return float((right if places is None else right[places]).mean())


def guesses(told: Sequence[Told], half: NDArray[np.int64], options: int, items: int) -> Picks:
    """The likeliest golds by the linear estimate of least error, for figures of a known half."""
    if not told:
        return np.zeros(items, dtype=np.int64)
    picks = np.array([one.picks[half] for one in told])
    chance = 1 / options
    alike = np.array([(picks == one).mean(axis=1) for one in picks])
    spread = (alike * chance - chance**2) / len(half) + np.diag([one.noise**2 for one in told])
    weights = np.linalg.solve(spread, np.array([one.figure - chance for one in told]))
    votes = np.random.default_rng(SEED).random((items, options)) * 1e-12
    for one, weight in zip(picks, weights, strict=True):
        votes[half, one] += weight
    found: Picks = votes.argmax(axis=1).astype(np.int64)
    return found


Attack = Callable[[World, list[Told], list[Told]], Picks]
"""(world, what all were told, what this team was told) -> the answers to submit."""


def boost(world: World, told: list[Told], own: list[Told]) -> Picks:  # noqa: ARG001
    """Random answers, which their figures weigh."""
    return world.draw.integers(0, world.options, len(world.golds))


def hill(world: World, told: list[Told], own: list[Told]) -> Picks:
    """A tenth of the team's best answers changed at a time."""
    best = max(own, key=lambda one: one.figure, default=None)
    fresh = boost(world, told, own)
    if best is None:
        return fresh
    return np.where(world.draw.random(len(fresh)) < 0.1, fresh, best.picks).astype(np.int64)


def adapt(world: World, told: list[Told], own: list[Told]) -> Picks:
    """The best guess from all figures so far, with a third of it drawn anew."""
    fresh = boost(world, told, own)
    best = guesses(told, world.board.public.items, world.options, len(fresh))
    return np.where((world.draw.random(len(fresh)) < 1 / 3) | (not told), fresh, best).astype(np.int64)


ATTACKS: dict[str, Attack] = {"boost": boost, "hill": hill, "adapt": adapt}


def attacked(
    world: World, attack: str, teams: int, *, weeks: int = WEEKS, exact: bool = False
) -> dict[str, Any]:
    """What teams that work together learn in a season.

    Returns:
        `season`: gain on the half told of, and the stated bound, before final figures; `public` and `other`:
        the same for either half after them; `told`: how many figures.
    """
    told: list[Told] = []
    own: dict[str, list[Told]] = {team: [] for team in world.teams[:teams]}
    noise = 1e-6 if exact else world.noise
    for number in range(weeks * PER_WEEK):
        for team, before in own.items():
            picks = ATTACKS[attack](world, told, before)
            figure = world.truth(picks, PUBLIC) if exact else world.send(team, number, picks).figure
            if figure is not None:
                before.append(Told(picks, figure, noise))
                told.append(before[-1])
    season = _gain(world, told, PUBLIC)
    found: dict[str, Any] = {"told": len(told), "season": (season, world.board.standing()["gain"]["so_far"])}
    if exact:
        return found
    best = {team: max(before, key=lambda one: one.figure) for team, before in own.items()}
    finals = {one.team: one for one in world.finals()}
    closing, stated = world.board.log.closing, world.board.standing()["gain"]
    assert closing is not None
    for half, size, bound in (
        (PUBLIC, world.board.public.size, stated["so_far"]),
        (OTHER, world.board.other.size, stated["other_half"]),
    ):
        last = [
            Told(best[team].picks, getattr(one, half), closing.noise[half] * size.se)
            for team, one in finals.items()
        ]
        found[half] = (_gain(world, [*(told if half == PUBLIC else []), *last], half), bound)
    return found


def _gain(world: World, told: Sequence[Told], half: str) -> float:
    places = {PUBLIC: world.board.public, OTHER: world.board.other}[half].items
    guess = guesses(told, places, world.options, len(world.golds))
    return world.truth(guess, half) - 1 / world.options


def better(store: Path, worse: float, right: float, seed: int, options: int = 4) -> dict[str, bool]:
    """A system, then a better one of another team that answers nearly the same."""
    world = World(1000, options, store, seed=seed)
    first, second = world.system(worse), world.system(right)
    told = [world.send(f"team{place}", 0, picks) for place, picks in enumerate((first, second))]
    listed = {row["team"]: row for row in world.board.standing()["entries"]}
    finals = {one.team: one for one in world.finals()}
    row, final = listed.get("team1"), finals.get("team1")
    return {
        "own figure": told[1].told == "shown",
        "in the standings": row is not None,
        "interval holds": row is not None and row["low"] <= world.truth(second, PUBLIC) <= row["high"],
        "in the finals": final is not None,
        "final above": final is not None and final.figure > finals["team0"].figure,
        "never below for sure": final is not None and final.rank_low == 1,
        "final interval holds": final is not None and final.low <= right <= final.high,
    }


def squatted(store: Path, seed: int, altered: int) -> dict[str, Any]:
    """A rival who has the same open weights sends their answers first, some of them altered."""
    world = World(1000, 4, store, seed=seed)
    picks = world.system(0.8)
    copy = picks.copy()
    copy[world.draw.choice(1000, altered, replace=False)] += 1
    world.send("team9", 0, copy % 4)
    told = world.send("team0", 0, picks)
    return {
        "told": told.told,
        "listed": "team0" in [row["team"] for row in world.board.standing()["entries"]],
        "final": "team0" in [one.team for one in world.finals()],
    }


def honest(store: Path, seed: int) -> dict[str, float]:
    """Ten teams that get better from week to week and use their whole quota."""
    world = World(1000, 4, store, seed=seed)
    replies, sent = [], {}
    for number in range(WEEKS * PER_WEEK):
        for place, team in enumerate(world.teams):
            picks = world.system(0.5 + 0.02 * place + 0.01 * (number // PER_WEEK))
            reply = world.send(team, number, picks)
            sent[team, str(number)] = picks
            replies.append(reply.told)
    rows = world.board.standing()["entries"]
    inside = [
        row["low"] <= world.truth(sent[row["team"], row["revision"]], PUBLIC) <= row["high"] for row in rows
    ]
    finals = world.finals()
    whole = [one.low <= world.truth(sent[one.team, one.revision], OTHER) <= one.high for one in finals]
    return {
        "held": replies.count("held") / len(replies),
        "noise": world.noise,
        "intervals": float(np.mean(inside)),
        "final intervals": float(np.mean(whole)),
        "finals": len({one.team for one in finals}),
        "gain": world.board.standing()["gain"]["so_far"],
    }


def two_seasons(store: Path, seed: int) -> dict[str, Any]:
    """All figures of a season by ten teams, final ones too, used against the halves of the next.

    Returns:
        `gain` and `kept`: what is known of the next one's public half, and of what its final figures rest on,
        before its first figure; `stated` and `kept stated`: the bounds; `untold`: what is known of the latter
        without final figures, which is nothing; `shared`: how much the halves share.
    """
    first = World(1000, 2, store, seed=seed)
    attacked(first, "boost", TEAMS)
    entries = [entry for entry in first.board.log.entries if entry.figure is not None]
    picks = {
        entry.answers: np.array([int(token) for token in first.board.answers.tokens(entry.answers)])
        for entry in entries
    }
    closing = first.board.log.closing
    assert closing is not None
    told = [Told(picks[entry.answers], entry.figure or 0.0, first.noise) for entry in entries]
    halves = {PUBLIC: (first.board.public, told), OTHER: (first.board.other, [])}
    early = guesses(told, first.board.public.items, 2, 1000)
    guess = np.zeros(1000, dtype=np.int64)
    for name, (half, before) in halves.items():
        noise = closing.noise[name] * half.size.se
        last = [Told(picks[one.answers], getattr(one, name), noise) for one in closing.finals]
        guess[half.items] = guesses([*before, *last], half.items, 2, 1000)[half.items]
    second = World(1000, 2, store, gain=0.3, seed=seed, name="s2")
    stated = second.board.standing()["gain"]
    shared = len(set(second.board.public.items) & set(first.board.public.items)) / len(
        first.board.public.items
    )
    return {
        "gain": second.truth(guess, PUBLIC) - 0.5,
        "stated": stated["so_far"],
        "kept": second.truth(guess, OTHER) - 0.5,
        "kept stated": stated["other_half_before"],
        "untold": second.truth(early, OTHER) - 0.5,
        "shared": shared,
    }


def _runs(one: Callable[[Path, int], Any], seeds: int) -> list[Any]:
    found = []
    for seed in range(SEED, SEED + seeds):
        with tempfile.TemporaryDirectory() as folder:
            found.append(one(Path(folder), seed))
    return found


def main() -> int:
    """Prints what each simulation comes to; 1 when a goal is missed."""
    met: list[bool] = []
    reach = 3 * (0.25 / 500) ** 0.5
    print("attack | season | stated | public half after finals | stated | other half after finals | stated")
    for attack in ATTACKS:
        for teams in (1, TEAMS):
            seeds = 12 // teams + 2
            runs = _runs(lambda store, seed: attacked(World(1000, 2, store, seed=seed), attack, teams), seeds)  # noqa: B023
            means = {half: np.mean([run[half] for run in runs], axis=0) for half in ("season", PUBLIC, OTHER)}
            shown = [f"{gain:+.3f} | {bound:.3f}" for gain, bound in means.values()]
            print(f"{attack}, {teams} teams, {runs[0]['told']} figures | {' | '.join(shown)}", flush=True)
            met += [
                bool(gain <= bound + reach / seeds**0.5 and round(bound, 6) <= 0.2)
                for gain, bound in means.values()
            ]
    exact = _runs(lambda s, seed: attacked(World(1000, 2, s, seed=seed), "boost", TEAMS, exact=True), 1)
    print(f"boost, ten teams, exact figures | {exact[0]['season'][0]:+.3f}")
    met.append(exact[0]["season"][0] > 0.25)
    for worse, right in ((0.96, 0.99), (0.97, 0.985)):
        rows = _runs(lambda store, seed: better(store, worse, right, seed), 100)  # noqa: B023
        counts = {name: sum(row[name] for row in rows) for name in rows[0]}
        print(f"{worse} then {right}, of 100: {counts}", flush=True)
        met += [counts[name] == 100 for name in ("own figure", "in the standings", "in the finals")]
        met += [
            counts[name] >= 93 for name in ("interval holds", "never below for sure", "final interval holds")
        ]
    for altered in (40, 1, 0):
        (squat,) = _runs(lambda store, seed: squatted(store, seed, altered), 1)  # noqa: B023
        print(f"squatter with {altered} altered answers first: the owner gets {squat}")
        met += [squat["listed"], squat["final"], squat["told"] == ("shown" if altered else "known")]
    fair = _runs(honest, 3)
    means = {name: float(np.mean([one[name] for one in fair])) for name in fair[0]}
    print(f"ten honest teams: { ({name: round(one, 4) for name, one in means.items()}) }", flush=True)
    met += [one["held"] <= 0.1 and one["finals"] == TEAMS and one["gain"] <= 0.2 for one in fair]
    met.append(means["intervals"] >= 0.9)
    later = _runs(two_seasons, 3)
    means = {name: float(np.mean([one[name] for one in later])) for name in later[0]}
    print(
        f"second season, before its first figure: { ({name: round(one, 3) for name, one in means.items()}) }"
    )
    for gain, bound in (("gain", "stated"), ("kept", "kept stated")):
        met.append(means[gain] <= means[bound] + reach / len(later) ** 0.5)
    met.append(0.4 < means["shared"] < 0.6)
    print("all goals met" if all(met) else "a goal was missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
