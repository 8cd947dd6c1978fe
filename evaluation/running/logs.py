"""A system's stored answers and scores as logs that Inspect's viewer opens, one for each kind of question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from mihakk.evaluation.rows import answer_key, read_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.statistics.cluster import clustered, codes_of
from mihakk.machinery.ids import digest, sha256
from mihakk.schemas.evaluation import Answer, Question, Score
from mihakk.schemas.suite import Suite, System

SCORER: Final = "mihakk"
WRITTEN_OF: Final = "written_of"
"""File with the digest of the answers and scores that the logs beside it show."""
_STOPS: Final = {"length": "max_tokens", "content_filter": "content_filter", "stop": "stop"}
Row = tuple[Asked, Answer, dict[str, float]]
"""A question, its answer and the answer's figures."""


def write_logs(suite: Suite, system: System, rows: Sequence[tuple[Asked, Answer]], folder: Path) -> None:
    """Writes `inspect/<suite>_<kind>.eval` beside the answers and scores that lie in `folder`.

    Logs of the same answers and scores stand: to write thousands of samples takes longer than to score them.
    """
    from inspect_ai.log import write_eval_log

    tables = [sha256((folder / name).read_bytes()) for name in ("answers.parquet", "scores.parquet")]
    of, mark = folder / "inspect" / WRITTEN_OF, digest([suite.name, system.name, *tables])
    logs: dict[str, Path] = {
        kind: of.with_name(f"{suite.name}_{kind}.eval") for kind in {one.question.kind for one, _ in rows}
    }
    if of.is_file() and of.read_text("utf-8") == mark and all(log.is_file() for log in logs.values()):
        return
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for score in read_rows(folder / "scores.parquet", Score):
        if score.value is not None:
            figures[answer_key(score)][score.metric] = score.value
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for one, answer in rows:
        by_kind[one.question.kind].append((one, answer, figures.get(answer_key(answer), {})))
    for kind, own in by_kind.items():
        write_eval_log(_log(logs[kind].stem, system, own), logs[kind])
    of.parent.mkdir(exist_ok=True)
    of.write_text(mark, "utf-8")


def _log(name: str, system: System, rows: Sequence[Row]) -> Any:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSpec

    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            task=name,
            dataset=EvalDataset(name=name, samples=len(rows)),
            model=f"mihakk/{system.name}",
            config=EvalConfig(),
        ),
        results=EvalResults(total_samples=len(rows), completed_samples=len(rows), scores=_means(rows)),
        samples=[_sample(system, one, answer, values) for one, answer, values in rows],
    )


def _means(rows: Sequence[Row]) -> list[Any]:
    """Each metric's mean and clustered standard error over the answers that have it."""
    from inspect_ai.log import EvalMetric, EvalScore

    found = []
    for metric in dict.fromkeys(name for _, _, values in rows for name in values):
        own = [(one.question.group, values[metric]) for one, _, values in rows if metric in values]
        mean = clustered(np.array([value for _, value in own]), codes_of([group for group, _ in own]))
        metrics = {"mean": EvalMetric(name="mean", value=mean.mean)}
        if mean.se is not None:
            metrics["stderr"] = EvalMetric(name="stderr", value=mean.se)
        found.append(EvalScore(name=metric, scorer=SCORER, scored_samples=len(own), metrics=metrics))
    return found


def _sample(system: System, one: Asked, answer: Answer, values: dict[str, float]) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ChatMessageUser,
        ModelOutput,
        ModelUsage,
    )
    from inspect_ai.scorer import Score as Scored

    said = ChatMessageAssistant(content=answer.reply, source="generate", model=system.name)
    stop: Any = _STOPS.get(answer.finish_reason, "unknown")
    tokens = (answer.tokens_in or 0, answer.tokens_out or 0)
    usage = ModelUsage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    choices = [ChatCompletionChoice(message=said, stop_reason=stop)]
    target = _target(one.question)
    scored: Any = dict(values)
    return EvalSample(
        id=f"{one.name}/{answer.repeat}",
        epoch=1,
        input=one.whole,
        target=target,
        messages=[ChatMessageUser(content=one.prompt), said],
        output=ModelOutput(model=system.name, choices=choices, usage=usage, error=answer.error or None),
        scores={SCORER: Scored(value=scored, answer=answer.reply, explanation=target)} if scored else None,
        metadata={
            "item": one.question.item,
            "content_hash": one.question.content_hash,
            "wording": one.wording,
            "group": one.question.group,
            "pair_id": one.question.pair_id,
            "config": one.question.config,
            "template": f"{one.template}@{one.template_version}",
            "repeat": answer.repeat,
        },
    )


def _target(question: Question) -> str:
    if question.kind == "choice":
        return " ".join(question.labels[place] for place in question.gold)
    return question.answer or "\n".join(question.explanations)
