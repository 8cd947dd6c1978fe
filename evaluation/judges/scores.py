"""Turns judgements into scores; the metric's name says whether people vouch for the judges."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from mihakk.evaluation.judges.asking import judged_of
from mihakk.evaluation.judges.rubrics import rubric_digest
from mihakk.evaluation.rows import answer_key
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.table.column import NOT_VOUCHED_FOR
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, AnswerStatus, Attempt, Judgement, Score
from mihakk.schemas.record import Record
from mihakk.schemas.rubric import Rubric

VERSION: Final = "1"
VOUCHED: Final = "vouched.json"
"""Beside the systems' folders: what people's scores said of the judges."""


class Vouched(Record):
    """Whether people's scores vouch for two judges on one rubric, and by how much."""

    rubric: str
    digest: str
    """Of the rubric."""
    judges: tuple[str, ...]
    """`<name>@<revision>` each: another revision is another judge."""
    kappa: float | None
    """Quadratic weighted kappa of the judges' mean and the people's."""
    low: float | None
    """Lower end of its interval (95 %)."""
    answers: int
    vouched: bool


_FILE: Final = TypeAdapter(tuple[Vouched, ...])


def load_vouched(folder: Path) -> tuple[Vouched, ...]:
    """What people's scores said of a suite's judges; nothing where nobody was asked.

    Raises:
        UsageError: The file was edited.
    """
    path = folder / VOUCHED
    if not path.is_file():
        return ()
    try:
        return _FILE.validate_json(path.read_bytes())
    except ValidationError as error:
        raise UsageError(f"{path} can't be read; run `mihakk evaluate vouch` again") from error


def save_vouched(folder: Path, found: Sequence[Vouched]) -> None:
    """Keeps what people's scores say of a suite's judges."""
    (folder / VOUCHED).write_bytes(_FILE.dump_json(tuple(found), indent=1) + b"\n")


class Panel(NamedTuple):
    """The judges of one rubric."""

    rubric: Rubric
    judges: tuple[str, ...]
    """`<name>@<revision>` each."""
    vouched: bool

    @property
    def metric(self) -> str:
        """Name of its figure, which says whether people vouch for it."""
        return f"judged_{self.rubric.name}" + ("" if self.vouched else NOT_VOUCHED_FOR)


def panel(judgements: Iterable[Judgement], rubric: Rubric) -> tuple[str, ...]:
    """The judges of a rubric, each with its revision."""
    return tuple(sorted({f"{one.judge}@{one.revision}" for one in judgements if one.rubric == rubric.name}))


def totals_of(
    rubric: Rubric, judgements: Iterable[Judgement], field: str = ""
) -> dict[str, dict[str, float]]:
    """Answer to judge to its total, or to its score of one field; only first askings, only usable replies."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for one in judgements:
        if one.rubric == rubric.name and one.repeat == 0 and one.scores:
            given = one.scores[field] if field else rubric.total_of(one.scores)
            found[one.answer][one.judge] = float(given)
    return dict(found)


def means_of(rubric: Rubric, judgements: Iterable[Judgement], judges: int) -> dict[str, float]:
    """Answer to the mean of its judges' totals, where all `judges` gave a usable reply."""
    totals = totals_of(rubric, judgements)
    return {
        answer: sum(by.values()) / len(by) for answer, by in totals.items() if len(by) == judges and judges
    }


def judged_scores(
    answers: Iterable[Answer],
    judgements: Sequence[Judgement],
    asked: Mapping[tuple[str, int], Asked],
    by: Panel,
) -> list[Score]:
    """One score per answer, the mean of the judges' totals, and one of each field that is not the total.

    An answer that is not there has the least value. Where a judge gave no usable reply there is no value: a
    mean of one judge would be another figure than that of two. What people vouch for are totals: no field is
    named as vouched for.
    """
    rubric = by.rubric
    digest = rubric_digest(rubric)
    judges = "+".join(by.judges)
    signature = f"judged_{rubric.name}/{VERSION}|rubric:{rubric.version}:{digest[:12]}|judges:{judges}"
    ours = [
        (answer, one)
        for answer in answers
        if (one := asked.get((answer.item, answer.variant))) is not None
        and rubric.judges(answer.kind, answer.task)
    ]
    rows = []
    for field, (metric, low, high) in _columns(by).items():
        totals = totals_of(rubric, judgements, field)
        for answer, one in ours:
            value, detail = _value(low, answer, one, totals, len(by.judges))
            rows.append(
                Score(
                    **{name: getattr(answer, name) for name in Attempt.model_fields},
                    metric=metric,
                    signature=signature,
                    scorer=f"judged/{VERSION}",
                    reader=f"judged/{VERSION}",
                    value=value,
                    low=float(low),
                    high=float(high),
                    higher_is_better=True,
                    status=_status(answer, one),
                    cut=answer.finish_reason == "length",
                    detail=json.dumps(detail, sort_keys=True),
                )
            )
    return rows


def _columns(by: Panel) -> dict[str, tuple[str, int, int]]:
    """The total (no name) and each other field: its metric and the ends of its scale."""
    rubric = by.rubric
    fields = {
        name: (f"judged_{rubric.name}_{name}{NOT_VOUCHED_FOR}", one.low, one.high)
        for name, one in rubric.fields.items()
        if name != rubric.total
    }
    return {"": (by.metric, rubric.low, rubric.high), **fields}


def is_vouched(rubric: Rubric, judges: tuple[str, ...], vouched: Iterable[Vouched]) -> bool:
    """Whether people's scores vouch for these very judges on this very rubric."""
    digest = rubric_digest(rubric)
    return any(
        one.vouched and one.rubric == rubric.name and one.digest == digest and one.judges == judges
        for one in vouched
    )


def _value(
    low: int, answer: Answer, asked: Asked, totals: Mapping[str, Mapping[str, float]], judges: int
) -> tuple[float | None, dict[str, Any]]:
    if judged_of(answer, asked) is None:
        return float(low), {"judges": {}}
    given = totals.get(answer_key(answer), {})
    if len(given) < judges or not given:
        return None, {"judges": given}
    spread = max(given.values()) - min(given.values())
    return sum(given.values()) / len(given), {"judges": given, "disagreement": spread}


def _status(answer: Answer, asked: Asked) -> AnswerStatus:
    if answer.error:
        return "error"
    if judged_of(answer, asked) is not None:
        return "read"
    return "refused" if answer.finish_reason == "content_filter" else "empty"
