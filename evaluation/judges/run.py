"""A suite's judges on its systems' stored replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mihakk.evaluation.judges.asking import Judged, asked_again, judge_cases, judged_of, open_request
from mihakk.evaluation.judges.rubrics import rubrics_of
from mihakk.evaluation.judges.scores import Panel, is_vouched, judged_scores, load_vouched, means_of, panel
from mihakk.evaluation.judges.style import STYLE_FILE, StyleRow, style_rows
from mihakk.evaluation.rows import read_rows, write_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.running.run import Plan, planned
from mihakk.evaluation.running.suites import load_priced
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.budget import LETTERS_A_TOKEN, BudgetSpent, Cap, Meter
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import Model, open_model
from mihakk.machinery.llm.spending import FOLDER, Ledger
from mihakk.machinery.settings import Settings
from mihakk.schemas.evaluation import Answer, Judgement, Score
from mihakk.schemas.rubric import Rubric
from mihakk.schemas.suite import Suite, SuiteJudges, System

JUDGEMENTS = "judgements.parquet"
JUDGED = "judged.parquet"
"""The judges' scores of one system, beside its other scores."""


class JudgeJob(NamedTuple):
    """Who judges what."""

    suite: Suite
    asked: Sequence[Asked]
    systems: Sequence[System]
    """Those that are judged."""
    judges: tuple[System, ...]
    out: Path
    """The suite's folder."""
    store: Settings

    @property
    def questions(self) -> dict[tuple[str, int], Asked]:
        """Item and wording to question."""
        return {(one.question.item, one.wording): one for one in self.asked}

    @property
    def rubrics(self) -> list[Rubric]:
        """Those of the suite.

        Raises:
            UsageError: One is not there, or judges nothing that is asked.
        """
        kinds = {(one.question.kind, one.question.task) for one in self.asked}
        return rubrics_of(judges_of(self.suite), kinds)

    def answers(self, system: System) -> list[Answer]:
        """The stored answers of a system to what is asked.

        Raises:
            UsageError: It has none yet.
        """
        path = self.out / system.name / "answers.parquet"
        if not path.is_file():
            raise UsageError(
                f"{system.name} has no answers in {self.out}: "
                f"run `mihakk evaluate run {self.suite.name} --model {system.name}` first"
            )
        questions = self.questions
        return [one for one in read_rows(path, Answer) if (one.item, one.variant) in questions]


def judges_of(suite: Suite) -> SuiteJudges:
    """The judges a suite names.

    Raises:
        UsageError: It names none.
    """
    if suite.judges is None:
        raise UsageError(f"{suite.name} names no judges: add `judges: {{by: [NAME, NAME], rubrics: [NAME]}}`")
    return suite.judges


def load_judges(suite: Suite, systems: Sequence[System]) -> tuple[System, ...]:
    """The judges of a suite: two, or one.

    Raises:
        UsageError: They are of one family, one is of a judged system's, or one has no price for a limit.
    """
    named = judges_of(suite)
    judges = load_priced(named.by, suite, "judges.budget")
    if len(judges) > 1 and len({one.family.casefold() for one in judges}) == 1:
        raise UsageError(
            f"{suite.name}: both judges are of the family {judges[0].family!r}; "
            "name two of different families"
        )
    for judge in judges:
        if (own := _relatives(judge, systems)) and not named.own_family:
            raise UsageError(
                f"{suite.name}: the judge {judge.name} is of the family {judge.family!r}, and so is "
                f"{', '.join(own)}: a judge favours its own family. Name another judge, or "
                "judge other systems (`--model`), or have the table mark it (`judges: {own_family: true}`)"
            )
    return tuple(_exact(one, named.reply_tokens) for one in judges)


def marks_of(suite: Suite, systems: Sequence[System]) -> list[str]:
    """What a table has to say of the judges: that there is one, and whose family it judged."""
    if suite.judges is None:
        return []
    judges = load_priced(suite.judges.by, suite, "judges.budget")
    told = [f"Judged by one judge alone, {judges[0].name}."] if len(judges) == 1 else []
    if suite.judges.published:
        told.append("Judges were asked in the authors' own words.")
    return told + [
        f"The judge {judge.name} judged systems of its own family: {', '.join(own)}."
        for judge in judges
        if (own := _relatives(judge, systems))
    ]


def _relatives(judge: System, systems: Sequence[System]) -> list[str]:
    return [one.name for one in systems if one.family.casefold() == judge.family.casefold()]


@contextmanager
def open_judge(job: JudgeJob, judge: System) -> Iterator[tuple[Model, Journal]]:
    """A judge with its journal, within the suite's budget.

    Raises:
        ExternalFailure: The budget is spent; it says how much of what is judged and what is not.
    """
    cap = Cap((judge.name,), judges_of(job.suite).budget, "judges.budget")
    with (
        Journal(job.out / "journal", judge.name) as journal,
        Ledger(job.out / FOLDER) as ledger,
        open_model(judge, job.store, meter=Meter(judge, ledger, [cap])) as model,
    ):
        try:
            yield model, journal
        except BudgetSpent as spent:
            raise ExternalFailure(f"{spent}. {_progress(job, model, journal)}") from None


def _progress(job: JudgeJob, model: Model, journal: Journal) -> str:
    """How many answers of each system a judge has judged by each rubric."""
    cases, again, seed = cases_of(job), judges_of(job.suite).asked_again, job.suite.seed
    rubrics = {rubric.name: rubric for rubric in job.rubrics}
    parts = []
    for (system, name), answers in cases.items():
        own = asked_again(answers, again, seed)
        done = sum(open_request(model, journal, rubrics[name], case, seed) is None for case in own)
        parts.append(f"{system} by {name}: {done:,} of {len(own):,}")
    first, *others = (one.name for one in job.judges)
    for second in others:
        parts.append(f"{second} has not begun" if model.config.name == first else f"{first} is done")
    return f"Judged: {'; '.join(parts)}. Scores are written once {'both are' if others else 'it is'} done"


def judge_suite(job: JudgeJob, answered: Callable[[System], None] = lambda _: None) -> Counter[str]:
    """Asks both judges everything that the journal does not hold, then writes judgements and scores.

    Returns:
        Judgements by status, and `judgements` in all.

    Raises:
        ExternalFailure: A judge's server failed for good or its budget is spent; answered calls are kept.
        UsageError: A config can't work, or a system has no answers.
    """
    cases = cases_of(job)
    found: dict[str, list[Judgement]] = {system.name: [] for system in job.systems}
    again = judges_of(job.suite).asked_again
    for judge in job.judges:
        with open_judge(job, judge) as (model, journal):
            for rubric in job.rubrics:
                for system in job.systems:
                    own = asked_again(cases[system.name, rubric.name], again, job.suite.seed)
                    found[system.name] += judge_cases(
                        model, journal, rubric, own, seed=job.suite.seed, answered=partial(answered, judge)
                    )
    counts: Counter[str] = Counter()
    for system in job.systems:
        write_rows(job.out / system.name / JUDGEMENTS, found[system.name], Judgement)
        counts.update(one.status for one in found[system.name])
        counts["judgements"] += len(found[system.name])
    store_judged(job)
    rows = []
    for rubric in job.rubrics:
        by = panel((one for own in found.values() for one in own), rubric)
        means = means_of(rubric, (one for own in found.values() for one in own), len(by))
        rows += style_rows(
            rubric, [case for one in job.systems for case in cases[one.name, rubric.name]], means
        )
    write_rows(job.out / STYLE_FILE, rows, StyleRow)
    return counts


def store_judged(job: JudgeJob) -> None:
    """Writes the judges' scores from stored judgements, named by what people have said of the judges."""
    vouched, questions = load_vouched(job.out), job.questions
    stored = {system.name: judgements_of(job, system) for system in job.systems}
    everything = [one for judgements in stored.values() for one in judgements]
    panels = {rubric.name: panel(everything, rubric) for rubric in job.rubrics}
    for system in job.systems:
        answers = job.answers(system)
        rows = []
        for rubric in job.rubrics:
            by = Panel(rubric, panels[rubric.name], is_vouched(rubric, panels[rubric.name], vouched))
            rows += judged_scores(answers, stored[system.name], questions, by)
        write_rows(job.out / system.name / JUDGED, rows, Score)


def judgements_of(job: JudgeJob, system: System) -> list[Judgement]:
    """The stored judgements of a system's answers.

    Raises:
        UsageError: There are none yet.
    """
    path = job.out / system.name / JUDGEMENTS
    if not path.is_file():
        raise UsageError(
            f"{system.name} has no judgements: run `mihakk evaluate judge {job.suite.name}` first"
        )
    return read_rows(path, Judgement)


def plan_judges(job: JudgeJob) -> list[Plan]:
    """What judging would ask of each judge; asks nothing and starts no server.

    A rubric that extracts makes two calls; where the first is open, the second is taken to be as long.
    """
    cases = cases_of(job)
    again, seed = judges_of(job.suite).asked_again, job.suite.seed
    plans = []
    for judge in job.judges:
        calls = journaled = prompts = 0
        with open_judge(job, judge) as (model, journal):
            for (_, name), own in sorted(cases.items()):
                rubric = next(one for one in job.rubrics if one.name == name)
                each = 2 if rubric.extract else 1
                for case in asked_again(own, again, seed):
                    calls += each
                    request = open_request(model, journal, rubric, case, seed)
                    left = 0 if request is None else 1 if request.name == "judgement" else each
                    journaled += each - left
                    if request is not None:
                        letters = sum(len(message["content"]) for message in request.messages)
                        prompts += left * letters // LETTERS_A_TOKEN
        replies = (calls - journaled) * judge.sampling.max_tokens
        plans.append(planned(judge, calls, journaled, prompts, replies))
    return plans


def cases_of(job: JudgeJob) -> dict[tuple[str, str], list[Judged]]:
    """System and rubric to the answers there are to judge."""
    questions = job.questions
    found = {}
    for system in job.systems:
        answers = job.answers(system)
        for rubric in job.rubrics:
            own = (
                judged_of(one, questions[one.item, one.variant])
                for one in answers
                if rubric.judges(one.kind, one.task)
            )
            found[system.name, rubric.name] = [one for one in own if one is not None]
    return found


def _exact(judge: System, reply_tokens: int) -> System:
    sampling = {"temperature": 0.0, "top_p": 1.0, "max_tokens": reply_tokens + judge.reasoning_tokens}
    return judge.model_copy(update={"sampling": judge.sampling.model_copy(update=sampling)})
