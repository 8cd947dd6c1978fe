"""Whether a program passes its problem's tests."""

from __future__ import annotations

from collections.abc import Sequence

from mihakk.evaluation.metrics.metric import Case, Options, Scored, batch_metric
from mihakk.machinery.sandbox import Limits, Trial, memory_held_by, run_trials
from mihakk.validators.code.problem import completed


@batch_metric(title="Solved", kinds=("code",), options={"seconds": "10"})
def solved(cases: Sequence[Case], options: Options) -> list[Scored]:
    """1 where the reply's program passes all of its problem's tests, run in the sandbox within so many
    `seconds` of wall clock; pass@k are figures of it.
    """
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
    return [
        Scored(float(one.passed), {"status": one.status, "why": one.detail, "memory": memory_held_by()})
        for one in outcomes
    ]
