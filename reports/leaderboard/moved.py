"""How systems moved on a leaderboard since the previous version, and because of which items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from evaluation.table.moves import MOST_ITEMS, ItemMove, Moves, SystemMove
from releases.paper_trail.audit_tables import read_changes

DIGITS: Final = 4
Fields = dict[str, Any]


def changes_of(releases: Iterable[Path]) -> dict[str, list[str]]:
    """Item to what the newer releases' errata say was done to it."""
    found: dict[str, list[str]] = {}
    for folder in releases:
        for change in read_changes(folder):
            found.setdefault(change.id, []).append(change.reason or change.kind)
    return found


def moved_facts(
    found: Moves, columns: Sequence[Fields], systems: Sequence[str], changes: Mapping[str, Sequence[str]]
) -> Fields:
    """The moves of every data set that the board shows.

    Args:
        found: Both versions compared.
        columns: Of the board.
        systems: Names in the order of the board.
        changes: What errata say of each item.
    """
    place = {name: number for number, name in enumerate(systems)}
    ids = {f"{one['name']} · {one['metric']} · {one['method']}": one["id"] for one in columns}
    sets: dict[str, Fields] = {}
    for row in found.systems:
        if row.column in ids and row.model in place:
            own = sets.setdefault(ids[row.column], {"systems": [], "items": [], "changed": 0})
            own["systems"].append(_system(row, place))
    for item in found.items:
        if (told := sets.get(ids.get(item.column, ""))) is not None:
            told["changed"] += 1
            if len(told["items"]) < MOST_ITEMS:
                told["items"].append(_item(item, place, changes.get(item.item, ())))
    return {"between": found.between, "sets": sets}


def _system(row: SystemMove, place: Mapping[str, int]) -> Fields:
    figures = {
        name: round(value, DIGITS) for name, value in row._asdict().items() if isinstance(value, float)
    }
    return {"system": place[row.model], "ranks": [row.rank_before, row.rank_after], **figures}


def _item(item: ItemMove, place: Mapping[str, int], why: Sequence[str]) -> Fields:
    """An item with the systems that it moves most, up and down."""
    own = sorted(
        ((place[name], round(effect, DIGITS)) for name, effect in item.effects.items() if name in place),
        key=lambda one: (-one[1], one[0]),
    )
    return {
        "item": item.item,
        "what": item.what,
        "why": list(why),
        "apart": round(item.spread, DIGITS),
        "ends": [own[0], own[-1]] if own else [],
    }
