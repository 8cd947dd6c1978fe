"""`mihakk evaluate run`, `export`, `judge`, `vouch`: a suite put to systems, their replies to judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from mihakk.flows.commands.options import AsJson, SuiteFolder, SuiteName, Systems
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.evaluation.judges.run import JudgeJob
    from mihakk.evaluation.running.run import Plan
    from mihakk.schemas.suite import System

Limit = Annotated[
    int | None, typer.Option(min=1, help="At most this many questions of each config; pairs count once.")
]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print calls, tokens and costs. Asks no model.")]


def run(
    suite: SuiteName,
    model: Systems = None,
    out: SuiteFolder = None,
    method: Annotated[
        Literal["written", "likelihood"],
        typer.Option(help="written: replies are read. likelihood: choices by lm-eval, of servers like vLLM."),
    ] = "written",
    limit: Limit = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Ask systems a suite's questions, score the replies and compare.

    Every reply is kept before it counts: run again after a crash or a kill, it goes on where it stopped and
    asks nothing twice.

    Example: mihakk evaluate run demo --limit 10
    """
    from mihakk.evaluation.report import report
    from mihakk.evaluation.running.asking import asked_of_suite, sizes
    from mihakk.evaluation.running.likelihood import run_likelihood
    from mihakk.evaluation.running.run import Job, plan, run_system
    from mihakk.evaluation.running.suites import open_suite
    from mihakk.evaluation.shape import shape_of
    from mihakk.evaluation.table.render import terminal
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.exported import export
    from mihakk.releases.hub.load import named_folder

    chosen, systems, folder = open_suite(suite, model, out)
    asked = asked_of_suite(chosen, named_folder, limit)
    console = open_console(soft_wrap=True, stderr=as_json)
    shape = shape_of(chosen, systems, asked, method)
    console.print(f"[bold]{chosen.title}[/]: {len(asked):,} questions → {folder}")
    for note in shape.notes:
        console.print(f"  {note}")
    if dry_run:
        for name, calls in sizes(asked).items():
            console.print(f"  {name}: {calls:,} calls")
        console.print(f"  averages of {shape.averages}")
        plans = [plan(Job(chosen, asked, system, folder, settings(), method)) for system in systems]
        show_plans(plans, console, as_json=as_json)
        return
    told = []
    for system in systems:
        job = Job(chosen, asked, system, folder, settings(), method)
        calls = sum(one.repeats for one in asked)
        with console.status(f"{system.name}: 0 of {calls:,}") as status:
            done = 0

            def answered(system: System = system, calls: int = calls) -> None:
                nonlocal done
                done += 1
                status.update(f"{system.name}: {done:,} of {calls:,}")

            ran = run_system(job, answered) if method == "written" else run_likelihood(job, export)
        asked_for = f"{ran.calls.asked:,} calls in {ran.calls.seconds:.1f} s"
        console.print(f"{system.name}: {answers_read(ran.counts)}; {asked_for}")
        told.append(
            {"system": system.name}
            | ran.counts
            | {"calls": ran.calls.asked, "spent": ran.calls.spent, "seconds": ran.calls.seconds}
        )
    found = report(chosen, systems, folder)
    if as_json:
        print_json({"folder": str(folder), "systems": told, "notes": found.notes})
    else:
        console.print(terminal(found.sheets, found.notes))


def export(
    suite: SuiteName,
    out: Annotated[Path, typer.Option(help="Folder for the releases, one for each benchmark that is asked.")],
    licence: Annotated[str, typer.Option(help="The benchmark's own.")] = "unknown",
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Write what a suite asks, published benchmarks too, as releases: rows, prompts, task files, digests.

    Harnesses run their task files, `mihakk audit` and people check their rows, suites name them as `release`.

    Example: mihakk evaluate export ghazalbench --out exported
    """
    from mihakk.evaluation.running.asking import asked_of_suite
    from mihakk.evaluation.running.suites import load_suite
    from mihakk.pipeline.exported import export_suite
    from mihakk.releases.hub.load import named_folder

    asked = asked_of_suite(load_suite(suite), named_folder, limit)
    found = export_suite(asked, out, licence)
    if as_json:
        print_json([{"folder": folder, "rows": rows} for folder, rows in found.items()])
    for folder, rows in found.items():
        open_console(soft_wrap=True, stderr=as_json).print(f"{folder}: {rows:,} questions", markup=False)
    if left := len(asked) - sum(found.values()):
        told = f"{left:,} left out: programs, probes and further wordings have no place among items"
        open_console(soft_wrap=True, stderr=as_json).print(told, markup=False)


def answers_read(counts: Mapping[str, int]) -> str:
    """How many answers there are, and what became of them."""
    said = ", ".join(f"{counts[name]:,} {name}" for name in ("read", "unparsed", "empty", "refused", "error"))
    return f"{counts['answers']:,} answers ({said})"


def show_plans(plans: Sequence[Plan], console: Console, *, as_json: bool) -> None:
    """What would be asked of each system or judge, and what it would cost at most."""
    if as_json:
        print_json([one._asdict() for one in plans])
        return
    for found in plans:
        cost = "no price known" if found.most is None else f"at most {found.most:.4g} {found.currency}"
        console.print(
            f"{found.system}: {found.calls:,} calls, {found.journaled:,} answered before; at most "
            f"{found.prompt_tokens:,} prompt and {found.reply_tokens:,} reply tokens; {cost}"
        )


def judge(
    suite: SuiteName,
    model: Systems = None,
    out: SuiteFolder = None,
    limit: Limit = None,
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Then judge altered copies of this many answers of each rubric too."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let two judges score stored replies by the suite's rubrics.

    Two families, neither of a judged system's. Every judgement is kept before it counts: run again after a
    crash, it goes on where it stopped. An unusable reply gives no score and is counted. Probes show whether
    length, style, order or an instruction in the reply moves the judges.

    Example: mihakk evaluate judge suite.yaml --dry-run
    """
    from mihakk.evaluation.judges.probes import probe_judges
    from mihakk.evaluation.judges.run import judge_suite, plan_judges
    from mihakk.evaluation.report import report
    from mihakk.evaluation.table.render import terminal

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
    from mihakk.evaluation.judges.vouch import draw_for_people
    from mihakk.evaluation.judges.vouch import vouch as hold
    from mihakk.evaluation.report import report
    from mihakk.evaluation.table.render import terminal

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
    from mihakk.evaluation.judges.run import JudgeJob, load_judges
    from mihakk.evaluation.running.asking import asked_of_suite
    from mihakk.evaluation.running.suites import open_suite
    from mihakk.machinery.settings import settings
    from mihakk.releases.hub.load import named_folder

    chosen, systems, folder = open_suite(suite, model, out)
    judges = load_judges(chosen, systems)
    asked = asked_of_suite(chosen, named_folder, limit)
    return JudgeJob(chosen, asked, systems, judges, folder, settings())
