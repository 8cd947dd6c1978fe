"""This release's tasks for LightEval: `--custom-tasks <this file>`; part of the release itself.

The version stands in every task's name, so that LightEval's cache of predictions can't serve another one's.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from lighteval.metrics.metrics import Metrics  # type: ignore[import-not-found]
from lighteval.metrics.metrics_sample import SampleLevelComputation  # type: ignore[import-not-found]
from lighteval.metrics.utils.metric_utils import SampleLevelMetric  # type: ignore[import-not-found]
from lighteval.tasks.lighteval_task import LightevalTaskConfig  # type: ignore[import-not-found]
from lighteval.tasks.requests import Doc, SamplingMethod  # type: ignore[import-not-found]


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


def choice_prompt(line: dict[str, Any], task_name: str) -> Any:
    """A choice: its labels are what likelihoods are compared of."""
    return Doc(
        task_name=task_name,
        query=line["prompt"],
        choices=list(line["labels"]),
        gold_index=list(line["gold"]),
        specific={name: list(line[name]) for name in ("labels", "gold", "options")},
    )


def answer_prompt(line: dict[str, Any], task_name: str) -> Any:
    """A question answered in words."""
    right = [line["answer"], *line["accepted"]]
    return Doc(
        task_name=task_name,
        query=line["prompt"],
        choices=right,
        gold_index=list(range(len(right))),
        specific={name: line[name] for name in ("answer", "accepted", "language")},
    )


def explanation_prompt(line: dict[str, Any], task_name: str) -> Any:
    """A poem to be explained verse by verse."""
    return Doc(task_name=task_name, query=line["prompt"], choices=[HARNESS.reference(line)], gold_index=0)


class Scored(SampleLevelComputation):  # type: ignore[misc]
    """One figure of one of the release's own scoring functions."""

    def __init__(self, scores: str, figure: str) -> None:
        self.scores = scores
        self.figure = figure

    def compute(self, doc: Any, model_response: Any, **_: Any) -> float:
        """The figure for one reply."""
        return float(getattr(HARNESS, self.scores)(doc.specific, list(model_response.text))[self.figure])


def _metric(scores: str, figure: str, *, higher: bool = True) -> Any:
    return SampleLevelMetric(
        metric_name=figure,
        sample_level_fn=Scored(scores, figure),
        category=SamplingMethod.GENERATIVE,
        corpus_level_fn=np.mean,
        higher_is_better=higher,
    )


_WRITTEN = [_metric("choice_scores", "acc"), _metric("choice_scores", "unparsed", higher=False)]
_SELECTIONS = [
    _metric("selection_scores", "exact_set"),
    _metric("selection_scores", "set_f1"),
    _metric("selection_scores", "unparsed", higher=False),
]
_ANSWERS = [
    _metric("answer_scores", "exact"),
    _metric("answer_scores", "cer", higher=False),
    _metric("answer_scores", "empty", higher=False),
]
_BY_KIND: dict[str, list[tuple[str, Any, list[Any], int]]] = {
    "choice": [
        ("", choice_prompt, [Metrics.loglikelihood_acc], 1),
        ("_written", choice_prompt, _WRITTEN, 16),
    ],
    "selection": [("_written", choice_prompt, _SELECTIONS, 32)],
    "answer": [("", answer_prompt, _ANSWERS, 128)],
    "explanation": [("", explanation_prompt, [Metrics.chrf_plus], 1024)],
}


def _tasks(config: str) -> list[Any]:
    pinned = HARNESS.pinned()
    splits = list(HARNESS.data_files(config))
    scored = "test" if "test" in splits else splits[0]
    named = config if scored == "test" else f"{config}_{scored}"
    return [
        LightevalTaskConfig(
            name=f"{pinned['name']}-{pinned['version']}:{named}{suffix}",
            prompt_function=prompt,
            hf_repo=str(HARNESS.data_root()),
            hf_subset=config,
            metrics=metrics,
            hf_avail_splits=splits,
            evaluation_splits=[scored],
            few_shots_split="dev" if "dev" in splits and scored != "dev" else None,
            generation_size=size,
            stop_sequence=["\n\n"] if size < 1024 else [],
        )
        for suffix, prompt, metrics, size in _BY_KIND[pinned["kinds"][config]]
    ]


TASKS_TABLE = [task for config in HARNESS.pinned()["configs"] for task in _tasks(config)]
