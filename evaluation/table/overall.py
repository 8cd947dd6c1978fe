"""Averages from data sets to tasks, categories and overall: unweighted, and only where nothing is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import percentile_interval, ranks
from evaluation.table.column import Column
from mihakk.errors import UsageError

STATEMENT = (
    "Averages are unweighted: items to data set, data sets to task, tasks to category, these to overall. "
    "Recall and skill are averaged apart. A system that lacks a part has no average over it."
)


@dataclass(frozen=True)
class Average:
    """One average of all systems."""

    level: str
    """`category` or `overall`."""
    name: str
    ability: str
    method: str
    """How choices were answered; answers in words are always written."""
    models: tuple[str, ...]
    figures: NDArray[np.float64]
    """One per system; NaN where it lacks a part."""
    drawn: NDArray[np.float64] | None
    """Resamples x systems."""
    parts: tuple[str, ...]


def main_metrics(columns: Sequence[Column], main: Mapping[str, str]) -> dict[str, str]:
    """The metric that stands for each task in averages.

    Raises:
        UsageError: A task has no scores of it.
    """
    chosen = {}
    for task in sorted({column.task for column in columns}):
        own = [column for column in columns if column.task == task]
        wanted = main.get(task) or _default(own)
        if wanted not in {column.metric.name for column in own}:
            raise UsageError(
                f"task {task!r} has no scores of its main metric {wanted!r}: score them, or name another one"
            )
        chosen[task] = wanted
    return chosen


def _default(columns: Sequence[Column]) -> str:
    first = columns[0]
    if first.kind == "choice":
        has = {column.metric.name for column in columns}
        return "accuracy" if "accuracy" in has or "exact_set" not in has else "exact_set"
    if first.kind == "explanation":
        return "chrf"
    if first.kind == "code":
        return "solved"
    return "recall" if first.ability == "recall" else "exact"


def averages(
    columns: Sequence[Column],
    drawn: Sequence[NDArray[np.float64] | None],
    categories: Mapping[str, Sequence[str]],
    main: Mapping[str, str],
) -> list[Average]:
    """Categories and overall of each ability, for each method by which choices were answered.

    Args:
        columns: All columns.
        drawn: Of each column, resamples x its systems.
        categories: Category to its tasks; every task is one of its own where there are none.
        main: Task to the metric that stands for it; by the kind of its answers where it is not named.

    Raises:
        UsageError: A task is in no category or in several, or its main metric can't be averaged.
    """
    counted = [pair for pair in zip(columns, drawn, strict=True) if pair[0].ability != "probe"]
    chosen = main_metrics([column for column, _ in counted], main)
    kept = [(column, draws) for column, draws in counted if chosen[column.task] == column.metric.name]
    by_task = _categories(sorted(chosen), categories)
    models = tuple(sorted({model for column, _ in kept for model in column.models}))
    found = []
    for ability in sorted({column.ability for column, _ in kept}):
        mine = [(column, draws) for column, draws in kept if column.ability == ability]
        methods = sorted({column.method for column, _ in mine if column.kind == "choice"}) or ["written"]
        for method in methods:
            used = [one for one in mine if one[0].kind != "choice" or one[0].method == method]
            found += _levels(used, by_task, models, ability, method)
    return found


def _categories(tasks: Sequence[str], categories: Mapping[str, Sequence[str]]) -> dict[str, str]:
    if not categories:
        return {task: task for task in tasks}
    found: dict[str, str] = {}
    for category, members in categories.items():
        for task in members:
            if task in found:
                raise UsageError(f"task {task!r} is in two categories: {found[task]} and {category}")
            found[task] = category
    if lost := [task for task in tasks if task not in found]:
        raise UsageError(f"task {lost[0]!r} is in no category: name it under one")
    return found


def _levels(
    used: Sequence[tuple[Column, NDArray[np.float64] | None]],
    by_task: Mapping[str, str],
    models: tuple[str, ...],
    ability: str,
    method: str,
) -> list[Average]:
    """Every category and, from these, the overall average."""

    def average(level: str, name: str, parts: Sequence[Average]) -> Average:
        draws = [part.drawn for part in parts if part.drawn is not None]
        return Average(
            level,
            name,
            ability,
            method,
            models,
            np.mean([part.figures for part in parts], axis=0),
            np.mean(draws, axis=0) if len(draws) == len(parts) else None,
            tuple(inner for part in parts for inner in part.parts),
        )

    sets = [(column.task, _scaled(column, draws, models, ability, method)) for column, draws in used]
    tasks: dict[str, list[Average]] = {}
    for task, one in sets:
        tasks.setdefault(task, []).append(one)
    grouped: dict[str, list[Average]] = {}
    for task, parts in tasks.items():
        grouped.setdefault(by_task[task], []).append(average("task", task, parts))
    found = [average("category", name, parts) for name, parts in sorted(grouped.items())]
    return [*found, average("overall", "overall", found)]


def _scaled(
    column: Column,
    draws: NDArray[np.float64] | None,
    models: tuple[str, ...],
    ability: str,
    method: str,
) -> Average:
    """A column's figures from 0 to 1, with a place for every system of the table."""
    metric = column.metric
    if metric.low is None or metric.high is None or not metric.higher_is_better or not metric.ranks:
        raise UsageError(
            f"{metric.name} can't be averaged with others (it has no range from worst to best): name another "
            f"main metric for task {column.task!r}"
        )
    span = metric.high - metric.low
    places = [models.index(model) for model in column.models]
    figures = np.full(len(models), np.nan)
    own = [column.figure(place) for place in range(len(column.models))]
    figures[places] = [np.nan if one is None else (one - metric.low) / span for one in own]
    drawn = None
    if draws is not None:
        drawn = np.full((len(draws), len(models)), np.nan)
        drawn[:, places] = (draws - metric.low) / span
    return Average("data set", column.config, ability, method, models, figures, drawn, (column.name,))


def average_rows(found: Average) -> list[dict[str, Any]]:
    """One row per system, with its rank as an interval where it has a figure."""
    able = [place for place in range(len(found.models)) if not np.isnan(found.figures[place])]
    ends = standing = None
    if found.drawn is not None and able:
        ends = percentile_interval(found.drawn[:, able])
        standing = ranks([float(found.figures[place]) for place in able], found.drawn[:, able])
    rows = []
    for place, model in enumerate(found.models):
        row: dict[str, Any] = {
            "level": found.level,
            "name": found.name,
            "ability": found.ability,
            "method": found.method,
            "model": model,
            "parts": len(found.parts),
            **dict.fromkeys(("figure", "ci_low", "ci_high", "rank_low", "rank_high", "top")),
            "note": "" if place in able else "lacks a part",
        }
        if place in able:
            row["figure"] = float(found.figures[place])
        if place in able and ends is not None and standing is not None:
            at = able.index(place)
            row |= {"ci_low": float(ends[0, at]), "ci_high": float(ends[1, at])}
            row |= {"rank_low": standing[at].low, "rank_high": standing[at].high, "top": standing[at].top}
        rows.append(row)
    return rows
