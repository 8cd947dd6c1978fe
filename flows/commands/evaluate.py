"""`mihakk evaluate`: replies of systems to scores, scores to tables, and anybody's table checked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from mihakk.flows.commands.evaluate_blind import score, submit
from mihakk.flows.commands.evaluate_publish import publish, site
from mihakk.flows.commands.evaluate_run import answers_read, judge, run, vouch
from mihakk.flows.commands.evaluate_suspects import auditors, moves, scores_in, suspects
from mihakk.flows.commands.options import AsJson
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from mihakk.schemas.evaluation import Question

Release = Annotated[
    str, typer.Option(help="A release's folder, or NAME@VERSION on the embedded Hub or huggingface.co.")
]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Name of a metric; those every suite has when left out.")
]
Split = Annotated[str, typer.Option(help="Split of the release that was asked.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    evaluate = typer.Typer(help="Replies of systems to scores, scores to tables; anybody's table checked.")
    evaluate.command(name="import")(import_)
    for command in (run, judge, vouch, suspects, auditors, moves, rescore, table, lint):
        evaluate.command()(command)
    for of_boards in (site, publish, submit, score):
        evaluate.command()(of_boards)
    app.add_typer(evaluate, name="evaluate", rich_help_panel="Evaluate")


def import_(
    file: Annotated[Path, typer.Argument(help="JSON lines of replies, or lm-eval's samples_*.jsonl.")],
    release: Release,
    model: Annotated[str, typer.Option(help="Name of the system that answered.")],
    out: Annotated[Path, typer.Option(help="Folder for answers.parquet and scores.parquet.")],
    form: Annotated[
        Literal["answers", "lm-eval"], typer.Option("--as", help="What the file is.")
    ] = "answers",
    revision: Annotated[str, typer.Option(help="Commit or dated name of the weights that answered.")] = "",
    prompt: Annotated[str, typer.Option(help="Prompt it was asked with, NAME or NAME@VERSION.")] = "",
    config: Annotated[list[str] | None, typer.Option(help="Only these configs of the release.")] = None,
    split: Split = "test",
    metric: Metrics = None,
    as_json: AsJson = False,
) -> None:
    """Import the answers of a system that ran elsewhere, and score them.

    A line of a file of replies is {"item": ID, "reply": TEXT}, with finish_reason, variant, repeat,
    likelihoods or error where there are any. Every other line goes into rejected.parquet with its reason.

    Example: mihakk evaluate import samples.jsonl --release demo@latest --model qwen --out answers
    """
    from mihakk.evaluation.imports import import_answers, import_lm_eval
    from mihakk.evaluation.rows import write_rows
    from mihakk.schemas.evaluation import Answer, AnsweredBy
    from mihakk.schemas.rejection import Rejection

    questions = _questions(release, split, config)
    name, _, version = prompt.partition("@")
    by = AnsweredBy(model=model, revision=revision, prompt=name, prompt_version=version)
    read = import_answers if form == "answers" else import_lm_eval
    imported = read(file, questions, by)
    write_rows(out / "answers.parquet", imported.answers, Answer)
    write_rows(out / "rejected.parquet", imported.rejected, Rejection)
    counts = Counter(one.reason for one in imported.rejected)
    if counts and not as_json:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common())
        open_console(soft_wrap=True).print(
            f"[red]{counts.total():,} lines ({imported.share_rejected:.1%}) are no answers[/] ({reasons}), "
            f"e.g. {escape(imported.rejected[0].detail)}; they are in {escape(str(out))}/rejected.parquet"
        )
    if imported.missing and not as_json:
        open_console(soft_wrap=True).print(
            f"[yellow]{len(imported.missing):,} of {len(questions):,} questions have no answer[/], e.g. "
            f"{imported.missing[0]}: the system will have no figure over their data sets"
        )
    _score(out, questions, metric, {"missing": imported.missing, "rejected": counts} if as_json else None)


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
    _score(folder, _questions(release, split, None), metric, {} if as_json else None)


def table(
    scores: Annotated[
        list[Path], typer.Argument(help="Files of scores, or folders of systems or suites that have them.")
    ],
    form: Annotated[
        Literal["terminal", "markdown", "latex"], typer.Option("--format", help="How it is printed.")
    ] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as Parquet files.")] = None,
    by: Annotated[str, typer.Option(help="Slice every data set by this fact: era, genre, metre, ...")] = "",
    category: Annotated[
        list[str] | None, typer.Option(help="NAME=TASK+TASK: what is averaged together; may be repeated.")
    ] = None,
    main: Annotated[
        list[str] | None,
        typer.Option(help="TASK=METRIC: what stands for a task in averages; may be repeated."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="CONFIG=CONFIG: each system's first less its second on the same records."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of bootstraps and permutations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare systems by their scores: intervals, paired differences, rank intervals, what was not read.

    Example: mihakk evaluate table runs/evaluate/demo --format markdown
    """
    from mihakk.evaluation.table import load_scores, results, sliced
    from mihakk.evaluation.table.conditions import condition_sheet, conditions
    from mihakk.evaluation.table.overall import Averaging
    from mihakk.evaluation.table.render import latex, markdown, terminal
    from mihakk.evaluation.table.sheets import sheets

    files = [file for path in scores for file in scores_in(path)]
    frame = load_scores(files)
    categories = {name: tasks.split("+") for name, tasks in _pairs(category, "--category").items()}
    averaging = Averaging(categories, _pairs(main, "--main"))
    found = results(sliced(frame, by), None, seed=seed) if by else results(frame, averaging, seed=seed)
    shown = sheets(found)
    rows = conditions(frame, list(_pairs(compare, "--compare").items()), seed=seed) if compare else []
    if compare:
        shown.append(condition_sheet(rows))
    if as_json:
        print_json(found.rows() | {"conditions": rows})
    elif form == "terminal":
        open_console().print(terminal(shown, found.notes))
    else:
        print((markdown if form == "markdown" else latex)(shown, found.notes), end="")
    if out:
        for path in found.write(out):
            typer.echo(path, err=True)


def lint(
    file: Annotated[Path, typer.Argument(help="A table of results: .csv, .tsv, .md or .json.")],
    items: Annotated[
        list[str] | None,
        typer.Option(
            "--n",
            help="Number of items, or COLUMN=NUMBER; worked out from the figures where they give it away.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check anybody's table of results for impossible figures; exit 1 where there is one.

    Figures that no number of items gives, errors that don't follow from them, means that are none, equal
    rows and columns. The first column holds names; a row or column called Average is taken for a mean.

    Example: mihakk evaluate lint results.csv --n 500
    """
    from mihakk.evaluation.lint import lint as check
    from mihakk.evaluation.lint import read_grids
    from mihakk.evaluation.lint.checks import inferred_sizes

    stated = [one if "=" in one else f"={one}" for one in items or ()]
    sizes = {name: _whole(number) for name, number in _pairs(stated, "--n").items()}
    console = open_console(soft_wrap=True, stderr=as_json)
    count = 0
    tables = []
    for grid in read_grids(file):
        findings = check(grid, sizes)
        count += len(findings)
        tables.append({"table": grid.title, "findings": findings})
        console.print(f"[bold]{escape(grid.title)}[/]: {len(grid.rows)} rows, {len(grid.columns)} columns")
        for name, size in inferred_sizes(grid).items():
            console.print(f"  {name}: its figures fit {size.items} items", style="dim", markup=False)
        for finding in findings:
            console.print(f"  {finding.check} {finding.where}: {finding.detail}", markup=False)
        if not findings:
            console.print("  nothing found", style="green")
    if as_json:
        print_json(tables)
    raise typer.Exit(1 if count else 0)


def _questions(release: str, split: str, config: list[str] | None) -> dict[str, Question]:
    from mihakk.evaluation.questions import questions_of_release
    from mihakk.releases.hub.load import named_folder

    folder, name = named_folder(release)
    return questions_of_release(folder, name, split, config or ())


def _score(
    folder: Path, questions: dict[str, Question], metric: list[str] | None, told: dict[str, object] | None
) -> None:
    """Scores a folder's answers and says what came of it: as text, or with `told` as JSON."""
    from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file

    counts = score_file(
        folder / "answers.parquet", questions, metrics_named(metric or DEFAULT), folder / "scores.parquet"
    )
    if told is not None:
        print_json(told | {"folder": str(folder)} | counts)
        return
    open_console(soft_wrap=True).print(f"{answers_read(counts)}, {counts['scores']:,} scores in {folder}")


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for text in texts or ():
        name, mark, value = text.rpartition("=")
        if not mark or not value:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        found[name] = value
    return found


def _whole(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 2:
        raise UsageError(f"--n {text!r}: a number of items is a whole number from 2 to 999999999")
    return int(text)
