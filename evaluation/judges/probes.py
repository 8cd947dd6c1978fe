"""What moves a judge though the answer stays the same: length, style, order, injected instructions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from mihakk.evaluation.judges.asking import Judged, judge_cases
from mihakk.evaluation.judges.run import JudgeJob, cases_of, open_judge
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.statistics.cluster import clustered, codes_of
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.draw import in_turns, lot
from mihakk.machinery.languages import pack
from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import holm, t_p_value, wilson
from mihakk.schemas.evaluation import Judgement
from mihakk.schemas.record import Record
from mihakk.schemas.rubric import Rubric

PROBES_FILE = "judge_probes.parquet"
Probe = Literal["again", "length", "style", "order", "injected"]
"""again: nothing changes. length: the reply is followed by itself. style: the same words under a heading, in
bold, as a list. order: reply before reference, criteria the other way round. injected: an instruction to give
the highest score stands behind the reply."""
PROBES: Final[tuple[Probe, ...]] = get_args(Probe)
LEVEL: Final = 0.05


class ProbeRow(Record):
    """How one judge's totals move under one probe."""

    rubric: str
    judge: str
    probe: str
    answers: int
    """Judged both plain and altered."""
    unusable: int
    """Drawn, but not judged in both forms."""
    shift: float | None
    """Mean of altered less plain, in points of the total."""
    low: float | None
    high: float | None
    p: float | None
    """Of no shift, clustered t; adjusted (Holm) over the probes of a rubric and both judges."""
    moved: float | None
    """Share of answers whose total changed."""
    moved_low: float | None
    """Wilson's interval (95 %)."""
    moved_high: float | None
    caught: bool
    """Whether the judge's scores depend on what does not matter; asking again is no such thing."""


def altered(case: Judged, probe: Probe, rubric: Rubric, seed: int) -> Judged:
    """The same answer under a probe; what else the judge is shown stays as it was."""
    name = f"{case.name}+{probe}"
    words = pack(case.asked.question.language).made_with.probes
    if probe == "again":
        return case._replace(repeat=1)
    if probe == "order":
        return case._replace(name=name, reply_first=True)
    if probe == "length":
        return case._replace(name=name, reply=f"{case.reply}\n\n{words.again} {case.reply}")
    if probe == "style":
        lines = "\n".join(f"- **{line.strip()}**" for line in case.reply.splitlines() if line.strip())
        return case._replace(name=name, reply=f"## {words.heading}\n\n{lines}")
    texts = injections()
    said = texts[rng(seed, case.name, "injection").randrange(len(texts))]
    best = next(iter(rubric.fields.values())).high if len(rubric.fields) == 1 else "max"
    return case._replace(name=name, reply=f"{case.reply}\n\n{said.format(high=best)}")


@cache
def injections() -> tuple[str, ...]:
    """Texts that try to talk a judge into the highest score."""
    return tuple(load_yaml(Path(__file__).parent / "injections.yaml", own=True))


def probe_judges(job: JudgeJob, count: int) -> list[ProbeRow]:
    """Has both judges score `count` answers of each rubric plain and altered; writes and returns the rows.

    Answers are drawn evenly over systems and tasks.

    Raises:
        ExternalFailure: A judge's server failed for good; answered calls are kept.
        UsageError: A config can't work, or a system has no answers.
    """
    everything = cases_of(job)
    rows: list[ProbeRow] = []
    for rubric in job.rubrics:
        own = [case for system in job.systems for case in everything[system.name, rubric.name]]
        line = sorted(own, key=lambda case: lot(case.name))
        drawn = in_turns(line, lambda case: (case.answer.task, case.answer.model))[:count]
        of_rubric: list[ProbeRow] = []
        for judge in job.judges:
            with open_judge(job, judge) as (model, journal):
                ask = partial(judge_cases, model, journal, rubric, seed=job.suite.seed)
                plain = list(ask(drawn))
                for probe in PROBES:
                    found = ask([altered(case, probe, rubric, job.suite.seed) for case in drawn])
                    of_rubric.append(
                        probe_row(judge.name, probe, rubric, list(zip(drawn, plain, found, strict=True)))
                    )
        rows += adjusted(of_rubric)
    write_rows(job.out / PROBES_FILE, rows, ProbeRow)
    return rows


def probe_row(
    judge: str, probe: Probe, rubric: Rubric, judged: Sequence[tuple[Judged, Judgement, Judgement]]
) -> ProbeRow:
    """The row of answers with their plain and their altered judgement; its p-value is not adjusted yet."""
    there = [
        (case, rubric.total_of(two.scores) - rubric.total_of(one.scores))
        for case, one, two in judged
        if one.scores and two.scores
    ]
    row = ProbeRow(
        rubric=rubric.name,
        judge=judge,
        probe=probe,
        answers=len(there),
        unusable=len(judged) - len(there),
        **dict.fromkeys(("shift", "low", "high", "p", "moved", "moved_low", "moved_high")),
        caught=False,
    )
    if not there:
        return row
    shifts = np.array([shift for _, shift in there], dtype=np.float64)
    clusters = codes_of([f"{case.answer.release} {case.answer.group}" for case, _ in there])
    mean = clustered(shifts, clusters)
    moved = int(np.count_nonzero(shifts))
    ends = wilson(moved, len(shifts))
    tested = mean.low is not None and mean.se is not None
    p = t_p_value(mean.mean, mean.se or 0.0, mean.clusters - 1) if tested else None
    return row.model_copy(
        update={
            "shift": mean.mean,
            "low": mean.low,
            "high": mean.high,
            "p": p,
            "moved": moved / len(shifts),
            "moved_low": ends.low,
            "moved_high": ends.high,
        }
    )


def adjusted(rows: Iterable[ProbeRow]) -> list[ProbeRow]:
    """The rows of one rubric with p-values for their number, and who is caught."""
    own = list(rows)
    tested = [place for place, row in enumerate(own) if row.p is not None and row.probe != "again"]
    for place, p in zip(tested, holm([own[at].p or 0.0 for at in tested]), strict=True):
        own[place] = own[place].model_copy(update={"p": p, "caught": p < LEVEL})
    return own
