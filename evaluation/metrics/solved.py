"""Whether a program passes its problem's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.metrics.metric import Case, Options, Scored, batch_metric
from mihakk.sandbox import Limits, Trial, run_trials
from validators.code.problem import completed

SECONDS: Final = "10"


def _solved(cases: Sequence[Case], options: Options) -> list[Scored]:
    trials = [
        Trial(
            completed(case.question.prompt, case.reading.text, case.question.entry_point),
            case.question.tests,
            case.question.entry_point,
            case.question.prompt,
        )
        for case in cases
    ]
    outcomes = run_trials(trials, Limits(seconds=float(options["seconds"])))
    return [Scored(float(one.passed), {"status": one.status, "why": one.detail}) for one in outcomes]


batch_metric(
    name="solved",
    title="Solved",
    meaning="1 where the reply's program passes all of its problem's tests, run in the sandbox within so "
    "many `seconds` of wall clock; pass@k are figures of it.",
    kinds=("code",),
    score=_solved,
    options={"seconds": SECONDS},
    slow=True,
)
