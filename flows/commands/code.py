"""`mihakk code`: code benchmarks in Arabic, from their faults to a refined release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from reports.console import open_console

File = Annotated[Path, typer.Argument(help="Problems: jsonl, json, csv, tsv, parquet or xlsx.")]
Map = Annotated[
    str,
    typer.Option(
        "--map",
        help="WHAT=COLUMN,... for prompt, solution, tests, entry_point and id; usual names go unsaid.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    code = typer.Typer(no_args_is_help=True, help="Code benchmarks in Arabic: what is wrong in them.")
    for command in (check,):
        code.command()(command)
    app.add_typer(code, name="code", rich_help_panel="Make")


def check(
    file: File,
    mapping: Map = "",
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run reference solutions and examples, in the sandbox.")
    ] = True,
    seconds: Annotated[float, typer.Option(min=1, help="Limit of each problem's tests.")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per finding.")] = False,
) -> None:
    """Find faults in a code benchmark without a model; exit 1 where there are some.

    Prompts that do not parse, examples that contradict the reference solution, digits of two systems, terms
    against the glossary, untranslated sentences, tests that the reference fails.
    """
    from mihakk.sandbox import Limits, require_sandbox
    from validators.code.checking import check_runs, check_text
    from validators.code.problem import read_problems

    if run:
        require_sandbox()
    found = read_problems(file, mapping)
    findings = [*found.findings, *(one for problem in found.problems for one in check_text(problem))]
    if run:
        findings += check_runs(found.problems, Limits(seconds=seconds))
    findings.sort(key=lambda one: (one.line, one.where, one.kind))
    console = open_console(soft_wrap=True)
    for one in findings:
        if as_json:
            print(one.model_dump_json())
        else:
            where = f", line {one.where} of the prompt" if one.where else ""
            console.print(
                f"{file}:{one.line}: {one.problem}{where}: {one.kind}: {one.detail}",
                markup=False,
                highlight=False,
            )
    if not as_json:
        counts = ", ".join(
            f"{count} {kind}" for kind, count in sorted(Counter(one.kind for one in findings).items())
        )
        told = counts or "nothing found"
        console.print(
            f"{len(found.problems)} problems: {told}{'' if run else ' (nothing was run)'}", markup=False
        )
    raise typer.Exit(1 if findings else 0)
