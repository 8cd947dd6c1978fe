"""This release's tasks for Inspect: `inspect eval <this file>`; part of the release itself.

Choices are answered in writing, as no chat server gives likelihoods. Errors are clustered by `group`: one
poem or idiom, with both orders of its options.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from inspect_ai import Task, task  # noqa: F401 - `task` marks the functions that a release adds below
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState, generate


def _harness() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "lm_eval" / "harness.py"
    spec = importlib.util.spec_from_file_location("mihakk_release_harness", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is missing: fetch the release again")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


HARNESS = _harness()
HARNESS.leave_nothing(globals().get("__spec__"))
_KEPT = ("content_hash", "group", "pair_id", "order", "task", "language", "dialect")
_SCORED = {
    "choice": ("labels", "gold", "options"),
    "selection": ("labels", "gold"),
    "answer": ("answer", "accepted"),
    "explanation": ("explanations", "overall"),
}
_LONGEST = {"choice": 16, "selection": 32, "answer": 128, "explanation": 1024}
"""Tokens of a reply; a model that thinks first needs more: `inspect eval --max-tokens`."""


@metric  # type: ignore[untyped-decorator]
def both_orders() -> Metric:
    """Share of pairs of which both orders of the options have the score 1; 0 where nothing is paired."""

    def figure(scores: list[SampleScore]) -> float:
        pairs = defaultdict(list)
        for one in scores:
            if name := (one.sample_metadata or {}).get("pair_id"):
                pairs[name].append(one.score.as_float())
        return sum(min(values) for values in pairs.values()) / len(pairs) if pairs else 0.0

    return figure


_CLUSTERED = [mean(), stderr(cluster="group")]


def _scorer(score: Callable[[dict[str, Any], list[str]], dict[str, float]]) -> Scorer:
    async def scored(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        return Score(value=score(state.metadata, [reply]), answer=reply, explanation=target.text)

    return scored


@scorer(metrics={"acc": [*_CLUSTERED, both_orders()], "unparsed": [mean()]})  # type: ignore[untyped-decorator]
def choice() -> Scorer:
    """Whether the label that a reply names is right; a reply that names no single one counts 0."""
    return _scorer(HARNESS.choice_scores)


@scorer(  # type: ignore[untyped-decorator]
    metrics={"exact_set": [*_CLUSTERED, both_orders()], "set_f1": _CLUSTERED, "unparsed": [mean()]}
)
def selection() -> Scorer:
    """Whether a reply lists exactly the right labels, and F1 of its list."""
    return _scorer(HARNESS.selection_scores)


@scorer(metrics={"exact": _CLUSTERED, "cer": _CLUSTERED, "empty": [mean()]})  # type: ignore[untyped-decorator]
def answer() -> Scorer:
    """Folded exact match and character error rate against the nearest accepted answer."""
    return _scorer(HARNESS.answer_scores)


@scorer(metrics={"chrf": _CLUSTERED, "empty": [mean()]})  # type: ignore[untyped-decorator]
def explanation() -> Scorer:
    """chrF against the reference, one figure a poem."""
    return _scorer(HARNESS.explanation_scores)


_SCORERS = {"choice": choice, "selection": selection, "answer": answer, "explanation": explanation}


def _target(kind: str, row: dict[str, Any]) -> str | list[str]:
    if kind == "choice":
        return [row["labels"][place] for place in row["gold"]]
    if kind == "selection":
        return ", ".join(row["labels"][place] for place in row["gold"])
    return str(row["answer"]) if kind == "answer" else str(HARNESS.reference(row))


def _samples(config: str, kind: str, split: str) -> MemoryDataset:
    import pyarrow.parquet as pq

    files = HARNESS.data_files(config)
    if split not in files:
        raise ValueError(f"{config} has no split {split!r}; there are: {', '.join(files)}")
    rows = [row for path in files[split] for row in pq.read_table(path).to_pylist()]
    samples = [
        Sample(
            id=row["id"],
            input=row["prompt"],
            target=_target(kind, row),
            metadata={name: row[name] for name in (*_KEPT, *_SCORED[kind]) if row.get(name) is not None}
            | {name: value for name, value in (row.get("metadata") or {}).items() if value},
        )
        for row in rows
    ]
    return MemoryDataset(samples, name=config, location=str(HARNESS.ROOT))


def _task(config: str, split: str) -> Task:
    pinned = HARNESS.pinned()
    kind = pinned["kinds"][config]
    splits = list(HARNESS.data_files(config))
    return Task(
        name=f"{pinned['name']}_{config}",
        version=pinned["version"],
        dataset=_samples(config, kind, split or ("test" if "test" in splits else splits[0])),
        solver=generate(),
        scorer=_SCORERS[kind](),
        config=GenerateConfig(temperature=0.0, max_tokens=_LONGEST[kind]),
        metadata={
            "release": pinned["name"],
            "version": pinned["version"],
            "readers": HARNESS.reader().READERS,
            "files": pinned["configs"][config],
        },
    )
