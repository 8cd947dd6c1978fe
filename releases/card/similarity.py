"""How like each other texts are: wrong options beside the right one, records beside records."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import cast

from mihakk.machinery.text import key
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.quality import ValueSpread
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Cluster

MEASURED = 1_000
"""Questions measured per config: enough for quantiles that do not move, and no release is slowed by it."""
_STEP = 5
_PERCENT = range(50, 100, _STEP)


def letter_spreads(items: Sequence[Item]) -> tuple[ValueSpread, ...]:
    """Spread of the letters that wrong options have in common with the right one, per config and strategy.

    0 is no letter in common order, 1 the same letters (Indel similarity of the folded texts). One order of a
    pair is measured, and where a config has many questions those with the lowest hash of their id.
    """
    import numpy as np
    from rapidfuzz.distance import Indel

    from mihakk.generators.quality.item_quality import spread_of

    questions: dict[tuple[Language, str], dict[str, int]] = defaultdict(dict)
    for place, item in enumerate(items):
        if isinstance(item, ChoiceItem) and item.gold:
            questions[item.language, item.task].setdefault(item.pair_id or item.id, place)
    spreads = []
    for (language, task), by_question in sorted(questions.items()):
        measured: dict[str, list[float]] = defaultdict(list)
        for name in sorted(by_question, key=_lot)[:MEASURED]:
            item = cast("ChoiceItem", items[by_question[name]])
            folded = [key(option, item.language) for option in item.options]
            right = folded[item.gold[0]]
            measured[item.origin.strategy] += [
                Indel.normalized_similarity(right, wrong)
                for place, wrong in enumerate(folded)
                if place not in item.gold
            ]
        spreads += [
            spread_of(task, language, name, "letters", np.array(values))
            for name, values in sorted(measured.items())
            if values
        ]
    return tuple(spreads)


def _lot(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8, person=b"mihakk-letters").digest()


def cluster_similarities(clusters: Iterable[Cluster]) -> list[tuple[str, dict[str, float]]]:
    """(`75 to 79 %`, level and what was done -> clusters of like records) per step of similarity."""
    counts: dict[str, dict[str, float]] = {_step(place): {} for place in (*_PERCENT, 100)}
    for one in clusters:
        percent = int(100 * one.similarity + 1e-9)
        place = 100 if percent >= 100 else max(_PERCENT[0], percent // _STEP * _STEP)
        merged = "merged" if one.method in ("exact", "near") else "all kept"
        series = counts[_step(place)]
        name = f"{one.level}, {merged}"
        series[name] = series.get(name, 0) + 1
    filled = [place for place, row in enumerate(counts.values()) if row]
    rows = list(counts.items())
    return rows[filled[0] :] if filled else []


def _step(place: int) -> str:
    if place == 100:
        return "100 %"
    return f"{'below ' if place == _PERCENT[0] else f'{place} to '}{place + _STEP - 1} %"
