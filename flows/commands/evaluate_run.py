"""`mihakk evaluate run`: a suite's questions put to systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from flows.commands.options import AsJson, SuiteFolder, SuiteName, Systems
from reports.console import open_console, print_json

if TYPE_CHECKING:
    from evaluation.running.run import Plan
    from schemas.suite import System

Limit = Annotated[
    int | None, typer.Option(min=1, help="At most this many questions of each config; pairs count once.")
]


def run(
    suite: SuiteName,
    model: Systems = None,
    out: SuiteFolder = None,
    method: Annotated[
        Literal["written", "likelihood"],
        typer.Option(help="written: replies are read. likelihood: choices by lm-eval, of servers like vLLM."),
    ] = "written",
    limit: Limit = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print calls, tokens and costs. Asks no model.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask systems a suite's questions, score the replies and compare.

    Every reply is kept before it counts: run again after a crash or a kill, it goes on where it stopped and
    asks nothing twice.

    Example: mihakk evaluate run demo --limit 10
    """
    from evaluation.report import report
    from evaluation.running.asking import asked_of_suite, sizes
    from evaluation.running.likelihood import run_likelihood
    from evaluation.running.run import Job, plan, run_system
    from evaluation.running.suites import open_suite
    from evaluation.shape import shape_of
    from evaluation.table.render import terminal
    from mihakk.settings import settings
    from releases.hub.load import named_folder

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

            ran = run_system(job, answered) if method == "written" else run_likelihood(job, named_folder)
        said = ", ".join(
            f"{ran.counts[name]:,} {name}" for name in ("read", "unparsed", "empty", "refused", "error")
        )
        console.print(
            f"{system.name}: {ran.counts['answers']:,} answers ({said}); "
            f"{ran.calls.asked:,} calls in {ran.calls.seconds:.1f} s"
        )
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
