"""The metre of a couplet by its sounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.languages import pack
from mihakk.machinery.prosody.feet import forms
from mihakk.machinery.prosody.letters import SLIP, Sounds, lattice, vocalised
from mihakk.schemas.poem import Poem

SURE: Final = 0.95
"""Confidence from which a scansion is reported against a label, or stands where there is none."""
MOST_COST: Final = 12.0
"""A hemistich that costs more than this has no metre: prose, another language, a lost word."""
SCANNED: Final = 4
"""Couplets of a section that are scanned: more make hardly any surer (docs/curation.md)."""
DOUBT: Final = 1.0
"""How much closer metres are drawn in bare text, where costs are guesses: 1 halves their distances."""


class Scansion(NamedTuple):
    """What a couplet's sounds say of its metre."""

    metre_id: str
    """Identifier in `data/reference/arabic_metres.yaml`; empty where no metre fits."""
    confidence: float
    """Share of this metre among all that fit, 0 to 1; docs/curation.md says how often it is right."""
    pattern: str
    """Its letters as read, moved (1) or quiescent (0); a space separates hemistichs, `/` couplets."""


def sure_metres(poem: Poem) -> dict[int, tuple[str, float]]:
    """Section of an Arabic poem to the metre of its first couplets and the confidence, where that is sure."""
    found: dict[int, tuple[str, float]] = {}
    for section in poem.sections if pack(poem.language).quantitative else ():
        lines = (
            (couplet.first.shown, couplet.second.shown)
            for couplet in poem.couplets
            if couplet.section == section.index
            and couplet.kind == "couplet"
            and couplet.second is not None
            and not couplet.mudawwar
        )
        metre, confidence = metre_of(*islice(lines, SCANNED))
        if confidence >= SURE:
            found[section.index] = metre, confidence
    return found


@lru_cache(1 << 12)
def scan(*couplets: tuple[str, str]) -> Scansion:
    """The metre that Arabic couplets share, in canonical text, vocalised or bare; each adds its evidence.

    It never speaks against a label; where a source names no metre, sure ones serve (docs/curation.md says how
    often they are right).
    """
    heard = _heard(couplets)
    left = costs_left(heard)
    metre, confidence = _metre(couplets, left[0])
    if not metre:
        return Scansion("", 0.0, "")
    start, _ = states().starts[metre]
    halves = [spelt(sounds, [step[place] for step in left], start) for place, sounds in enumerate(heard)]
    pattern = " / ".join(" ".join(halves[n : n + 2]) for n in range(0, len(halves), 2))
    return Scansion(metre, confidence, pattern)


@lru_cache(1 << 12)
def metre_of(*couplets: tuple[str, str]) -> tuple[str, float]:
    """Metre and confidence of `scan`, without the letters."""
    return _metre(couplets, costs_left(_heard(couplets))[0])


def _heard(couplets: Sequence[tuple[str, str]]) -> list[list[Sounds]]:
    return [lattice(hemistich) for couplet in couplets for hemistich in couplet]


def _metre(couplets: Sequence[tuple[str, str]], left: NDArray[np.float64]) -> tuple[str, float]:
    """By what reading each whole hemistich costs from each state."""
    metres = states().starts
    costs = np.stack([left[:, state] + cost for state, cost in metres.values()])
    read = np.isfinite(costs)
    # A metre in which a hemistich can't be read costs more there than any in which it can.
    worst = np.where(read, costs, 0.0).max(axis=0)
    worst[~read.any(axis=0)] = MOST_COST
    total = np.where(read, costs, worst + SLIP).sum(axis=1)
    best = int(total.argmin())
    if not read[best].any() or total[best] > MOST_COST * len(left):
        return "", 0.0
    signs = sum(vocalised(hemistich) for couplet in couplets for hemistich in couplet)
    heat = 1 + DOUBT * (1 - signs / len(left))
    share = 1 / np.exp((total[best] - total[read.any(axis=1)]) / heat).sum()
    return [*metres][best], float(share)


def costs_left(hemistichs: Sequence[list[Sounds]]) -> list[NDArray[np.float64]]:
    """What reading the rest of each hemistich costs at the least: by letters read, then hemistich x state.

    Viterbi's algorithm from the last letter on, for all states and hemistichs at once; shorter hemistichs
    end in letters without a sound. Infinite where the rest can't be read.
    """
    rows = len(hemistichs)
    left = [np.tile(states().ends, (rows, 1))]
    for place in reversed(range(max(map(len, hemistichs), default=0))):
        options = [sounds[place] if place < len(sounds) else {"": 0.0} for sounds in hemistichs]
        cheapest = np.full_like(left[-1], np.inf)
        for sound in dict.fromkeys(sound for some in options for sound in some):
            after, prices = _after(sound, rows)
            each = left[-1].take(after, mode="clip")
            each += prices
            each += np.array([[some.get(sound, np.inf)] for some in options])
            np.minimum(cheapest, each, out=cheapest)
        left.append(cheapest)
    return left[::-1]


def spelt(sounds: list[Sounds], left: Sequence[NDArray[np.float64]], state: int) -> str:
    """The letters, moved (1) or quiescent (0), of the cheapest reading from a state; `left` of one hemistich.

    Empty where it can't be read.
    """
    letters = ""
    if left[0][state] == np.inf:
        return letters
    for options, rest in zip(sounds, left[1:], strict=False):
        ways = []
        for sound, cost in options.items():
            place, price = _moved(state, sound)
            ways.append((cost + price + rest[place], sound, place))
        _, sound, state = min(ways)
        letters += sound
    return letters


class _States(NamedTuple):
    """What may still follow in a hemistich: beginnings whose rests cost the same, in any metre, are one."""

    moves: list[dict[str, tuple[int, float]]]
    """Of each state the next letter to the state after it, and its cost; the last state is a dead end."""
    ends: NDArray[np.float64]
    """What it costs to end in each state; infinite where a hemistich can't."""
    starts: dict[str, tuple[int, float]]
    """Metre to its first state, and what its cheapest form costs."""


@cache
def states() -> _States:
    """Costs stand as early as they are sure: rests that differ by a constant are equal; some 400 states."""
    places: dict[frozenset[tuple[str, float]], int] = {}
    moves: list[dict[str, tuple[int, float]]] = []
    ends: list[float] = []

    def state(rests: dict[str, float]) -> tuple[int, float]:
        least = min(rests.values())
        rests = {rest: round(cost - least, 9) for rest, cost in rests.items()}
        known = frozenset(rests.items())
        if known not in places:
            place = places[known] = len(moves)
            moves.append({})
            ends.append(rests.get("", np.inf))
            for letter in "01":
                if longer := {rest[1:]: cost for rest, cost in rests.items() if rest.startswith(letter)}:
                    moves[place][letter] = state(longer)
        return places[known], least

    of_metre: dict[str, dict[str, float]] = {}
    for form, metres in forms().items():
        for metre, cost in metres.items():
            of_metre.setdefault(metre, {})[form] = cost
    starts = {metre: state(costs) for metre, costs in sorted(of_metre.items())}
    return _States([*moves, {}], np.array([*ends, np.inf]), starts)


@cache
def _moved(state: int, sound: str) -> tuple[int, float]:
    """The state after a sound, and what that costs; the dead end where it can't follow."""
    moves = states().moves
    cost = 0.0
    for letter in sound:
        state, price = moves[state].get(letter, (len(moves) - 1, 0.0))
        cost += price
    return state, cost


@lru_cache(1 << 8)
def _after(sound: str, rows: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Of each state the place of the one after a sound, in so many rows laid end to end, and its cost."""
    count = len(states().moves)
    after, costs = zip(*(_moved(state, sound) for state in range(count)), strict=True)
    return np.array(after, dtype=np.intp) + count * np.arange(rows)[:, None], np.array(costs)
