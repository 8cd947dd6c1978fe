"""Averages from data sets to tasks, categories and overall: unweighted, and only where nothing is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Metric
from evaluation.statistics.bootstrap import percentile_interval, ranks
from evaluation.table.column import Column
from mihakk.errors import UsageError
from schemas.evaluation import Question

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


class Counted(Protocol):
    """What averages need to know of a column: one of a table, or one that a suite is going to give."""

    @property
    def release(self) -> str: ...
    @property
    def config(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def ability(self) -> str: ...
    @property
    def metric(self) -> Metric: ...


C = TypeVar("C", bound=Counted)


@dataclass(frozen=True)
class Averaging:
    """How a suite says that data sets are averaged."""

    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Category to its tasks; every task is one of its own where there are none."""
    main: Mapping[str, str] = field(default_factory=dict)
    """Task to the metric that stands for it, where that is no metric of the kinds named below."""
    main_by_kind: Mapping[str, str] = field(default_factory=dict)
    """Kind of answer to the metric that stands for it."""

    def parts(self, columns: Sequence[C]) -> tuple[list[C], dict[str, str]]:
        """The columns that are averaged, one metric for a data set's kind of answer; each task's category.

        Raises:
            UsageError: A task is in no category or in several, or its main metric is missing or has no range.
        """
        counted = [column for column in columns if column.ability != "probe"]
        chosen = {data_set(column): self._main(column, counted) for column in counted}
        kept = [one for one in counted if one.metric.name == chosen[data_set(one)]]
        for column in kept:
            metric = column.metric
            if metric.low is None or metric.high is None or not metric.higher_is_better or not metric.ranks:
                raise UsageError(
                    f"{metric.name} can't be averaged with others (it has no range from worst to best): name "
                    f"another metric for task {column.task!r} under `main`"
                )
        return kept, self._categories(sorted({one.task for one in counted}))

    def _main(self, of: Counted, columns: Sequence[Counted]) -> str:
        task, kind = of.task, of.kind
        own = [column for column in columns if data_set(column) == data_set(of)]
        there = sorted({column.metric.name for column in own})
        others = {column.metric.name for column in columns if column.task == task} - {*there}
        named = self.main.get(task)
        if named is None or named in others:  # it stands for the task's other data sets or kinds of answer
            named = self.main_by_kind.get(kind) or _default(kind, own)
        if named in there:
            return named
        raise UsageError(
            f"task {task!r} has no scores of its main metric {named!r} for answers of the kind {kind!r}: add "
            f"it to `metrics`, or write `main_by_kind: {{{kind}: METRIC}}` or `main: {{{task}: METRIC}}`, "
            f"with one of {', '.join(there)}"
        )

    def _categories(self, tasks: Sequence[str]) -> dict[str, str]:
        if not self.categories:
            return {task: task for task in tasks}
        found: dict[str, str] = {}
        for category, members in self.categories.items():
            for task in members:
                if task in found:
                    raise UsageError(f"task {task!r} is in two categories: {found[task]} and {category}")
                found[task] = category
        if lost := [task for task in tasks if task not in found]:
            raise UsageError(
                f"{'; '.join(f'task {task!r} is in no category' for task in lost)}: name each under one of "
                "`categories`, or leave it out by the part's `only`"
            )
        return found


def data_set(one: Counted | Question) -> tuple[str, str, str, str]:
    """What one metric stands for: the answers of one kind to a config."""
    return one.release, one.config, one.task, one.kind


def _default(kind: str, columns: Sequence[Counted]) -> str:
    """The metric that stands for a kind of answer where nothing is named."""
    if kind == "choice":
        has = {column.metric.name for column in columns}
        return "accuracy" if "accuracy" in has or "exact_set" not in has else "exact_set"
    by_kind = {"explanation": "chrf", "code": "solved"}
    return by_kind.get(kind) or ("recall" if columns[0].ability == "recall" else "exact")


def averages(
    columns: Sequence[Column], drawn: Sequence[NDArray[np.float64] | None], averaging: Averaging
) -> list[Average]:
    """Categories and overall of each ability, for each method by which choices were answered.

    Args:
        columns: All columns.
        drawn: Of each column, resamples x its systems.
        averaging: Which are averaged, and under what.

    Raises:
        UsageError: As `Averaging.parts`.
    """
    counted, by_task = averaging.parts(columns)
    draws_of = {id(column): draws for column, draws in zip(columns, drawn, strict=True)}
    kept = [(column, draws_of[id(column)]) for column in counted]
    models = tuple(sorted({model for column, _ in kept for model in column.models}))
    found = []
    for ability in sorted({column.ability for column, _ in kept}):
        mine = [(column, draws) for column, draws in kept if column.ability == ability]
        methods = sorted({column.method for column, _ in mine if column.kind == "choice"}) or ["written"]
        for method in methods:
            used = [one for one in mine if one[0].kind != "choice" or one[0].method == method]
            found += _levels(used, by_task, models, ability, method)
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
    low, high = column.bounds or (0.0, 1.0)
    span = high - low
    places = [models.index(model) for model in column.models]
    figures = np.full(len(models), np.nan)
    own = [column.figure(place) for place in range(len(column.models))]
    figures[places] = [np.nan if one is None else (one - low) / span for one in own]
    drawn = None
    if draws is not None:
        drawn = np.full((len(draws), len(models)), np.nan)
        drawn[:, places] = (draws - low) / span
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
