"""Compares a suite's judges with people's scores: draws answers, computes agreement, corrects means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation.judges.asking import Judged, judged_of
from evaluation.judges.people import Drawn, PeopleScores, draw, load_drawn, read_people, write_drawn
from evaluation.judges.run import JudgeJob, cases_of, judgements_of, store_judged
from evaluation.judges.scores import Vouched, means_of, panel, save_vouched, totals_of
from evaluation.judges.validation import (
    AgreementWithPeople,
    CorrectedMean,
    Marks,
    Scored,
    agreement_rows,
    corrected_means,
    vouching,
    weights_of,
)
from evaluation.rows import answer_key, write_rows
from mihakk.errors import UsageError
from schemas.evaluation import Judgement
from schemas.rubric import Rubric

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
        weights = weights_of(drawn, [answer for name, answer in people if name == rubric.name], rubric.name)
        scored, marks = _material(job, rubric, people, weights, judged)
        met |= {(rubric.name, one.case.name) for one in scored}
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
    weights: Mapping[str, float],
    judged: Mapping[str, Sequence[Judgement]],
) -> tuple[list[Scored], list[Marks]]:
    """Every answer scored by people with what judges say of it, and all marks system by system."""
    everything = [one for own in judged.values() for one in own]
    questions, means = job.questions, means_of(rubric, everything, len(panel(everything, rubric)))
    scored, marks = [], []
    for system in job.systems:
        totals = totals_of(rubric, judged[system.name])
        answers = [one for one in job.answers(system) if rubric.judges(one.kind, one.task)]
        cases = [judged_of(one, questions[one.item, one.variant]) for one in answers]
        for case in cases:
            if case is not None and (given := people.get((rubric.name, case.name))):
                own = totals.get(case.name, {})
                scored.append(Scored(case, system.family, own, given, weights[case.name]))
        names = [answer_key(one) for one in answers]
        given_by = [people.get((rubric.name, name)) for name in names]
        judge = [
            float(rubric.low) if case is None else means.get(name)
            for name, case in zip(names, cases, strict=True)
        ]
        marks.append(
            Marks(
                model=system.name,
                answers=answers,
                judge=judge,
                there=[case is not None for case in cases],
                people=[one.mean if one else None for one in given_by],
                weights=[weights.get(name, 0.0) for name in names],
            )
        )
    return scored, marks
