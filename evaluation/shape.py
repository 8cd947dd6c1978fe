"""What table a suite is going to give, worked out from its questions before one of them is asked."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from mihakk.evaluation.adapters.adapter import ADAPTERS
from mihakk.evaluation.judges.rubrics import rubrics_of
from mihakk.evaluation.judges.run import load_judges
from mihakk.evaluation.metrics.metric import known_metric
from mihakk.evaluation.published import figures_of
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.running.likelihood import has_likelihoods, model_arguments
from mihakk.evaluation.scoring import DEFAULT, metrics_named
from mihakk.evaluation.table.column import ColumnKey
from mihakk.evaluation.table.overall import Averaging
from mihakk.machinery.errors import UsageError
from mihakk.machinery.llm.model import needed_key
from mihakk.schemas.evaluation import Method, Question
from mihakk.schemas.suite import Part, PublishedFigures, Suite, System


class Shape(NamedTuple):
    """The table that a suite is going to give."""

    averaged: tuple[ColumnKey, ...]
    """Columns that stand for their tasks in averages."""
    averages: str
    """Which metrics stand for which category: `understanding (accuracy), recall (exact)`."""
    notes: tuple[str, ...]
    """What the suite names and nothing asks."""


def shape_of(
    suite: Suite, systems: Sequence[System], asked: Sequence[Asked], method: Method = "written"
) -> Shape:
    """Checks all that a table needs, by the rules that make it; asks no model.

    Raises:
        UsageError: A metric is unknown or not installed, a task has no category or no main metric, configs
            can't be compared, a system lacks its key or gives no likelihoods, or judges, their prices or
            rubrics don't fit.
    """
    questions = {
        one.question.item: one.question for one in asked if method == "written" or has_likelihoods(one)
    }
    if not questions:
        raise UsageError(f"{suite.name} asks nothing that can be had by `--method {method}`")
    for system in systems:
        needed_key(system)
        if method == "likelihood":
            model_arguments(system)
    try:
        columns = _columns(suite, questions.values(), method)
        averaged, categories = Averaging.of(suite).parts(columns)
        notes = _unasked(suite, {one.question.task for one in asked})
        notes += _uncounted(averaged, questions.values())
        for first, second in suite.compare:
            notes += _unshared(first, second, questions.values())
    except UsageError as error:
        raise UsageError(f"{suite.name}: {error}") from None
    for figures in suite.published:
        notes += _beside(figures, columns)
    for part in suite.parts:
        notes += unread(part)
    if suite.judges is not None:
        load_judges(suite, systems)
        rubrics_of(suite.judges, {(one.kind, one.task) for one in questions.values()})
    metrics: dict[str, dict[str, None]] = {}
    for column in averaged:
        metrics.setdefault(categories[column.task], {})[column.metric.name] = None
    averages = ", ".join(f"{name} ({', '.join(own)})" for name, own in sorted(metrics.items()))
    return Shape(tuple(averaged), averages, tuple(notes))


def unread(part: Part) -> list[str]:
    """Files beside a published benchmark's that look like more of it and that its adapter does not read."""
    if not part.adapter or not (adapter := ADAPTERS.get(part.adapter)).like:
        return []
    folder = Path(os.path.expandvars(part.data))
    others = sorted(
        {path.name for path in folder.glob(adapter.like)} - {one.name for one in adapter.files(folder)}
    )
    return [f"{adapter.title}: not read: {', '.join(others)}"] if others else []


def _columns(suite: Suite, questions: Collection[Question], method: Method) -> list[ColumnKey]:
    metrics = metrics_named(suite.metrics or DEFAULT, suite.metric_options)
    found: dict[tuple[str, ...], ColumnKey] = {}
    for one in questions:
        facts = (one.release, one.config, one.task, one.kind, one.ability)
        applying = [metric for metric in metrics if metric.applies(one, method)]
        if not applying:
            names = ", ".join(metric.name for metric in metrics)
            raise UsageError(
                f"none of its metrics ({names}) scores what {one.config} asks ({one.kind}, {one.ability}): "
                "name one under `metrics`, or leave the task out by the part's `only`"
            )
        found |= {(*facts, metric.name): ColumnKey(*facts, metric, method) for metric in applying}
    for metric in metrics:
        if any(column.metric is metric for column in found.values()):
            _ = metric.signature  # refuses where a library that it needs is not installed
    return list(found.values())


def _uncounted(averaged: Sequence[ColumnKey], questions: Collection[Question]) -> list[str]:
    """Data sets some of whose questions the metric that is averaged has no figure of."""
    told = []
    for column in averaged:
        own = [
            one
            for one in questions
            if one.ability != "probe" and (one.release, one.config, one.task, one.kind) == column.data_set
        ]
        if left := sum(not column.metric.applies(one, column.method) for one in own):
            told.append(
                f"{column.config}: {left:,} of {len(own):,} questions stand in no average "
                f"({column.metric.name} has no figure of them)"
            )
    return told


def _unasked(suite: Suite, tasks: Set[str]) -> list[str]:
    if unknown := sorted(suite.main.keys() - tasks):
        raise UsageError(
            f"`main` names {unknown[0]!r}, which no part asks; tasks: {', '.join(sorted(tasks))}"
        )
    named = {task for members in suite.categories.values() for task in members}
    missing = sorted(named - tasks)
    return [f"in `categories` and asked by no part: {', '.join(missing)}"] if missing else []


def _unshared(first: str, second: str, questions: Collection[Question]) -> list[str]:
    records = {
        config: {one.slices.get("record") for one in questions if one.config == config}
        for config in (first, second)
    }
    for config, found in records.items():
        if not found:
            known = ", ".join(sorted({one.config for one in questions}))
            raise UsageError(f"`compare` names {config!r}, which no part asks; there are: {known}")
    shared = (records[first] & records[second]) - {None}
    return [] if shared else [f"{first} and {second} share no record that is asked: not compared"]


def _beside(figures: PublishedFigures, columns: Sequence[ColumnKey]) -> list[str]:
    figures_of(figures)
    if figures.beside == "overall":
        return []
    config, _, metric = figures.beside.rpartition(" ")
    if not config or known_metric(metric) is None:
        raise UsageError(
            f"published, {figures.table}: `beside: {figures.beside}` is neither `overall` nor CONFIG METRIC"
        )
    if any((column.config, column.metric.name) == (config, metric) for column in columns):
        return []
    return [f"{figures.paper}, {figures.table} stands beside {figures.beside}, which no part asks"]
