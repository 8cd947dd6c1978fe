"""The metre of a couplet by its sounds."""

from __future__ import annotations

import math
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
BEAM: Final = 9.0
"""Ways of reading that cost so much more than the cheapest so far are given up."""
MOST_COST: Final = 12.0
"""A hemistich that costs more than this has no metre: prose, another language, a lost word."""
SCANNED: Final = 4
"""Couplets of a section that are scanned: more make hardly any surer (docs/curation.md)."""
DOUBT: Final = 1.0
"""How much closer metres are drawn in bare text, where costs are guesses: 1 halves their distances."""
Costs = dict[str, tuple[float, str]]
"""Metre to the cost of the cheapest reading and its letters, moved (1) or quiescent (0)."""


class Scansion(NamedTuple):
    """What a couplet's sounds say of its metre."""

    metre_id: str
    """Identifier in `data/reference/arabic_metres.yaml`; empty where no metre fits."""
    confidence: float
    """Share of this metre among all that fit, 0 to 1; docs/curation.md says how often it is right."""
    pattern: str
    """Its letters as read, moved (1) or quiescent (0); a space separates hemistichs, `/` couplets."""


def sure_metres(poem: Poem) -> dict[int, Scansion]:
    """Section of an Arabic poem to the scansion of its first couplets, where that is sure."""
    found: dict[int, Scansion] = {}
    for section in poem.sections if pack(poem.language).quantitative else ():
        lines = (
            (couplet.first.shown, couplet.second.shown)
            for couplet in poem.couplets
            if couplet.section == section.index
            and couplet.kind == "couplet"
            and couplet.second is not None
            and not couplet.mudawwar
        )
        scansion = scan(*islice(lines, SCANNED))
        if scansion.confidence >= SURE:
            found[section.index] = scansion
    return found


@lru_cache(1 << 12)
def scan(*couplets: tuple[str, str]) -> Scansion:
    """The metre that Arabic couplets share, in canonical text, vocalised or bare; each adds its evidence.

    It never speaks against a label; where a source names no metre, sure ones serve (docs/curation.md says how
    often they are right).
    """
    readings: list[Costs] = []
    signs = 0.0
    for couplet in couplets:
        for hemistich in couplet:
            readings.append(readable(lattice(hemistich)))
            signs += vocalised(hemistich)
    metres = sorted({metre for costs in readings for metre in costs})
    total = {metre: sum(_cost(costs, metre) for costs in readings) for metre in metres}
    if not total or min(total.values()) > MOST_COST * len(readings):
        return Scansion("", 0.0, "")
    best = min(metres, key=lambda metre: total[metre])
    heat = 1 + DOUBT * (1 - signs / len(readings))
    share = 1 / sum(math.exp((total[best] - cost) / heat) for cost in total.values())
    halves = [costs[best][1] if best in costs else "" for costs in readings]
    pattern = " / ".join(" ".join(halves[n : n + 2]) for n in range(0, len(halves), 2))
    return Scansion(best, share, pattern)


def _cost(costs: Costs, metre: str) -> float:
    """Of a metre in which a hemistich can't be read: more than of any in which it can."""
    if metre in costs:
        return costs[metre][0]
    return max((cost for cost, _ in costs.values()), default=MOST_COST) + SLIP


def readable(sounds: list[Sounds]) -> Costs:
    """The cheapest reading of a hemistich in each metre that has one.

    Viterbi's algorithm over the beginnings of all forms (some two thousand), each step for all at once.
    """
    beginnings, whole = _beginnings(), _whole()
    costs = np.full(len(beginnings), np.inf)
    costs[0] = 0.0
    for options in sounds:
        costs[costs > costs.min() + BEAM] = np.inf
        longer = np.full(len(beginnings), np.inf)
        for sound, price in options.items():
            ending, before = _ending(sound)
            np.minimum(longer[ending], costs[before] + price, out=longer[ending])
        costs = longer
    found: Costs = {}
    for metre, (places, prices) in whole.items():
        read = costs[places] + prices
        best = int(read.argmin())
        if read[best] < np.inf:
            found[metre] = (float(read[best]), beginnings[places[best]])
    return found


@cache
def _beginnings() -> list[str]:
    """Every beginning of a form, the empty one first; those with the same end stand together."""
    found = {form[:end] for form in forms() for end in range(len(form) + 1)}
    return sorted(found, key=lambda beginning: beginning[::-1])


@cache
def _ending(sound: str) -> tuple[slice, slice | NDArray[np.intp]]:
    """Places of the beginnings that end with the sound, and of what each was before it."""
    if not sound:
        return slice(None), slice(None)
    places = {beginning: place for place, beginning in enumerate(_beginnings())}
    ending = [beginning for beginning in places if beginning.endswith(sound)]
    start = places[ending[0]] if ending else 0
    before = np.array([places[one.removesuffix(sound)] for one in ending], dtype=np.intp)
    return slice(start, start + len(ending)), before


@cache
def _whole() -> dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Metre to the places of its whole forms among the beginnings, and what each form costs."""
    places = {beginning: place for place, beginning in enumerate(_beginnings())}
    found: dict[str, dict[int, float]] = {}
    for form, metres in forms().items():
        for metre, cost in metres.items():
            found.setdefault(metre, {})[places[form]] = cost
    return {
        metre: (np.array([*costs], dtype=np.intp), np.array([*costs.values()]))
        for metre, costs in found.items()
    }
