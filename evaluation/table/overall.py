"""Averages from data sets to tasks, categories and overall: unweighted, and only where nothing is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.table.column import Column, ColumnKey
from mihakk.evaluation.table.draws import standing
from mihakk.evaluation.table.pairs import drawn_pairs, with_holm
from mihakk.machinery.errors import UsageError
from mihakk.schemas.suite import Averaging as Scheme
from mihakk.schemas.suite import Suite

WAYS: Final[Mapping[Scheme, str]] = {
    "hierarchy": "items to data set, data sets to task, tasks to category, these to overall",
    "categories": "items to data set, data sets to category, these to overall",
    "tasks": "items to data set, data sets to task, tasks to overall (and to category)",
    "sets": "items to data set, data sets to overall (and to category)",
}


def statement(scheme: Scheme) -> str:
    """How averages are made, for the foot of a table."""
    return (
        f"Averages are unweighted: {WAYS[scheme]}. Recall and skill are averaged apart. A system that lacks "
        "a part has no average over it."
    )


@dataclass(frozen=True)
class Average:
    """One average of all systems."""

    level: str
    """`category` or `overall`; `judged`: a category's mean by one judged metric, on its own scale."""
    name: str
    ability: str
    method: str
    """How choices were answered; answers in words are always written."""
    models: tuple[str, ...]
    figures: NDArray[np.float64]
    """One per system; NaN where it lacks a part."""
    drawn: NDArray[np.float64] | None
    """Resamples x systems."""
    degrees: float
    """Of freedom of errors from them: the fewest that a part has."""
    parts: tuple[str, ...]
    values: tuple[Column, ...] = ()
    """Whose values have the standard deviation that stands beside it; none of averages that are scaled."""


K = TypeVar("K", bound=ColumnKey)


@dataclass(frozen=True)
class Averaging:
    """How a suite says that data sets are averaged."""

    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Category to its tasks; every task is one of its own where there are none."""
    main: Mapping[str, str] = field(default_factory=dict)
    """Task to the metric that stands for it, where that is no metric of the kinds named below."""
    main_by_kind: Mapping[str, str] = field(default_factory=dict)
    """Kind of answer to the metric that stands for it."""
    scheme: Scheme = "hierarchy"

    @classmethod
    def of(cls, suite: Suite) -> Averaging:
        """As a suite says."""
        return cls(suite.categories, suite.main, suite.main_by_kind, suite.averaging)

    def parts(self, columns: Sequence[K]) -> tuple[list[K], dict[str, str]]:
        """The columns that are averaged, one metric for a data set's kind of answer; each task's category.

        Raises:
            UsageError: A task is in no category or in several, or its main metric is missing or has no range.
        """
        counted = [column for column in columns if column.ability != "probe"]
        chosen = {column.data_set: self._main(column, counted) for column in counted}
        kept = [one for one in counted if one.metric.name == chosen[one.data_set]]
        for column in kept:
            metric = column.metric
            if metric.low is None or metric.high is None or not metric.higher_is_better or not metric.ranks:
                raise UsageError(
                    f"{metric.name} can't be averaged with others (it has no range from worst to best): name "
                    f"another metric for task {column.task!r} under `main`"
                )
        return kept, self._categories(sorted({one.task for one in counted}))

    def _main(self, of: ColumnKey, columns: Sequence[ColumnKey]) -> str:
        task, kind = of.task, of.kind
        own = [column for column in columns if column.data_set == of.data_set]
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


def _default(kind: str, columns: Sequence[ColumnKey]) -> str:
    """The metric that stands for a kind of answer where nothing is named."""
    if kind == "choice":
        has = {column.metric.name for column in columns}
        return "accuracy" if "accuracy" in has or "exact_set" not in has else "exact_set"
    by_kind = {"explanation": "chrf", "code": "solved"}
    return by_kind.get(kind) or ("recall" if columns[0].ability == "recall" else "exact")


def averages(columns: Sequence[Column], averaging: Averaging) -> list[Average]:
    """Categories and overall of each ability, for each method by which choices were answered.

    Raises:
        UsageError: As `Averaging.parts`.
    """
    kept, by_task = averaging.parts(columns)
    models = tuple(sorted({model for column in kept for model in column.models}))
    found = []
    for ability in sorted({column.ability for column in kept}):
        mine = [column for column in kept if column.ability == ability]
        methods = sorted({column.method for column in mine if column.kind == "choice"}) or ["written"]
        for method in methods:
            used = [one for one in mine if one.kind != "choice" or one.method == method]
            found += _levels(used, by_task, models, (ability, method), scheme=averaging.scheme)
    return found + _judged(columns, by_task, averaging.scheme)


def _judged(columns: Sequence[Column], by_task: Mapping[str, str], scheme: Scheme) -> list[Average]:
    """Every category of two data sets or more by each judged metric, whichever stands for its tasks."""
    groups: dict[tuple[str, str, str], list[Column]] = {}
    for column in columns:
        if column.metric.name.startswith("judged_") and column.task in by_task:
            key = column.ability, column.metric.name, by_task[column.task]
            groups.setdefault(key, []).append(column)
    found = []
    for (ability, metric, category), own in sorted(groups.items()):
        models = tuple(sorted({model for column in own for model in column.models}))
        mean = _levels(own, by_task, models, (ability, "written"), scheme=scheme, scaled=False)[0]
        if len(own) > 1:
            name = f"{category} · {metric}"
            found.append(replace(mean, level="judged", name=name, values=tuple(own)))
    return found


def _levels(
    used: Sequence[Column],
    by_task: Mapping[str, str],
    models: tuple[str, ...],
    of: tuple[str, str],
    *,
    scheme: Scheme,
    scaled: bool = True,
) -> list[Average]:
    """Every category and the overall average of an ability and method; from 0 to 1 if `scaled`."""
    ability, method = of

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
            min(part.degrees for part in parts),
            tuple(inner for part in parts for inner in part.parts),
        )

    tasks: dict[str, list[Average]] = {}
    for column in used:
        tasks.setdefault(column.task, []).append(_scaled(column, models, ability, method, scaled=scaled))
    grouped: dict[str, list[Average]] = {}
    for task, sets in tasks.items():
        own = sets if scheme in ("sets", "categories") else [average("task", task, sets)]
        grouped.setdefault(by_task[task], []).extend(own)
    found = [average("category", name, parts) for name, parts in sorted(grouped.items())]
    every = [part for parts in grouped.values() for part in parts]
    return [*found, average("overall", "overall", every if scheme in ("sets", "tasks") else found)]


def _scaled(column: Column, models: tuple[str, ...], ability: str, method: str, *, scaled: bool) -> Average:
    """A column's figures, from 0 to 1 if `scaled`, with a place for every system of the table."""
    low, high = (scaled and column.bounds) or (0.0, 1.0)
    span = high - low
    places = [models.index(model) for model in column.models]
    figures = np.full(len(models), np.nan)
    figures[places] = (column.figures - low) / span
    drawn = None
    if column.drawn is not None:
        drawn = np.full((len(column.drawn), len(models)), np.nan)
        drawn[:, places] = (column.drawn - low) / span
    name, parts = column.config, (column.name,)
    return Average("data set", name, ability, method, models, figures, drawn, column.degrees, parts)


def average_rows(found: Average) -> list[dict[str, Any]]:
    """One row per system, with its rank as an interval where it has a figure."""
    judged = found.level == "judged"
    places = standing(found.figures, found.drawn, found.degrees)
    rows = []
    for model, figure, place in zip(found.models, found.figures, places, strict=True):
        row: dict[str, Any] = {
            "level": found.level,
            "name": found.name,
            "ability": found.ability,
            "method": found.method,
            "model": model,
            "parts": len(found.parts),
            **dict.fromkeys(("figure", "ci_low", "ci_high", "rank_low", "rank_high", "top")),
            "note": "lacks a part" if np.isnan(figure) else "",
        }
        if judged:
            row |= _spread(found.values, model)
        unwanted = ("se", "rank_low", "rank_high", "top") if judged else ("se",)
        row |= {name: value for name, value in place.items() if name not in unwanted}
        rows.append(row | ({} if np.isnan(figure) else {"figure": float(figure)}))
    return rows


def _spread(columns: Sequence[Column], model: str) -> dict[str, Any]:
    """Standard deviation over all items of some columns, and how many those are."""
    own = [column.values[column.models.index(model)] for column in columns if model in column.models]
    values = np.concatenate(own)
    there = values[~np.isnan(values)]
    return {"sd": float(there.std(ddof=1)) if len(there) > 1 else None, "items": len(there)}


def average_pairs(found: Average) -> list[dict[str, Any]]:
    """Differences of all pairs of systems, with intervals and p-values of the drawn tables."""
    head = {"name": found.name, "ability": found.ability, "method": found.method}
    rows = [head | row for _, row in drawn_pairs(found.models, found.figures, found.drawn, found.degrees)]
    for row in rows:
        del row["se"]
    return with_holm(rows)
