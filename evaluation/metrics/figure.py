"""What a figure is that only many answers together have: pairs, positions, repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaluation.statistics.cluster import Codes, Values, clustered
from mihakk.registry import Registry


@dataclass(frozen=True)
class Scores:
    """All scores of one metric that one system has, by one method, in one data set."""

    values: Values
    clusters: Codes
    items: Sequence[str]
    pairs: Sequence[str]
    """What joins the two orders of a question, wording and repeat included; empty where there is none."""
    orders: Sequence[int]
    details: Sequence[Mapping[str, Any]]

    def by_pair(self) -> list[tuple[int, int]]:
        """Places of the two orders of each question asked in both."""
        found: dict[str, dict[int, int]] = {}
        for place, (pair, order) in enumerate(zip(self.pairs, self.orders, strict=True)):
            if pair:
                found.setdefault(pair, {})[order] = place
        return [(both[0], both[1]) for both in found.values() if both.keys() == {0, 1}]


class Measured(NamedTuple):
    """A figure of many answers, with its 95 % interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    units: int = 0
    """Answers, pairs or items it was made of."""
    detail: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Figure:
    """A figure of many answers."""

    name: str
    title: str
    meaning: str
    """The rules, as the docs print them."""
    of: tuple[str, ...]
    """Metrics whose scores it is made of."""
    measure: Callable[[Scores], Measured | None]
    version: str = "1"
    low: float | None = 0.0
    high: float | None = 1.0
    higher_is_better: bool | None = True
    """None where neither is good in itself."""

    @property
    def signature(self) -> str:
        """Name and version."""
        return f"{self.name}/{self.version}"


FIGURES: Registry[Figure] = Registry("figure", "evaluation.metrics")


def figure(
    **facts: Any,
) -> Callable[[Callable[[Scores], Measured | None]], Callable[[Scores], Measured | None]]:
    """Registers a function of many scores as the figure of its own name; None where it does not apply.

    Args:
        facts: Fields of `Figure`, at least `title` and `of`.
    """

    def register(measure: Callable[[Scores], Measured | None]) -> Callable[[Scores], Measured | None]:
        meaning = " ".join((measure.__doc__ or "").split())
        FIGURES.add(measure.__name__, Figure(measure.__name__, meaning=meaning, measure=measure, **facts))
        return measure

    return register


def mean_of(
    values: Sequence[float] | Values,
    clusters: Codes,
    detail: Mapping[str, Any] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Measured:
    """The mean of units, none outside the bounds, with its clustered interval."""
    found = clustered(np.asarray(values, dtype=float), clusters, bounds=bounds)
    return Measured(found.mean, found.low, found.high, found.items, {"se": found.se, **(detail or {})})
