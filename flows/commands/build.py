"""`mihakk build`: from sources to a release."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from flows.context import Build
    from schemas.manifest import StageManifest


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(rich_help_panel="Make")(build)


def build(
    config: Annotated[Path, typer.Argument(help="A file, or a name in configs/benchmarks/.")],
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the plan: stages, shards, model calls, tokens. Asks no model."),
    ] = False,
    audit_limit: Annotated[
        int | None, typer.Option(min=0, help="Audit only so many items, of every task alike.")
    ] = None,
    auditors: Annotated[
        str | None, typer.Option(help="A name in configs/auditors/, or a file, instead of the config's.")
    ] = None,
    lake: Annotated[
        str | None, typer.Option(help="Folder or URL of the lake, instead of MIHAKK_LAKE.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where the run's report and review queue go.")] = Path("runs"),
    engine: Annotated[
        str, typer.Option(help="processes, dask, or dask:ADDRESS of a scheduler; MIHAKK_ENGINE if empty.")
    ] = "",
    workers: Annotated[int, typer.Option(min=0, help="Worker processes; 0: one per core.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON on standard output.")
    ] = False,
) -> None:
    """Build a benchmark release: scrape, normalise, curate, generate, check, audit, review, release.

    Run again after a crash or a kill, it goes on where it stopped: finished shards and answered model calls
    are used again. The release goes to the embedded Hub (a local git repository, one tag per version).
    """
    from flows.context import open_build

    run_folder = runs / config.stem / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    opened = overridden(open_build(config, run_folder, lake), audit_limit, auditors)
    console = Console(stderr=as_json)
    if dry_run:
        from flows.plan import plan, show_plan

        found = plan(opened)
        if as_json:
            print(found.model_dump_json(indent=2))
        else:
            console.print(show_plan(found))
        return
    _run(opened, console, engine, workers, as_json=as_json)


def overridden(opened: Build, audit_limit: int | None, auditors: str | None) -> Build:
    """The build with what the command line says instead of the config."""
    changes: dict[str, object] = {}
    if audit_limit is not None:
        changes["limit"] = audit_limit
    if auditors is not None:
        changes["auditors"] = auditors
    if not changes:
        return opened
    from dataclasses import replace

    audit = opened.config.audit.model_copy(update=changes)
    return replace(opened, config=opened.config.model_copy(update={"audit": audit}))


def _run(opened: Build, console: Console, engine_spec: str, workers: int, *, as_json: bool) -> None:
    from flows.engine import open_engine
    from flows.guards import write_data_docs
    from flows.pipeline import run_pipeline
    from flows.report.page import write_report
    from flows.terminal import TerminalObserver, closing_table, shown_path
    from mihakk.lake.stage import peak_memory_mb

    began = time.monotonic()
    console.print(f"[bold]{escape(opened.config.title)}[/] → {opened.lake.storage.root}")
    with open_engine(engine_spec, workers or None) as engine, TerminalObserver(console) as observer:
        run = run_pipeline(opened, engine, observer)
        manifests = run.manifests
    queue, waiting = write_review_queue(opened)
    write_data_docs(opened, run.guards)
    report = write_report(opened, observer.seconds)
    link_latest(opened.run_folder)
    rows = [
        ("Release", released(opened)),
        ("Waits for people", f"{waiting:,} items: {shown_path(queue)}" if waiting else "nothing"),
        ("Audit", audited(opened, manifests)),
        ("Report", shown_path(report)),
        ("Took", f"{time.monotonic() - began:.1f} s, {peak_memory_mb():,.0f} MB at most in one process"),
    ]
    if as_json:
        print(json.dumps(summary(opened, manifests, rows), ensure_ascii=False, indent=2))
    else:
        console.print(closing_table(manifests, observer.seconds, rows))


def write_review_queue(opened: Build) -> tuple[Path, int]:
    """Flagged items as a file that Label Studio imports; returns the file and how many items wait."""
    from annotation.queue import write_queue
    from flows.context import ITEM_ROWS
    from schemas.audit import Audit, Verdict
    from schemas.finding import Finding

    audited_stage = opened.stage("6_audited")
    settled = {row.record for row in opened.stage("7_reviewed").rejections() if row.reason == "unresolved"}
    verdicts = [v for v in audited_stage.read_all("verdicts", Verdict) if v.item in settled]
    items = [item for item in audited_stage.read_all("items", ITEM_ROWS) if item.id in settled]
    path = opened.run_folder / "review_queue.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    findings = (f for f in audited_stage.read_all("findings", Finding) if f.subject in settled)
    audits = (a for a in audited_stage.read_all("audits", Audit) if a.item in settled)
    return path, write_queue(path, items, verdicts, findings, audits)


def link_latest(run_folder: Path) -> None:
    """Points `latest` beside the run's folder at it."""
    latest = run_folder.parent / "latest"
    fresh = run_folder.parent / f".latest-{run_folder.name}"
    fresh.symlink_to(run_folder.name, target_is_directory=True)
    fresh.replace(latest)


def released(opened: Build) -> str:
    """Version, size and place of the release."""
    from flows.terminal import shown_path
    from mihakk.settings import settings
    from schemas.published import Published

    row = next(iter(opened.stage("8_released").read_all("release", Published)))
    place = shown_path(settings().hub / row.name)
    return f"{row.name} {row.version}, {row.items:,} items, in {place} (tag {row.version})"


def audited(opened: Build, manifests: list[StageManifest]) -> str:
    """How many items the auditors saw and whether they are judges at all."""
    notes = next(m for m in manifests if m.stage == "6_audited").counts.notes
    total = next(m for m in manifests if m.stage == "6_audited").counts.read
    said = f"{notes.get('audited', 0):,} of {total:,} items seen by both auditors"
    if not all(auditor.capable for auditor in opened.auditors().auditors):
        said += "; these auditors are too small to be judges: their passes prove nothing"
    return said


def summary(opened: Build, manifests: list[StageManifest], rows: list[tuple[str, str]]) -> dict[str, object]:
    """The closing table as plain data."""
    return {
        "benchmark": opened.config.name,
        "stages": {m.stage: m.counts.model_dump() for m in manifests},
        **{name.lower().replace(" ", "_"): value for name, value in rows},
    }
