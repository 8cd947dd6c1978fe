"""One column of a table: all systems on one data set, by one metric and one method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from mihakk.evaluation.metrics.metric import Metric, known_metric
from mihakk.evaluation.statistics.cluster import Codes, Values, effective_clusters
from mihakk.machinery.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

NOT_VOUCHED_FOR: Final = "_not_vouched_for"
"""End of the name of a judged metric where no people's scores vouch for the judges."""


@dataclass(frozen=True)
class ColumnKey:
    """What a column is of: the answers of one kind to a data set, by one metric and one method."""

    release: str
    config: str
    task: str
    kind: str
    ability: str
    metric: Metric
    method: Any
    """A `Method`, as the scores name it."""

    @property
    def data_set(self) -> tuple[str, str, str, str]:
        """What one metric stands for in averages."""
        return self.release, self.config, self.task, self.kind

    @property
    def row(self) -> dict[str, str]:
        """The fields that name it in tables: those of `COLUMN`."""
        return {
            "release": self.release,
            "config": self.config,
            "metric": self.metric.name,
            "method": self.method,
        }


@dataclass(frozen=True)
class Column(ColumnKey):
    """Scores as a matrix; an item's repeats and wordings are averaged first."""

    models: tuple[str, ...]
    items: NDArray[Any]
    groups: NDArray[Any]
    """Name of each item's cluster, unique over releases."""
    values: Values
    """Systems x items; NaN where there is no value."""
    missing: tuple[int, ...]
    """Items that each system was not asked or has no answer row for."""
    frames: tuple[pd.DataFrame, ...]
    """The rows of each system."""
    statistics: NDArray[np.float64] | None
    """Systems x items x counts, for metrics whose figure is not a mean."""
    drawn: NDArray[np.float64] | None = None
    """Figures from drawn clusters, resamples x systems; None where there are too few, or none drawn yet."""

    @property
    def name(self) -> str:
        """As it heads the column; the method is part of it."""
        return f"{self.release}/{self.config} {self.metric.name} {self.method}"

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return 1.0 if self.metric.higher_is_better else -1.0

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and greatest value of the metric; None where it has no bounds."""
        low, high = self.metric.low, self.metric.high
        return None if low is None or high is None else (low, high)

    @cached_property
    def sizes(self) -> Values:
        """Items of each cluster."""
        return np.unique(self.groups, return_counts=True)[1].astype(np.float64)

    @property
    def degrees(self) -> float:
        """Of freedom of errors from drawn clusters; at least 1."""
        return max(1.0, effective_clusters(self.sizes) - 1)

    @cached_property
    def figures(self) -> Values:
        """One per system; NaN where it lacks an answer to an item that any has, or has no value at all."""
        return np.array([self._figure(place) for place in range(len(self.models))], dtype=np.float64)

    def _figure(self, model: int) -> float:
        if self.missing[model]:
            return np.nan
        if self.statistics is not None and self.metric.total is not None:
            return self.metric.total(self.statistics[model].sum(axis=0), self.metric.options)
        there = self.values[model][~np.isnan(self.values[model])]
        return float(there.mean()) if there.size else np.nan


def column_of(rows: pd.DataFrame) -> Column:
    """The column of all rows of one data set, metric and method.

    Raises:
        UsageError: The metric is not known here.
    """
    first = rows.iloc[0]
    metric = _metric(str(first["metric"]), first)
    models = tuple(sorted({str(one) for one in rows["model"]}))
    items, item_codes = np.unique(rows["item"].astype(str).to_numpy(), return_inverse=True)
    place = {name: number for number, name in enumerate(models)}
    codes = rows["model"].astype(str).map(place).to_numpy(dtype=np.int64)
    cell = codes * len(items) + item_codes
    size = len(models) * len(items)
    values = rows["value"].to_numpy(dtype=np.float64)
    there = ~np.isnan(values)
    asked = np.bincount(cell, minlength=size).reshape(len(models), -1)
    sums = np.bincount(cell[there], weights=values[there], minlength=size)
    counts = np.bincount(cell[there], minlength=size)
    with np.errstate(invalid="ignore"):
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(len(models), -1)
    groups = np.empty(len(items), dtype=object)
    groups[item_codes] = rows["group"].astype(str).to_numpy()
    return Column(
        release=str(first["release"]),
        config=str(first["config"]),
        task=str(first["task"]),
        ability=str(first["ability"]),
        kind=str(first["kind"]),
        metric=metric,
        method=str(first["method"]),
        models=models,
        items=items,
        groups=np.array([f"{first['release']}\x1f{group}" for group in groups]),
        values=means,
        missing=tuple(int(one) for one in (asked == 0).sum(axis=1)),
        frames=tuple(rows[codes == number] for number in range(len(models))),
        statistics=_statistics(rows, cell, len(models), len(items)) if metric.total else None,
    )


def may_rank(metric: str) -> bool:
    """Whether systems may be ordered by a metric, by its name."""
    known = known_metric(metric)
    return (known is None or known.ranks) and not metric.endswith(NOT_VOUCHED_FOR)


def _metric(name: str, row: Any) -> Metric:
    """The metric of that name; one that is scored elsewhere needs no more than its row tells."""
    if found := known_metric(name):
        if str(row["scorer"]) != f"{found.name}/{found.version}":
            raise UsageError(
                f"{name}: scored as {row['scorer']}, now {found.name}/{found.version}: score again"
            )
        return found
    return Metric(
        name=name,
        title=name,
        meaning="",
        kinds=(row["kind"],),
        methods=(row["method"],),
        low=_number(row["low"]),
        high=_number(row["high"]),
        higher_is_better=bool(row["higher_is_better"]),
        score_all=lambda *_: (),
        ranks=may_rank(name),
    )


def _number(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _statistics(rows: pd.DataFrame, cell: Codes, models: int, items: int) -> NDArray[np.float64]:
    """Counts of each answer added up by system and item, averaged over its repeats."""
    counts = np.array([orjson.loads(one)["statistics"] for one in rows["detail"]], dtype=np.float64)
    summed = np.zeros((models * items, counts.shape[1]))
    np.add.at(summed, cell, counts)
    asked = np.maximum(np.bincount(cell, minlength=models * items), 1)
    found: NDArray[np.float64] = (summed / asked[:, None]).reshape(models, items, -1)
    return found


def columns_of(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Every column of a frame, in the order of their names, whatever order the rows came in."""
    groups = sorted(frame.groupby(list(by), observed=True), key=lambda one: tuple(map(str, one[0])))
    return [column_of(rows) for _, rows in groups]
