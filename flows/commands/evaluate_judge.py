"""`mihakk evaluate judge`: stored replies scored by two judges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands.evaluate_run import Limit, show_plans
from flows.commands.options import AsJson, SuiteFolder, SuiteName, Systems
from mihakk.errors import UsageError
from reports.console import open_console, print_json

if TYPE_CHECKING:
    from evaluation.judges.run import JudgeJob
    from schemas.suite import System


def judge(
    suite: SuiteName,
    model: Systems = None,
    out: SuiteFolder = None,
    limit: Limit = None,
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Then judge altered copies of this many answers of each rubric too."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print calls, tokens and costs. Asks no model.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let two judges score stored replies by the suite's rubrics.

    Two families, neither of a judged system's. Every judgement is kept before it counts: run again after a
    crash, it goes on where it stopped. An unusable reply gives no score and is counted. Probes show whether
    length, style, order or an instruction in the reply moves the judges.

    Example: mihakk evaluate judge suite.yaml --dry-run
    """
    from evaluation.judges.probes import probe_judges
    from evaluation.judges.run import judge_suite, plan_judges
    from evaluation.report import report
    from evaluation.table.render import terminal

    job = judge_job(suite, model, out, limit)
    console = open_console(soft_wrap=True, stderr=as_json)
    if dry_run:
        show_plans(plan_judges(job), console, as_json=as_json)
        return
    with console.status("Judging…") as status:
        done = 0

        def answered(judge: System) -> None:
            nonlocal done
            done += 1
            status.update(f"{judge.name}: {done:,} judgements")

        counts = judge_suite(job, answered)
        if probes is not None:
            probe_judges(job, probes)
    console.print(
        f"{counts['judgements']:,} judgements: {counts['valid']:,} valid, {counts['repaired']:,} on a second "
        f"try, {counts['invalid']:,} unusable"
    )
    shown = report(job.suite, job.systems, job.out)
    console.print(terminal(shown.sheets, shown.notes))
    if as_json:
        print_json(counts)


def vouch(
    suite: SuiteName,
    model: Systems = None,
    out: SuiteFolder = None,
    draw: Annotated[
        int | None,
        typer.Option(min=1, help="Draw this many judged answers of each rubric for people to score."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="People's scores, .csv or .jsonl: answer, annotator, rubric, field, score."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare judges with people: draw answers for people to score, then correct the judges' means.

    Judges whose agreement is sure enough (lower end of kappa .6) are vouched for; all means are corrected by
    the people's scores either way.

    Example: mihakk evaluate vouch suite.yaml --draw 200
    """
    from evaluation.judges.vouch import draw_for_people
    from evaluation.judges.vouch import vouch as hold
    from evaluation.report import report
    from evaluation.table.render import terminal

    if (draw is None) == (scores is None):
        raise UsageError("give either --draw N, or --scores FILE with what people scored")
    job = judge_job(suite, model, out)
    console = open_console(soft_wrap=True, stderr=as_json)
    if draw is not None:
        count, path = draw_for_people(job, draw)
        if as_json:
            print_json({"answers": count, "file": path})
        console.print(f"{count:,} answers for people in {path}; drawn.parquet beside it says which they are")
        return
    assert scores is not None
    found = hold(job, scores)
    shown = report(job.suite, job.systems, job.out)
    console.print(terminal(shown.sheets, shown.notes))
    if found.unknown:
        console.print(f"[yellow]{found.unknown:,} answers in {scores} are not this suite's[/]")
    for one in found.vouched:
        kappa = "none" if one.low is None else f"{one.kappa:.2f}, at least {one.low:.2f}"
        word = "vouched for" if one.vouched else "not vouched for"
        console.print(f"{one.rubric}: {word} ({one.answers:,} answers, kappa {kappa})")
    if as_json:
        print_json(found._asdict())


def judge_job(suite: str, model: list[str] | None, out: Path | None, limit: int | None = None) -> JudgeJob:
    """The suite, its questions, systems and judges, as the commands about judges take them."""
    from evaluation.judges.run import JudgeJob, load_judges
    from evaluation.running.asking import asked_of_suite
    from evaluation.running.suites import open_suite
    from mihakk.settings import settings
    from releases.hub.load import named_folder

    chosen, systems, folder = open_suite(suite, model, out)
    judges = load_judges(chosen, systems)
    asked = asked_of_suite(chosen, named_folder, limit)
    return JudgeJob(chosen, asked, systems, judges, folder, settings())
