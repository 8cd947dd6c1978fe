"""`mihakk build`: from sources to a release."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Benchmark, Engine, Lake, Log, Workers
from mihakk.reports.console import open_console, print_result
from mihakk.schemas.stages import AUDITED, RELEASED, REVIEWED

if TYPE_CHECKING:
    from mihakk.pipeline.build import Build
    from mihakk.pipeline.step import Step
    from mihakk.schemas.manifest import StageManifest

END = "queue, data docs and report"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(build)


def build(
    config: Benchmark,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the plan: stages, shards, model calls, tokens. Asks no model."),
    ] = False,
    audit_limit: Annotated[
        int | None, typer.Option(min=0, help="Audit at most this many items, balanced over tasks.")
    ] = None,
    auditors: Annotated[
        str | None, typer.Option(help="A name in configs/auditors/, or a file, instead of the config's.")
    ] = None,
    lake: Lake = None,
    runs: Annotated[
        Path | None, typer.Option(help="Where the run's report and review queue go, instead of MIHAKK_RUNS.")
    ] = None,
    engine: Engine = "",
    workers: Workers = 0,
    log: Log = "auto",
    first: Annotated[
        str,
        typer.Option("--from", help="First stage to run; those before it must be finished."),
    ] = "",
    last: Annotated[
        str,
        typer.Option("--until", help="Last stage to run: curated, generated, checked, audited, ..."),
    ] = "",
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask auditors anew where they gave no usable reply.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build a benchmark release: scrape, normalise, curate, generate, check, audit, review, release.

    Run again after a crash or a kill, it goes on where it stopped: finished shards and answered model calls
    are used again. The release goes to the embedded Hub (a local git repository, one tag per version).

    Example: mihakk build demo --dry-run
    """
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.build import open_build, overridden, run_folder
    from mihakk.pipeline.run import require_extras
    from mihakk.pipeline.steps.order import STEPS, between

    steps = between(first, last)
    folder = run_folder(runs or settings().runs, config.stem)
    opened = overridden(open_build(config, folder, lake), audit_limit, auditors)
    require_extras(opened)
    if steps[0] is not STEPS[0]:
        opened.stage(STEPS[STEPS.index(steps[0]) - 1].stage).manifest()
    console = open_console(stderr=as_json)
    if dry_run:
        from mihakk.pipeline.plan import plan
        from mihakk.reports.plan_table import show_plan

        found = plan(opened)
        print_result(found, show_plan(found), as_json=as_json)
        return
    if ask_again:
        from mihakk.machinery.llm.journal import Journal
        from mihakk.pipeline.steps.audit import JOURNAL, journal_folder

        with Journal(journal_folder(opened), JOURNAL) as journal:
            console.print(f"{journal.ask_again():,} requests without a usable reply are asked again")
    _run(opened, console, engine, workers, log, steps=steps, target=config, as_json=as_json)


def _run(
    opened: Build,
    console: Console,
    engine_spec: str,
    workers: int,
    log: str,
    *,
    steps: Sequence[Step],
    target: Path,
    as_json: bool,
) -> None:
    from mihakk.machinery.lake.stage import peak_memory_mb
    from mihakk.pipeline.engines.choose import open_engine
    from mihakk.pipeline.guards import write_data_docs
    from mihakk.pipeline.losses import refused
    from mihakk.pipeline.observer import Stopwatch
    from mihakk.pipeline.run import run_pipeline
    from mihakk.reports.closing import (
        audited,
        done_without,
        link_latest,
        released,
        standing_commit,
        write_review_queue,
    )
    from mihakk.reports.log_lines import observer_for
    from mihakk.reports.terminal import LOST, closing_table, shown_path

    watch = Stopwatch()
    console.print(f"[bold]{escape(opened.config.title)}[/] → {opened.lake.storage.root}")
    before = standing_commit(opened)
    with open_engine(engine_spec, workers or None) as engine, observer_for(console, log) as observer:
        run = run_pipeline(opened, engine, observer, steps, watch)
    stage, rows = steps[-1].stage, []
    if stage != RELEASED:
        rows += [
            ("Stopped after", f"{stage}; go on with `mihakk build {target}`"),
            ("Look", f"mihakk show {stage} -b {target}"),
        ]
    else:
        observer.phase(END)
        rows.append(("Release", released(opened, before)))
    if stage in (REVIEWED, RELEASED):
        queue, waiting = write_review_queue(opened)
        rows.append(("Waits for people", f"{waiting:,} items: {shown_path(queue)}" if waiting else "nothing"))
    if stage == RELEASED:
        if run.data_docs:
            write_data_docs(opened, run.data_docs)
        rows.append(("Audit", audited(opened, [opened.stage(AUDITED).manifest()])))
        if find_spec("duckdb"):
            from mihakk.reports.dashboard.page import write_report

            rows.append(("Report", shown_path(write_report(opened))))
        if lacking := done_without():
            rows.append(("Done without", lacking))
        link_latest(opened.run_folder)
        observer.phase(END, watch.lap(END))
        took = f"{sum(watch.seconds.values()):.1f} s, {peak_memory_mb():,.0f} MB at most in one process"
        rows.append(("Took", took))
    else:
        watch.lap(END)
    if lost := refused(opened):
        rows.append((LOST, lost))
    table = closing_table(run.manifests, run.seconds, rows)
    print_result(summary(opened, run.manifests, rows), table, as_json=as_json)
    if lost:
        raise typer.Exit(1)


def summary(opened: Build, manifests: list[StageManifest], rows: list[tuple[str, str]]) -> dict[str, object]:
    """The closing table as plain data."""
    return {
        "benchmark": opened.config.name,
        "stages": {m.stage: m.counts.model_dump() for m in manifests},
        **{name.lower().replace(" ", "_"): value for name, value in rows},
    }
