"""`mihakk code`: code benchmarks in Arabic, from their faults to a refined release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from reports.console import open_console

if TYPE_CHECKING:
    from validators.code.refinement import Refinement

File = Annotated[Path, typer.Argument(help="Problems: jsonl, json, csv, tsv, parquet or xlsx.")]
Map = Annotated[
    str,
    typer.Option(
        "--map",
        help="WHAT=COLUMN,... for prompt, solution, tests, entry_point and id; usual names go unsaid.",
    ),
]

Seconds = Annotated[float, typer.Option(min=1, help="Limit of each problem's tests.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    code = typer.Typer(
        no_args_is_help=True, help="Code benchmarks in Arabic: their faults found, their words refined."
    )
    for command in (check, refine):
        code.command()(command)
    app.add_typer(code, name="code", rich_help_panel="Make")


def check(
    file: File,
    mapping: Map = "",
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run reference solutions and examples, in the sandbox.")
    ] = True,
    seconds: Seconds = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per finding.")] = False,
) -> None:
    """Find faults in a code benchmark without a model; exit 1 where there are some.

    Prompts that do not parse, examples that contradict the reference solution, digits of two systems, terms
    against the glossary, untranslated sentences, tests that the reference fails.

    Example: mihakk code check problems.jsonl --seconds 5
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


def refine(
    file: File,
    model: Annotated[str, typer.Option(help="A name in configs/models/, or a file.")],
    out: Annotated[Path, typer.Option(help="Folder for the journal and the proposals.")],
    mapping: Map = "",
    seconds: Seconds = 10.0,
) -> None:
    """Let a model propose better Arabic for docstrings; nothing is changed before people have seen it.

    Only Arabic words may differ: code, examples, digits, English, line breaks and indentation are compared
    byte for byte, the syntax tree and the tests' outcome before and after. Replies are journaled: run again
    after a crash, nothing is asked twice.

    Example: mihakk code refine problems.jsonl --model MODEL --out proposals
    """
    from mihakk.configs import load_config
    from mihakk.errors import UsageError
    from mihakk.llm.journal import Journal
    from mihakk.llm.model import open_model
    from mihakk.sandbox import Limits, require_sandbox
    from schemas.suite import System
    from validators.code.problem import read_problems
    from validators.code.refinement import write_refinements
    from validators.code.refiner import refine as refined

    require_sandbox()
    found = read_problems(file, mapping)
    if found.findings:
        first = found.findings[0]
        raise UsageError(f"{file}:{first.line}: {first.kind}: {first.detail}; correct the file first")
    named = model.endswith((".yaml", ".yml"))
    config = load_config(Path(model) if named else Path("configs/models") / f"{model}.yaml", System)
    with Journal(out / "journal", config.name) as journal, open_model(config) as opened:
        results = list(refined(found.problems, opened, journal, Limits(seconds=seconds)))
    write_refinements(out, file, mapping, results)
    _tell(results, open_console(soft_wrap=True), out)


def _tell(results: list[Refinement], console: Console, out: Path) -> None:
    from validators.code.refinement import PAPER

    statuses = Counter(one.status for one in results)
    told = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    console.print(f"{len(results)} problems: {told} -> {out / 'refinements.jsonl'}", markup=False)
    kinds = Counter(kind for one in results for kind in one.kinds)
    if kinds:
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        console.print(f"Changes by kind (one may be of several): {counts}", markup=False)
    changed = sum(one.before != one.after for one in results)
    paper = ", ".join(f"{done}/{whole} of {name}" for name, (done, whole) in PAPER.items())
    console.print(f"{changed}/{len(results)} would change; QIMMA changed {paper}", markup=False)
    for one in results:
        if one.status in ("refused", "for_people"):
            console.print(f"  {one.problem} (line {one.line}): {one.status}: {one.reason}", markup=False)
