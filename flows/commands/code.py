"""`mihakk code`: code benchmarks in Arabic, from their faults to a refined release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson
from mihakk.reports.console import open_console, print_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mihakk.validators.code.refinement import Refinement

File = Annotated[Path, typer.Argument(help="Problems: jsonl, json, csv, tsv, parquet or xlsx.")]
Map = Annotated[
    str,
    typer.Option(
        "--map",
        help="WHAT=COLUMN,... for prompt, solution, tests, entry_point and id; usual names go unsaid.",
    ),
]

Folder = Annotated[Path, typer.Argument(help="Folder that `mihakk code refine` wrote.")]
TEMPLATE = "prompt_refinement"
Seconds = Annotated[float, typer.Option(min=1, help="Limit of each problem's tests.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    code = typer.Typer(
        no_args_is_help=True, help="Code benchmarks in Arabic: their faults found, their words refined."
    )
    for command in (check, refine, review, release):
        code.command()(command)
    app.add_typer(code, name="code")


def check(
    file: File,
    mapping: Map = "",
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run reference solutions and examples, in the sandbox.")
    ] = True,
    seconds: Seconds = 10.0,
    as_json: AsJson = False,
) -> None:
    """Find faults in a code benchmark without a model; exit 1 where there are some.

    Prompts that do not parse, examples that contradict the reference solution, digits of two systems, terms
    against the glossary, untranslated sentences, tests that the reference fails.

    Example: mihakk code check problems.jsonl --seconds 5
    """
    from mihakk.machinery.sandbox import Limits, require_sandbox
    from mihakk.validators.code.checking import check_runs, check_text
    from mihakk.validators.code.problem import read_problems

    if run:
        require_sandbox()
    found = read_problems(file, mapping)
    findings = [*found.findings, *(one for problem in found.problems for one in check_text(problem))]
    if run:
        findings += check_runs(found.problems, Limits(seconds=seconds))
    findings.sort(key=lambda one: (one.line, one.where, one.kind))
    lines = []
    for one in findings:
        where = f", line {one.where} of the prompt" if one.where else ""
        lines.append(f"{file}:{one.line}: {one.problem}{where}: {one.kind}: {one.detail}")
    told = _counted(one.kind for one in findings) or "nothing found"
    lines.append(f"{len(found.problems)} problems: {told}{'' if run else ' (nothing was run)'}")
    print_result(findings, escape("\n".join(lines)), as_json=as_json)
    raise typer.Exit(1 if findings else 0)


def _counted(names: Iterable[str]) -> str:
    """`3 digits, 1 term`: each name with how often it came up."""
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(names).items()))


def refine(
    file: File,
    model: Annotated[str, typer.Option(help="A name in configs/models/, or a file.")],
    out: Annotated[Path, typer.Option(help="Folder for the journal and the proposals.")],
    mapping: Map = "",
    seconds: Seconds = 10.0,
    as_json: AsJson = False,
) -> None:
    """Let a model propose better Arabic for docstrings; nothing is changed before people have seen it.

    Only Arabic words may differ: code, examples, digits, English, line breaks and indentation are compared
    byte for byte, the syntax tree and the tests' outcome before and after. Replies are journaled: run again
    after a crash, nothing is asked twice.

    Example: mihakk code refine problems.jsonl --model MODEL --out proposals
    """
    from mihakk.machinery.configs import load_config
    from mihakk.machinery.errors import UsageError
    from mihakk.machinery.llm.budget import Meter
    from mihakk.machinery.llm.journal import Journal
    from mihakk.machinery.llm.model import open_model
    from mihakk.machinery.llm.spending import FOLDER, Ledger
    from mihakk.machinery.sandbox import Limits, require_sandbox
    from mihakk.schemas.suite import System
    from mihakk.validators.code.problem import read_problems
    from mihakk.validators.code.refinement import write_refinements
    from mihakk.validators.code.refiner import refine as refined

    require_sandbox()
    found = read_problems(file, mapping)
    if found.findings:
        first = found.findings[0]
        raise UsageError(f"{file}:{first.line}: {first.kind}: {first.detail}; correct the file first")
    named = model.endswith((".yaml", ".yml"))
    config = load_config(Path(model) if named else Path("configs/models") / f"{model}.yaml", System)
    with (
        Journal(out / "journal", config.name) as journal,
        Ledger(out / FOLDER) as ledger,
        open_model(config, meter=Meter(config, ledger)) as opened,
    ):
        results = list(refined(found.problems, opened, journal, Limits(seconds=seconds)))
    write_refinements(out, file, mapping, results)
    path = out / "refinements.jsonl"
    print_result(
        {"file": path, "problems": results}, escape("\n".join(_told(results, path))), as_json=as_json
    )


def _told(results: list[Refinement], path: Path) -> Iterator[str]:
    from mihakk.validators.code.refinement import PAPER

    yield f"{len(results)} problems: {_counted(one.status for one in results)} -> {path}"
    if kinds := _counted(kind for one in results for kind in one.kinds):
        yield f"Changes by kind (one may be of several): {kinds}"
    changed = sum(one.before != one.after for one in results)
    paper = ", ".join(f"{done}/{whole} of {name}" for name, (done, whole) in PAPER.items())
    yield f"{changed}/{len(results)} would change; QIMMA changed {paper}"
    for one in results:
        if one.status in ("refused", "for_people"):
            yield f"  {one.problem} (line {one.line}): {one.status}: {one.reason}"


def review(
    folder: Folder,
    push: Annotated[
        bool, typer.Option("--push", help="Bring the tasks onto MIHAKK_LABEL_STUDIO_URL.")
    ] = False,
    pull: Annotated[bool, typer.Option("--pull", help="Fetch what people decided there.")] = False,
    export: Annotated[
        Path | None, typer.Option(help="Read what people decided from an export of Label Studio (JSON).")
    ] = None,
    overlap: Annotated[int, typer.Option(min=1, help="People asked about each problem.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Show every change, and every problem for people, to people; without an option write DIR/tasks.json.

    The file can be imported into any Label Studio, whose labelling config is written beside it.

    Example: mihakk code review proposals
    """
    import json

    from mihakk.annotation.decisions.stores import Stores
    from mihakk.annotation.label_studio.exchange import connect
    from mihakk.annotation.label_studio.project import ensure_project
    from mihakk.annotation.label_studio.pull import pull as pull_project
    from mihakk.annotation.label_studio.pull import read_export
    from mihakk.annotation.label_studio.push import push as push_tasks
    from mihakk.annotation.screens.labelling import labelling
    from mihakk.machinery.errors import UsageError
    from mihakk.machinery.settings import settings

    if push + pull + (export is not None) > 1:
        raise UsageError("give one of --push, --pull and --export")
    tasks, stores = _tasks(folder), Stores.under(str(folder))
    template = labelling(TEMPLATE, "ar")
    result: Any
    if export is not None:
        pulled = read_export(export, template, stores)
        unusable = f", {pulled.rejected.total()} unusable: {dict(pulled.rejected)}" if pulled.rejected else ""
        result = {"read": pulled.read, "unusable": pulled.rejected}
        told = f"{pulled.read} answers read{unusable}"
    elif push or pull:
        with connect(settings()) as connection:
            project = ensure_project(connection, folder.resolve().name, TEMPLATE, "ar", overlap=overlap)
            if push:
                result = done = push_tasks(project, tasks)
                told = f"{done.created} tasks new, {done.unchanged} unchanged, {done.withdrawn} withdrawn"
            else:
                result = {"labels": pull_project(project, stores).labels}
                told = f"{len(result['labels'])} new labels"
    else:
        file = folder / "tasks.json"
        file.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
        (folder / "labelling.xml").write_text(template.config, encoding="utf-8")
        result = {"tasks": len(tasks), "file": file}
        told = f"{len(tasks)} tasks for people -> {file}"
    print_result(result, escape(told), as_json=as_json)


def release(
    folder: Folder,
    name: Annotated[str, typer.Option(help="Name of the release.")],
    version: Annotated[str, typer.Option(help="MAJOR.MINOR.PATCH, or auto: the next one.")] = "auto",
    votes: Annotated[int, typer.Option(min=1, help="People whose answers a change needs.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Release the problems with the changes that people accepted, on the embedded Hub and in DIR/release.

    Example: mihakk code release proposals --name humaneval_ar
    """
    from mihakk.annotation.decisions.refinements import decided
    from mihakk.annotation.decisions.store import labels
    from mihakk.annotation.decisions.stores import Stores
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.refined_code import PROBLEMS, assemble_refined
    from mihakk.releases.versions.version import Version, choose
    from mihakk.validators.code.problem import read_problems
    from mihakk.validators.code.refinement import read_refinements

    said, refinements = read_refinements(folder)
    found = read_problems(Path(said.file), said.mapping)
    hashes = {str(one["data"]["sample_id"]): str(one["data"]["content_hash"]) for one in _tasks(folder)}
    decisions = decided(labels(Stores.under(str(folder))), hashes, votes)
    hub = EmbeddedHub()
    latest = hub.latest(name)
    chosen = choose(version, Version.parse(latest) if latest else None, "major")
    made = assemble_refined(
        found, refinements, decisions, folder=folder / "release", name=name, version=str(chosen)
    )
    console = open_console(soft_wrap=True, stderr=as_json)
    for one in made.refused:
        console.print(f"  {one.problem}: not released: {one.reason}", markup=False)
    with hub.previous(name) as before:
        same = before and (before / PROBLEMS).read_bytes() == (folder / "release" / PROBLEMS).read_bytes()
    result: dict[str, Any] = {"name": name, "version": latest, "created": False}
    if same:
        print_result(result, f"Nothing changed since {name} {latest}", as_json=as_json)
        return
    hub.publish(made.release)
    verdicts = [one.verdict for one in decisions.values()]
    waiting, whole, changed = len(hashes) - len(decisions), len(found.problems), len(made.changes)
    result |= {"version": str(chosen), "created": True, "problems": whole, "changed": changed}
    result |= {"kinds": made.kinds, "verdicts": Counter(verdicts)}
    told = (
        f"People: {_counted(verdicts) or 'nothing decided'}; {waiting} waiting\n"
        f"{name} {chosen}: {changed}/{whole} prompts changed ({_counted(made.kinds.elements()) or 'none'})"
    )
    print_result(result, told, as_json=as_json)


def _tasks(folder: Path) -> list[dict[str, Any]]:
    """A task for every change, and for every problem that only people may change."""
    from mihakk.annotation.decisions.refinements import refinement_task
    from mihakk.validators.code.problem import read_problems
    from mihakk.validators.code.refinement import read_refinements

    said, refinements = read_refinements(folder)
    problems = {one.id: one for one in read_problems(Path(said.file), said.mapping).problems}
    asked = [one for one in refinements if one.status in ("proposed", "for_people")]
    return [
        refinement_task(one, problems[one.problem].prompt, problems[one.problem].solution) for one in asked
    ]
