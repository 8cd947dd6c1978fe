"""`mihakk evaluate import`, `rescore`: results that others published, and stored ones, scored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from mihakk.flows.commands.evaluate_run import answers_read
from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.evaluation.benchmarks import Benchmark
    from mihakk.evaluation.imports import Imported
    from mihakk.evaluation.joining import Joined
    from mihakk.schemas.evaluation import Question

Release = Annotated[
    str, typer.Option(help="A release's folder, or NAME@VERSION on the embedded Hub or huggingface.co.")
]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Name of a metric; those every suite has when left out.")
]
Split = Annotated[str, typer.Option(help="Split of the release that was asked.")]
Files = Annotated[
    list[Path],
    typer.Argument(
        help="Files of results, folders of them, or folders of imported ones; formats are recognised."
    ),
]
OfBenchmark = Annotated[
    Path | None,
    typer.Option("--benchmark", help="What was asked: a benchmark as published, or the folder of an audit."),
]
Mapping = Annotated[
    str, typer.Option("--map", help="Which columns of the benchmark hold what, as for `mihakk audit`.")
]
Join = Annotated[
    Literal["auto", "id", "text", "order"],
    typer.Option(help="How rows find their questions: by id, by the question's words, or by their order."),
]
CellsOf = Annotated[
    Literal["", "letter", "index0", "index1", "correct", "likelihoods", "text"],
    typer.Option("--cells", help="What the systems' cells of a table hold, where the cells don't tell."),
]
SystemColumns = Annotated[
    list[str] | None, typer.Option("--systems", help="Column of a system in a table; may be repeated.")
]
IdColumn = Annotated[
    str,
    typer.Option("--id", help="Column of ids in a table of results, where its name doesn't tell."),
]
LanguageOf = Annotated[str, typer.Option("--language", help="Of a benchmark that names none, by BCP 47.")]


def import_(
    files: Files,
    out: Annotated[Path, typer.Option(help="Folder to write; with several systems a folder each inside.")],
    release: Annotated[str, typer.Option(help="Release that was asked: a folder, or NAME@VERSION.")] = "",
    benchmark: OfBenchmark = None,
    mapping: Mapping = "",
    model: Annotated[str, typer.Option(help="Name of the system, where the file names none.")] = "",
    form: Annotated[
        str,
        typer.Option("--as", help="Format of the files, where it can't be recognised: answers, lm-eval, ..."),
    ] = "",
    join: Join = "auto",
    cells: CellsOf = "",
    systems: SystemColumns = None,
    id: IdColumn = "",
    revision: Annotated[str, typer.Option(help="Commit or dated name of the weights that answered.")] = "",
    prompt: Annotated[str, typer.Option(help="Prompt it was asked with, NAME or NAME@VERSION.")] = "",
    config: Annotated[list[str] | None, typer.Option(help="Only these configs of the release.")] = None,
    split: Split = "test",
    language: LanguageOf = "ar",
    metric: Metrics = None,
    as_json: AsJson = False,
) -> None:
    """Import what systems answered elsewhere, and score it: tables, lm-eval, LightEval, Inspect, HELM, ...

    Without --release or --benchmark the questions are those that the files show. What does not join is listed
    by system and reason; every record that is no answer goes into rejected.parquet.

    Example: mihakk evaluate import answers.csv --benchmark arabic_mmlu.jsonl --out results
    """
    from mihakk.evaluation.imported import write_questions
    from mihakk.evaluation.imports import import_results
    from mihakk.evaluation.results import Reading
    from mihakk.evaluation.rows import write_rows
    from mihakk.evaluation.scoring import DEFAULT, metrics_named
    from mihakk.schemas.evaluation import Answer, AnsweredBy
    from mihakk.schemas.rejection import Rejection

    metrics_named(metric or DEFAULT)  # a mistake shows before anything is written
    asked = _benchmark(release, benchmark, mapping, split, config, language)
    name, _, version = prompt.partition("@")
    by = AnsweredBy(model=model or "-", revision=revision, prompt=name, prompt_version=version)
    reading = Reading(form, model, join, cells, tuple(systems or ()), id, language=language, mapping=mapping)
    imported = import_results(files, asked, by, reading)
    write_questions(out, imported.joined)
    folders = _folders(out, sorted(imported.answers))
    told: dict[str, dict[str, Any]] = {}
    counts: dict[str, Counter[str]] = {}
    lost = [one for name, own in imported.rejected.items() if name not in folders for one in own]
    for system, folder in folders.items():
        # A broken line names no system: beside those of the one that there is, else in a file of its own.
        rejected = imported.rejected.get(system, []) + (lost if folder == out else [])
        write_rows(folder / "answers.parquet", imported.answers[system], Answer)
        write_rows(folder / "rejected.parquet", rejected, Rejection)
        counts[system] = _scored(folder, imported.joined.benchmark.questions, metric)
        told[system] = {
            "folder": str(folder),
            **counts[system],
            "missing": imported.missing.get(system, []),
            "rejected": Counter(one.reason for one in rejected),
        }
    if len(folders) > 1:
        write_rows(out / "rejected.parquet", lost, Rejection)
    beside = _beside(imported, out)
    if as_json:
        facts = {"joined_by": imported.joined.by, "beside": [one._asdict() for one in beside]}
        of_all: dict[str, Any] = {"systems": told, "rejected": Counter(one.reason for one in lost)}
        print_json((told[next(iter(told))] if len(told) == 1 else of_all) | facts)
        return
    _report(imported, counts, out)
    for one in beside:
        line = (
            f"{one.system}: its own {one.score} is {one.theirs:.3f}, ours {one.ours:.3f} on {one.answers:,}"
        )
        if one.differ:
            line += f"; {one.differ:,} of {one.answers:,} differ, e.g. {one.example} (beside.csv)"
        open_console(soft_wrap=True).print(line, markup=False)


def _report(imported: Imported, counts: dict[str, Counter[str]], out: Path) -> None:
    from mihakk.evaluation.joining import unjoined

    console = open_console(soft_wrap=True)
    joined = imported.joined
    words = {"id": "by id", "text": "by the questions' words", "order": "by the order of rows"}
    count = len(joined.benchmark.questions)
    for system, found in counts.items():
        console.print(f"{system}: {answers_read(found)}, {found['scores']:,} scores", markup=False)
    console.print(
        f"joined {words[joined.by]} to {count:,} questions of {joined.benchmark.title}", markup=False
    )
    if (told := joined.agreement) and told.agree < told.of:
        console.print(
            f"[yellow]the file's own {told.what} are not the benchmark's in {told.of - told.agree:,} of "
            f"{told.of:,} rows[/]: its figures count the benchmark's"
        )
    bad = len(imported.refused)
    total = sum(len(own) for own in imported.answers.values()) + bad
    if bad:
        console.print(
            f"[red]{bad:,} lines ({bad / total:.1%}) are no answers[/]; "
            f"they are in {escape(str(out))}, rejected.parquet"
        )
    for system, reason, number, example in unjoined(imported.refused):
        console.print(f"  {system}: {number:,} {reason}, e.g. {example}", markup=False)
    for system, items in imported.missing.items():
        console.print(
            f"[yellow]{escape(system)}: {len(items):,} of {count:,} questions have no answer[/], e.g. "
            f"{escape(items[0])}: it will have no figure over their data sets"
        )


def _beside(imported: Imported, out: Path) -> list[Any]:
    """The files' own scores beside ours, also answer by answer where they differ."""
    import csv

    from mihakk.evaluation.results import OwnScore, beside, own_scores

    rows = list(own_scores(imported.joined))
    (out / "beside.csv").unlink(missing_ok=True)
    if rows:
        with (out / "beside.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(OwnScore._fields)
            writer.writerows(rows)
    return beside(rows)


def _folders(out: Path, systems: list[str]) -> dict[str, Path]:
    """A folder a system: the one that was named, where there is one system alone."""
    from mihakk.evaluation.results import folder_name

    if len(systems) == 1:
        return {systems[0]: out}
    names = {system: folder_name(system) for system in systems}
    if len(set(names.values())) < len(names):
        raise UsageError(f"two systems would share a folder: {', '.join(systems)}; rename one")
    return {system: out / name for system, name in names.items()}


def _benchmark(
    release: str, benchmark: Path | None, mapping: str, split: str, config: list[str] | None, language: Any
) -> Benchmark | None:
    from mihakk.evaluation.benchmarks import of_folder_or_file, of_release
    from mihakk.releases.hub.load import named_folder

    if release and benchmark:
        raise UsageError("--release and --benchmark both name what was asked: give one")
    if release:
        folder, name = named_folder(release)
        return of_release(folder, name, split, config or ())
    return of_folder_or_file(benchmark, mapping, language=language, split=split) if benchmark else None


def rescore(
    folder: Annotated[Path, typer.Argument(help="Folder with answers.parquet.")],
    release: Release,
    split: Split = "test",
    metric: Metrics = None,
    as_json: AsJson = False,
) -> None:
    """Score stored answers again, by the rules as they are now; no model is asked.

    Example: mihakk evaluate rescore runs/evaluate/demo/qwen --release demo@latest
    """
    from mihakk.evaluation.questions import questions_of_release
    from mihakk.releases.hub.load import named_folder

    place, name = named_folder(release)
    counts = _scored(folder, questions_of_release(place, name, split), metric)
    if as_json:
        print_json({"folder": str(folder)} | counts)
        return
    open_console(soft_wrap=True).print(f"{answers_read(counts)}, {counts['scores']:,} scores in {folder}")


def _scored(folder: Path, questions: dict[str, Question], metric: list[str] | None) -> Counter[str]:
    from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file

    path = folder / "answers.parquet"
    return score_file(path, questions, metrics_named(metric or DEFAULT), folder / "scores.parquet")


def names_file(path: Path) -> bool:
    """Whether a path that is not there is a misspelt file of results, and no suite's name."""
    return path.suffix.lower() in (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl", ".eval")


def results_of(files: list[Path]) -> Joined:
    """Results that know what they were asked; what did not join is told on standard error."""
    from mihakk.evaluation.joining import unjoined
    from mihakk.evaluation.results import open_results

    try:
        joined = open_results(files)
    except UsageError as error:
        if not all(path.exists() for path in files):
            raise
        raise UsageError(
            f"{error}. How files are read is said to `mihakk evaluate import FILES --out FOLDER`: run it, "
            "then name FOLDER here"
        ) from error
    console = open_console(soft_wrap=True, stderr=True)
    for system, reason, count, example in unjoined(joined.refused):
        console.print(f"{system or 'all systems'}: {count:,} {reason}, e.g. {example}", markup=False)
    for system, left in joined.missing().items():
        console.print(f"{system}: {len(left):,} questions have no answer, e.g. {left[0]}", markup=False)
    return joined
