"""Compares a suite's judges with people's scores: draws answers, computes agreement, corrects means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mihakk.evaluation.judges.asking import Judged, judged_of
from mihakk.evaluation.judges.people import (
    NOBODY,
    Drawn,
    PeopleScores,
    draw,
    load_drawn,
    read_people,
    write_drawn,
)
from mihakk.evaluation.judges.run import JudgeJob, cases_of, judgements_of, store_judged
from mihakk.evaluation.judges.scores import Vouched, means_of, panel, save_vouched, totals_of
from mihakk.evaluation.judges.validation import (
    AgreementWithPeople,
    CorrectedMean,
    Marks,
    Scored,
    agreement_rows,
    corrected_means,
    vouching,
    weights_of,
)
from mihakk.evaluation.rows import answer_key, write_rows
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Judgement
from mihakk.schemas.rubric import Rubric

AGREEMENT = "agreement.parquet"
CORRECTED = "corrected.parquet"


class Held(NamedTuple):
    """What people's scores say."""

    agreement: list[AgreementWithPeople]
    corrected: list[CorrectedMean]
    vouched: list[Vouched]
    unknown: int
    """Scores of answers that no judged system gave."""


def draw_for_people(job: JudgeJob, count: int) -> tuple[int, Path]:
    """Draws `count` answers of each rubric for people; returns how many there are, and the file to show them.

    Raises:
        UsageError: Nobody has judged yet.
    """
    cases = cases_of(job)
    judged = [one for system in job.systems for one in judgements_of(job, system)]
    drawn: list[tuple[Drawn, Judged]] = []
    for rubric in job.rubrics:
        own = {system.name: cases[system.name, rubric.name] for system in job.systems}
        means = means_of(rubric, judged, len(panel(judged, rubric)))
        drawn += draw(own, means, rubric, count)
    return len(drawn), write_drawn(job.out, drawn, {one.name: one for one in job.rubrics})


def vouch(job: JudgeJob, table: Path) -> Held:
    """Compares the judges with people, corrects the means, and names the judges' figures accordingly.

    Raises:
        UsageError: The table does not fit, holds no score of these answers, or nobody has judged yet.
    """
    rubrics = {one.name: one for one in job.rubrics}
    people = read_people(table, rubrics)
    drawn = load_drawn(job.out)
    judged = {one.name: judgements_of(job, one) for one in job.systems}
    agreement: list[AgreementWithPeople] = []
    corrected: list[CorrectedMean] = []
    vouched = []
    met: set[tuple[str, str]] = set()
    for rubric in job.rubrics:
        by = panel((one for own in judged.values() for one in own), rubric)
        scored, marks = _material(job, rubric, people, drawn, judged)
        met |= {(rubric.name, one.case.name) for one in scored if one.people.by}
        rows = agreement_rows(rubric, scored, [one.partition("@")[0] for one in by], job.suite.seed)
        agreement += rows
        corrected += corrected_means(rubric, marks, job.suite.seed)
        vouched.append(vouching(rubric, rows, by))
    if not met:
        raise UsageError(
            f"{table} scores no answer of this suite: `answer` is the id that for_people.jsonl gives "
            f"(`mihakk evaluate vouch {job.suite.name} --draw 200`)"
        )
    write_rows(job.out / AGREEMENT, agreement, AgreementWithPeople)
    write_rows(job.out / CORRECTED, corrected, CorrectedMean)
    save_vouched(job.out, vouched)
    store_judged(job)
    return Held(agreement, corrected, vouched, len(people) - len(met))


def _material(
    job: JudgeJob,
    rubric: Rubric,
    people: Mapping[tuple[str, str], PeopleScores],
    drawn: Mapping[tuple[str, str], Drawn],
    judged: Mapping[str, Sequence[Judgement]],
) -> tuple[list[Scored], list[Marks]]:
    """Every answer drawn or scored by people with what judges say of it, and all marks system by system."""
    told = {name: given for (of, name), given in people.items() if of == rubric.name}
    asked = {name for of, name in drawn if of == rubric.name} | told.keys()
    weights, whole = (weights_of(drawn, names, rubric.name) for names in (told, asked))
    needed = max((len(one.by) for one in told.values()), default=0)
    everything = [one for own in judged.values() for one in own]
    questions, means = job.questions, means_of(rubric, everything, len(panel(everything, rubric)))
    scored: list[Scored] = []
    marks: list[Marks] = []
    for system in job.systems:
        totals = totals_of(rubric, judged[system.name])
        answers = [one for one in job.answers(system) if rubric.judges(one.kind, one.task)]
        cases = [judged_of(one, questions[one.item, one.variant]) for one in answers]
        mine = {}
        for case in cases:
            if case is not None and case.name in asked:
                given = told.get(case.name, NOBODY)
                mine[case.name] = Scored(
                    case,
                    system.family,
                    totals.get(case.name, {}),
                    given,
                    weights.get(case.name, 0.0),
                    drawn=whole[case.name],
                    lacks=needed - len(given.by),
                )
        scored += mine.values()
        names = [answer_key(one) for one in answers]
        judge = [
            float(rubric.low) if case is None else means.get(name)
            for name, case in zip(names, cases, strict=True)
        ]
        told_by = [mine.get(name) for name in names]
        own = Marks(system.name, answers, judge, [case is not None for case in cases], *_people(told_by))
        if any(one.lacks for one in mine.values()):
            ends = [
                _people([one and one.with_people(end) for one in told_by])
                for end in (rubric.low, rubric.high)
            ]
            own = own._replace(
                filled=tuple(own._replace(people=given, weights=weight) for given, weight in ends)
            )
        marks.append(own)
    return scored, marks


def _people(scored: Sequence[Scored | None]) -> tuple[list[float | None], list[float]]:
    """Answer by answer, what people gave and how many answers it stands for."""
    return (
        [one.people.mean if one and one.people.by else None for one in scored],
        [one.weight if one else 0.0 for one in scored],
    )
