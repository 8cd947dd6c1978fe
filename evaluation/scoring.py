"""Turns stored replies into scores: a function of rows that asks no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mihakk.evaluation.declared_labels import as_asked
from mihakk.evaluation.metrics.metric import METRICS, Case, Metric, Scored
from mihakk.evaluation.reading import read, reader_of, status_of
from mihakk.evaluation.rows import read_batches, write_batches
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, AnswerStatus, Attempt, Method, Question, Score

Questions = Mapping[str, Question]
"""By item id."""

DEFAULT: tuple[str, ...] = (
    *("accuracy", "exact_set", "gold_mass", "recall", "exact", "cer", "chrf"),
    *("continued", "canary_named", "solved"),
)
"""Metrics that every suite has; all of them need nothing beyond the extra `eval`."""
_ATTEMPT = tuple(Attempt.model_fields)
_READ = (*_ATTEMPT, "reply", "finish_reason", "likelihoods", "error")
_READING = ("item", "content_hash", "prompt", "method", "reply", "finish_reason", "likelihoods", "error")


class _Answered(NamedTuple):
    """One answer after it was read."""

    case: Case
    method: Method
    status: AnswerStatus
    cut: bool


def metrics_named(names: Iterable[str], options: Mapping[str, Mapping[str, str | int]] = {}) -> list[Metric]:
    """Metrics by name, each once, with what is set otherwise than by default.

    Raises:
        UsageError: There is no such metric, or it can't be set so.
    """
    found = {name: METRICS.get(name) for name in names}
    for name, own in options.items():
        if name not in found:
            raise UsageError(f"metric_options: {name!r} is none of the metrics ({', '.join(found)})")
        found[name] = found[name].with_options(own)
    return list(found.values())


def score_file(answers: Path, questions: Questions, metrics: Sequence[Metric], out: Path) -> Counter[str]:
    """Scores a file of answers into a file of scores, batch by batch.

    Returns:
        How many answers had each status, `answers` and `scores` in all.

    Raises:
        UsageError: An answer is to an item that is not among the questions, or that has changed since; or a
            file is missing or no table of answers.
    """
    counts: Counter[str] = Counter()

    def scored() -> Iterator[Any]:
        for batch in read_batches(answers, Answer, _READ):
            try:
                yield from score_batch(batch, questions, metrics, counts)
            except UsageError as error:
                raise UsageError(f"{answers}: {error}") from error

    counts["scores"] = write_batches(out, scored(), Score)
    return counts


def score_batch(
    batch: Any, questions: Questions, metrics: Sequence[Metric], counts: Counter[str] | None = None
) -> Iterator[Any]:
    """Scores of an Arrow batch of answers, one a metric that applies; `counts` is added to, by status."""
    answered = _read(batch, questions)
    if counts is not None:
        counts.update(one.status for one in answered)
        counts["answers"] += len(answered)
    for metric in metrics:
        applies = _applies(metric)
        places = [place for place, one in enumerate(answered) if applies(one.case.question, one.method)]
        if places:
            yield _scores(batch, metric, places, [answered[place] for place in places])


def _read(batch: Any, questions: Questions) -> list[_Answered]:
    columns = (batch.column(name).to_pylist() for name in _READING)
    answered = []
    for item, content_hash, prompt, method, reply, finish, likelihoods, error in zip(*columns, strict=True):
        question = as_asked(_question(item, content_hash, questions), prompt)
        is_cut = finish == "length"
        said, chances = ("", ()) if error else (reply, tuple(likelihoods or ()))
        reading = read(question, method, said, chances, cut=is_cut)
        status = status_of(reading, said, finish, error)
        answered.append(_Answered(Case(question, reading, said, chances), method, status, is_cut))
    return answered


def _question(item: str, content_hash: str, questions: Questions) -> Question:
    question = questions.get(item)
    if question is None:
        raise UsageError(
            f"there is an answer to {item!r}, which is not among the {len(questions):,} questions: "
            "score it with the release it was asked from"
        )
    if question.content_hash != content_hash:
        raise UsageError(
            f"{item!r} has changed since it was asked (content {content_hash[:12]}, now "
            f"{question.content_hash[:12]}): score it with the version it was asked from, or ask again"
        )
    return question


def _applies(metric: Metric) -> Callable[[Question, Method], bool]:
    """`metric.applies`, worked out once a question."""
    known: dict[tuple[int, str], bool] = {}

    def applies(question: Question, method: Method) -> bool:
        name = (id(question), method)
        if name not in known:
            known[name] = metric.applies(question, method)
        return known[name]

    return applies


def _scores(batch: Any, metric: Metric, places: list[int], answered: list[_Answered]) -> Any:
    """One metric's rows: what is known of the answers is taken over as it stands."""
    import pyarrow as pa

    from mihakk.machinery.lake.columns import arrow_schema

    scored = _score(metric, answered)
    size = len(places)
    readings = [one.case.reading for one in answered]
    found: dict[str, Any] = {
        "metric": pa.repeat(metric.name, size),
        "signature": pa.repeat(metric.signature, size),
        "scorer": pa.repeat(f"{metric.name}/{metric.version}", size),
        "reader": [reader_of(one.case.question, one.method) for one in answered],
        "value": [one.value for one in scored],
        "low": pa.repeat(pa.scalar(metric.low, pa.float64()), size),
        "high": pa.repeat(pa.scalar(metric.high, pa.float64()), size),
        "higher_is_better": pa.repeat(metric.higher_is_better, size),
        "status": [one.status for one in answered],
        "cut": [one.cut for one in answered],
        "rule": [one.rule for one in readings],
        "notes": [one.notes for one in readings],
        "detail": [orjson.dumps(one.detail).decode() for one in scored],
    }
    schema = arrow_schema(Score)
    taken = batch.select(list(_ATTEMPT)).take(pa.array(places))
    found |= {name: taken.column(name) for name in _ATTEMPT}
    columns = [
        pa.array(values, type=field.type) if isinstance(values := found[field.name], list) else values
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _score(metric: Metric, answered: list[_Answered]) -> list[Scored]:
    """Scores in order; what could not be read has the metric's worst value."""
    reads_all = metric.raw or metric.total is not None
    asked = [one.case for one in answered if reads_all or one.case.reading.found]
    scored = iter(metric.score(asked))
    worst = Scored(metric.worst, {})
    return [
        next(scored) if reads_all or one.case.reading.found else _unread(one.case, worst) for one in answered
    ]


def _unread(case: Case, worst: Scored) -> Scored:
    """The worst value, with what figures over many answers need to know of an answer that was not read."""
    question = case.question
    if question.kind != "choice":
        return worst
    return worst._replace(detail={"pick": None, "gold": question.gold, "options": len(question.options)})
