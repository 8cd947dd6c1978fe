"""The figures of a leaderboard: systems, columns with intervals and rank ranges, moves, what was not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mihakk.evaluation.rows import folders_of
from mihakk.evaluation.statistics.cluster import LEAST_CLUSTERS, clustered, codes_of
from mihakk.evaluation.table.column import Column
from mihakk.evaluation.table.moves import MOST_ITEMS, ItemMove, Moves, SystemMove
from mihakk.evaluation.table.results import Results, grouped
from mihakk.evaluation.table.scores import COLUMN
from mihakk.releases.paper_trail.audit_tables import read_changes
from mihakk.schemas.suite import Suite, System

DIGITS = 4
MOST_VALUES = 40
"""Values of a fact that slices are shown for: more name items rather than parts of a set."""
LEAST_ITEMS = 5
Fields = dict[str, Any]


def board_columns(found: Results, columns: Sequence[Column], systems: Sequence[str]) -> list[Fields]:
    """Averages first, then every data set; each with a row a system.

    Args:
        found: The tables.
        columns: What they were made of: the data sets.
        systems: Names in the order of the board.
    """
    place = {name: number for number, name in enumerate(systems)}
    tables = found.rows()
    made: list[Fields] = [
        {
            "id": f"{level}-{name}-{ability}-{method}",
            "level": level,
            "name": name,
            "ability": ability,
            "method": method,
            "metric": "",
            "axis": [0.0, 1.0],
            "higher": True,
            "smallest": None,
            "rows": [_row(row, place) for row in own],
        }
        for (level, name, ability, method), own in grouped(
            tables["averages"], ("level", "name", "ability", "method")
        )
        if level != "judged" and max(row["parts"] for row in own) > 1
    ]
    made.sort(key=lambda one: (one["level"] != "overall", one["ability"] != "skill", one["id"]))
    pairs = dict(grouped(tables["pairs"], COLUMN))
    of_key = {tuple(one.row[name] for name in COLUMN): n for n, one in enumerate(columns)}
    for key, own in grouped(tables["cells"], COLUMN):
        column = columns[of_key[key]]
        made.append(
            {
                "id": f"c{of_key[key]}",
                "level": "probe" if column.ability == "probe" else "set",
                "name": column.config,
                "release": column.release,
                "task": column.task,
                "ability": column.ability,
                "metric": column.metric.name,
                "method": column.method,
                "axis": _axis(column, own),
                "higher": column.metric.higher_is_better,
                "smallest": _number(own[0]["smallest_difference"]),
                "rows": [_row(row, place, column) for row in own],
                "pairs": [_pair(row, place) for row in pairs.get(key, ())],
            }
        )
    return made


def slices_of(column: Column, least_groups: int = 1) -> list[Fields]:
    """Figures by the values of each fact, for every system; none for metrics whose figure is no mean.

    Args:
        column: The data set.
        least_groups: Values with fewer poems or idioms are left out.
    """
    if column.statistics is not None or not column.frames:
        return []
    facts: dict[str, dict[str, str]] = {}
    for rows in column.frames:
        for item, told in zip(rows["item"].astype(str), rows["slices"], strict=True):
            facts.setdefault(item, dict(told))
    names = sorted({name for told in facts.values() for name in told} - {"record"})
    of_item = [facts.get(str(item), {}) for item in column.items]
    made = []
    for name in names:
        values = np.array([told.get(name, "") for told in of_item], dtype=object)
        counts = {str(value): int((values == value).sum()) for value in set(values) - {""}}
        kept = sorted(
            (value for value, count in counts.items() if count >= LEAST_ITEMS), key=lambda v: (-counts[v], v)
        )
        if 2 <= len(kept) <= MOST_VALUES:
            parts = [_slice(column, value, values == value) for value in kept]
            parts = [part for part in parts if part["groups"] >= least_groups]
            made += [{"fact": name, "values": parts}] if parts else []
    return made


def system_facts(systems: Sequence[System], revisions: Mapping[str, str]) -> list[Fields]:
    """What filters and readers need to know of each system."""
    names = {"name", "family", "kind", "open", "parameters", "contender"}
    return [
        one.model_dump(mode="json", include=names)
        | {"cutoff": one.knowledge_cutoff, "revision": revisions.get(one.name, "")}
        for one in systems
    ]


def not_run(suite: Suite, systems: Sequence[System], columns: Sequence[Fields], folder: Path) -> list[Fields]:
    """What is missing: the kind of gap, the system or part, and how many items."""
    gaps: list[Fields] = []
    has_choices = any(column["metric"] == "accuracy" for column in columns)
    for one in systems:
        paths = [own / "answers.parquet" for own in folders_of(folder, one.name)]
        if not any(path.is_file() for path in paths):
            gaps.append({"why": "not_asked", "system": one.name})
        elif not paths[1].is_file() and has_choices:
            gaps.append({"why": "no_likelihoods", "system": one.name})
    unasked = {gap["system"] for gap in gaps if gap["why"] == "not_asked"}
    for column in columns:
        if column["level"] != "set" or column["method"] != "written":
            continue
        missing = {systems[row["system"]].name: row["missing"] for row in column["rows"]}
        whole = max(row["items"] + row["missing"] for row in column["rows"])
        for one in systems:
            count = missing.get(one.name, whole)
            if count and one.name not in unasked:
                gap = {"why": "items_missing", "system": one.name, "column": column["name"], "items": count}
                gaps += [gap] if gap not in gaps else []
    if suite.judges is None and any(column.get("task", "").endswith("explanation") for column in columns):
        gaps.append({"why": "no_judges", "system": ""})
    return gaps


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
            own["systems"].append(_moved_system(row, place))
    for item in found.items:
        if (told := sets.get(ids.get(item.column, ""))) is not None:
            told["changed"] += 1
            if len(told["items"]) < MOST_ITEMS:
                told["items"].append(_moved_item(item, place, changes.get(item.item, ())))
    return {"between": found.between, "sets": sets}


def _row(row: Fields, place: Mapping[str, int], column: Column | None = None) -> Fields:
    """One system's figure; of a data set with its column, of an average without."""
    told: Fields = {
        "system": place[str(row["model"])],
        "figure": _number(row["figure"]),
        "low": _number(row["ci_low"]),
        "high": _number(row["ci_high"]),
        "ranks": None,
        "notes": _notes(row, column),
    }
    if row["rank_low"] is not None:
        told["ranks"] = [int(row["rank_low"]), int(row["rank_high"])]
        told["top"] = bool(row["top"])
    if "missing" in row:
        unread = sum(float(row[name]) for name in ("unparsed", "empty", "refused", "error"))
        told |= {
            "items": int(row["items"]),
            "missing": int(row["missing"]),
            "unread": round(unread, DIGITS),
            "cut": _number(row["cut"]),
            "chance": _number(row.get("chance_adjusted")),
        }
    return {name: value for name, value in told.items() if value is not None and value != []}


def _notes(row: Fields, column: Column | None) -> list[list[Any]]:
    """Why there is no figure or no interval, as words of the page and the number in them."""
    if column is None:
        return [["note_part"]] if row["figure"] is None else []
    if row["missing"]:
        return [["note_missing", int(row["missing"])]]
    if row["figure"] is None:
        return [["note_no_value"]]
    left_out = int(np.isnan(column.values[column.models.index(str(row["model"]))]).sum())
    notes: list[list[Any]] = [["note_left_out", left_out]] if left_out else []
    clusters = int(row["clusters"])
    if clusters < LEAST_CLUSTERS:
        return [*notes, ["note_clusters", clusters]]
    return notes if row["ci_low"] is not None else [*notes, ["note_uneven", clusters]]


def _pair(row: Fields, place: Mapping[str, int]) -> list[Any]:
    """[first, second, difference, its ends, adjusted p]."""
    ends = (_number(row[name]) for name in ("difference", "ci_low", "ci_high", "p_holm"))
    return [place[row["first"]], place[row["second"]], *ends]


def _slice(column: Column, value: str, chosen: Any) -> Fields:
    groups = codes_of(column.groups[chosen])
    rows = []
    for place, name in enumerate(column.models):
        values = column.values[place][chosen]
        if np.isnan(values).any():
            continue
        mean = clustered(values, groups, bounds=column.bounds)
        rows.append([name, *(_number(one) for one in (mean.mean, mean.low, mean.high))])
    return {"value": value, "items": int(chosen.sum()), "groups": int(groups.max()) + 1, "rows": rows}


def _axis(column: Column, own: Sequence[Fields]) -> list[float]:
    known = [row[name] for row in own for name in ("figure", "ci_low", "ci_high") if row[name] is not None]
    known = known or [0.0, 1.0]
    low, high = column.metric.low, column.metric.high
    ends = (
        min([*known, *([low] if low is not None else [])]),
        max([*known, *([high] if high is not None else [])]),
    )
    return [round(end, DIGITS) for end in ends]


def _number(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)


def _moved_system(row: SystemMove, place: Mapping[str, int]) -> Fields:
    figures = {
        name: round(value, DIGITS) for name, value in row._asdict().items() if isinstance(value, float)
    }
    return {"system": place[row.model], "ranks": [row.rank_before, row.rank_after], **figures}


def _moved_item(item: ItemMove, place: Mapping[str, int], why: Sequence[str]) -> Fields:
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
