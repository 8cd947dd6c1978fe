"""`mihakk items`: questions to be read by people, and what can be guessed without reading them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from mihakk.flows.commands.options import AsJson, Benchmark, Lake
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import print_result
from mihakk.schemas.stages import CURATED, GENERATED

if TYPE_CHECKING:
    from mihakk.generators.quality.item_quality import ItemQuality
    from mihakk.reports.questions.sample import Question


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    items = typer.Typer(help="The generated items: to be read, and measured.")
    items.command()(show)
    items.command()(page)
    items.command()(quality)
    app.add_typer(items, name="items")


Task = Annotated[str, typer.Option(help="Only this task.")]
Language = Annotated[str, typer.Option(help="Only this language: ar, fa or en.")]
Sample = Annotated[int, typer.Option(min=1, help="Questions of each task and language.")]
_ISOLATE = {True: "\u2067", False: "\u2066"}
"""Opens a text of its own direction, right to left or left to right."""


def show(
    config: Benchmark = Path("demo"),
    task: Task = "",
    language: Language = "",
    sample: Sample = 20,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Print questions with their options, which one is right and why each other one is wrong.

    Example: mihakk items show demo --task metre_choice --sample 3
    """
    from mihakk.reports.templates import direction

    questions = _sampled(config, task, language, sample, lake)
    cards = [
        card(number, question, rtl=direction(question.item.language) == "rtl")
        for number, question in enumerate(questions, 1)
    ]
    print_result(questions, Group(*cards), as_json=as_json)


def page(
    config: Benchmark = Path("demo"),
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("questions.html"),
    task: Task = "",
    language: Language = "",
    sample: Sample = 20,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Write the same as one HTML page that opens offline, to hand to a scholar.

    Example: mihakk items page demo --out items.html --sample 5
    """
    from mihakk.pipeline.build import open_build
    from mihakk.reports.questions.sample import write_questions_page

    questions = _sampled(config, task, language, sample, lake)
    write_questions_page(open_build(config, lake=lake).config.title, questions, out)
    told = f"{len(questions):,} questions in [bold]{out}[/]"
    print_result({"questions": len(questions), "file": out}, told, as_json=as_json)


def _sampled(config: Path, task: str, language: str, size: int, lake: str | None) -> list[Question]:
    from mihakk.machinery.morphology import open_morphology
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.rows import ROWS
    from mihakk.reports.questions.sample import explain_options, sample_questions
    from mihakk.schemas.item import ITEM_ROWS

    opened = open_build(config, lake=lake)
    rows = list(opened.stage(GENERATED).read_all("items", ITEM_ROWS))
    items = sample_questions(rows, task=task, language=language, size=size, seed=opened.config.seed)
    if not items:
        known = ", ".join(sorted({f"{row.task} ({row.language})" for row in rows})) or "none"
        raise UsageError(f"no questions of task {task!r} and language {language!r}; there are {known}")
    curated = opened.stage(CURATED)
    tables = [name for name in ("poems", "idioms") if name in curated.tables()]
    records = (row for name in tables for row in curated.read_all(name, ROWS[name]))
    return explain_options(items, records, open_morphology(opened.config.morphology))


def card(number: int, question: Question, *, rtl: bool) -> Group:
    """One question as the terminal shows it; `rtl` sets it to the right."""
    item = question.item
    side: Literal["left", "right"] = "right" if rtl else "left"

    def line(text: str, style: str = "") -> Text:
        lines = "\n".join(f"{_ISOLATE[rtl]}{part}\u2069" for part in text.splitlines())
        return Text(lines, style=style, justify=side)

    rows = [Text(f"{number}. {item.id}", style="bold")]
    rows += [line(item.context, "dim")] if item.context else []
    rows.append(line(item.question))
    for place, option in enumerate(question.options, 1):
        mark, style = (" ✓", "green") if option.right else ("", "")
        rows.append(line(f"{place}) {option.text}{mark}", style))
        rows += [Text(f"   {place}: {option.why}", style="dim")] if option.why else []
    if item.kind == "explanation":
        for verse, answer in zip(item.verses, question.answers, strict=False):
            rows += [line(verse), line(answer, "green")]
        rows += [line(item.overall, "bold green")] if item.overall else []
    else:
        rows += [line(answer, "green") for answer in question.answers]
    return Group(*rows, Text(""))


def quality(
    config: Benchmark = Path("demo"),
    cosines: Annotated[
        bool, typer.Option("--cosines", help="Embed questions and options too; slow with the bundled model.")
    ] = False,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Baselines that never read the question, how right and wrong options differ, where the golds stand.

    Example: mihakk items quality demo --json
    """
    from mihakk.generators.quality.item_quality import measure_quality
    from mihakk.pipeline.build import open_build
    from mihakk.releases.content.packed import PackedItems
    from mihakk.schemas.item import ITEM_ROWS

    opened = open_build(config, lake=lake)
    embedder = None
    if cosines:
        from mihakk.machinery.embeddings import open_embedder

        embedder = open_embedder(opened.config.embeddings)
    found = measure_quality(
        PackedItems(opened.stage(GENERATED).read_all("items", ITEM_ROWS)),
        embedder=embedder,
        seed=opened.config.seed,
    )
    print_result(found, quality_tables(found), as_json=as_json)


def quality_tables(found: ItemQuality) -> Group:
    """The measures as tables."""
    baselines = Table(
        "Task",
        "Baseline",
        "Questions",
        "Right",
        "95 %",
        "Chance",
        title="Without the question",
        title_justify="left",
    )
    for one in found.baselines:
        interval = f"{one.low:.1%} to {one.high:.1%}"
        row = (one.name, f"{one.questions:,}", f"{one.accuracy:.1%}", interval, f"{one.chance:.1%}")
        baselines.add_row(f"{one.language} {one.task}", *row)
    spreads = Table(
        "Task",
        "Strategy",
        "Measure",
        "Options",
        "Mean",
        "5 %",
        "Median",
        "95 %",
        title="Options",
        title_justify="left",
    )
    for spread in found.spreads:
        numbers = (spread.mean, spread.p05, spread.median, spread.p95)
        spreads.add_row(
            f"{spread.language} {spread.task}",
            spread.strategy,
            spread.measure,
            f"{spread.options:,}",
            *(f"{number:.2f}" for number in numbers),
        )
    places = Table(
        "Task", "Right option at place 1, 2, …", title="Where the golds stand", title_justify="left"
    )
    for position in found.positions:
        counts = " · ".join(f"{count:,}" for count in position.counts)
        places.add_row(f"{position.language} {position.task}", counts)
    return Group(baselines, spreads, places)
