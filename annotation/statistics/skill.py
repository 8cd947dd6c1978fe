"""Estimates how well each person separates defective items from sound ones, without known answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mihakk.schemas.review import Review

LEAST_VOTES = 30
"""Votes below which nothing is said of a person."""
LEAST_DEFECTIVE = 10
"""Defective items that a third of a person's votes needs for a drift to be told."""
_PRIOR = (4.0, 1.0)
"""Right and wrong votes everybody is taken to have cast beforehand, lest EM swaps the classes."""
_ROUNDS = 500


@dataclass(frozen=True)
class Skill:
    """One person's estimated skill."""

    finds: float
    """Share of the defective items that they would fix or discard (sensitivity)."""
    spares: float
    """Share of the sound items that they keep (specificity)."""
    finds_drift: float | None
    """`finds` over the last third of their votes less that over the first; None with too few votes."""


def skills(
    reviews: Iterable[Review], known_defects: Iterable[str] = (), known_sound: Iterable[str] = ()
) -> dict[str, Skill]:
    """Skill of everybody with votes enough, by the model of Dawid and Skene (1979, Applied Statistics 28).

    Two classes, sound and defective; each person has two rates of being right; EM from the mean vote. It
    rests on people judging alone, and on items that several of them have judged. Attention checks, whose
    class is known, are held fixed.

    Args:
        reviews: Decisions that count, checks among them; of one person on one content the last counts.
        known_defects, known_sound: Ids of attention checks with a planted defect, and of sound ones.
    """
    import numpy as np

    last: dict[tuple[str, str], Review] = {
        (f"{row.item} {row.content_hash}", row.annotator): row for row in reviews
    }
    if not last:
        return {}
    rows = sorted(last.values(), key=lambda row: (row.decided_at, row.item))
    units = {
        name: place for place, name in enumerate(dict.fromkeys(f"{r.item} {r.content_hash}" for r in rows))
    }
    people = {name: place for place, name in enumerate(sorted({row.annotator for row in rows}))}
    truth = dict.fromkeys(known_sound, 0.0) | dict.fromkeys(known_defects, 1.0)
    unit = np.array([units[f"{row.item} {row.content_hash}"] for row in rows])
    person = np.array([people[row.annotator] for row in rows])
    bad = np.array([row.decision != "keep" for row in rows], dtype=float)
    told = {units[f"{row.item} {row.content_hash}"]: truth[row.item] for row in rows if row.item in truth}
    fixed = np.isin(np.arange(len(units)), list(told))
    known = np.array([told.get(place, 0.0) for place in range(len(units))])

    def per_person(weights: Any) -> Any:
        return np.bincount(person, weights, minlength=len(people))

    votes = np.bincount(unit, minlength=len(units))
    defective = np.where(fixed, known, np.bincount(unit, bad, minlength=len(units)) / votes)
    for _ in range(_ROUNDS):
        p = defective[unit]
        finds = (per_person(p * bad) + _PRIOR[0]) / (per_person(p) + sum(_PRIOR))
        spares = (per_person((1 - p) * (1 - bad)) + _PRIOR[0]) / (per_person(1 - p) + sum(_PRIOR))
        share = np.clip(defective[~fixed].mean() if not fixed.all() else 0.5, 1e-3, 1 - 1e-3)
        yes = np.log(np.where(bad == 1, finds[person], 1 - finds[person]))
        no = np.log(np.where(bad == 1, 1 - spares[person], spares[person]))
        odds = np.bincount(unit, yes - no, minlength=len(units)) + np.log(share / (1 - share))
        after = np.where(fixed, known, 1 / (1 + np.exp(-np.clip(odds, -500, 500))))
        moved, defective = float(np.abs(after - defective).max()), after
        if moved < 1e-6:
            break
    found = {}
    for name, place in people.items():
        mine = np.flatnonzero(person == place)
        if len(mine) < LEAST_VOTES:
            continue
        third = len(mine) // 3
        early, late = (_finds(defective[unit[part]], bad[part]) for part in (mine[:third], mine[-third:]))
        drift = late - early if early is not None and late is not None else None
        found[name] = Skill(float(finds[place]), float(spares[place]), drift)
    return found


def _finds(defective: Iterable[float], bad: Iterable[float]) -> float | None:
    """Sensitivity over some votes; None where they hold too few defective items."""
    pairs = list(zip(defective, bad, strict=True))
    weight = sum(p for p, _ in pairs)
    return float(sum(p * b for p, b in pairs) / weight) if weight >= LEAST_DEFECTIVE else None
