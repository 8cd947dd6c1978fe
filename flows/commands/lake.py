"""`mihakk lake`: is what lies there what was written, what of it may go, and copies of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from mihakk.flows.commands.options import AsJson, Benchmark, Lake
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import print_result, rows_table


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="The files of a benchmark's lake.", no_args_is_help=True)
    group.command()(verify)
    group.command()(prune)
    group.command()(backup)
    group.command()(restore)
    app.add_typer(group, name="lake")


def verify(config: Benchmark, lake: Lake = None, as_json: AsJson = False) -> None:
    """Read every file and compare it with its digest; exit code 1 if one is damaged. Changes nothing.

    Example: mihakk lake verify demo
    """
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.verify import Verifier
    from mihakk.releases.hub.embedded import EmbeddedHub

    opened = open_build(config, lake=lake)
    found = Verifier(opened.lake, EmbeddedHub()).run()
    if not found.files:
        raise UsageError(
            f"there is nothing of {opened.config.name} in {opened.lake.storage.root}: "
            "run `mihakk build`, or name the lake with --lake"
        )
    damaged = rows_table([one.model_dump() for one in found.damages], ("path", "what", "fix"))
    total = (
        f"{found.files:,} files, {found.bytes / 1e6:,.1f} MB read in {opened.lake.storage.root}: "
        f"{len(found.damages)} damaged"
    )
    print_result(found, Group(damaged, total) if found.damages else total, as_json=as_json)
    if found.damages:
        raise typer.Exit(1)


def prune(
    config: Benchmark,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would go; remove nothing.")] = False,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Remove what only saves time and records of old runs; answers of models and people always stay.

    Example: mihakk lake prune demo --dry-run
    """
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.verify import prunable
    from mihakk.pipeline.verify import prune as remove

    opened = open_build(config, lake=lake)
    with opened.lake.locked():
        found = prunable(opened.lake)
        if not dry_run:
            remove(opened.lake, found)
    done = "would be removed" if dry_run else "removed"
    total = f"{sum(one.bytes for one in found) / 1e6:,.1f} MB {done}"
    table = rows_table([one.model_dump() for one in found], ("path", "files", "bytes", "why"))
    print_result(found, Group(table, total) if found else total, as_json=as_json)


def backup(
    config: Benchmark,
    folder: Annotated[Path, typer.Argument(help="New folder that the backup is written to.")],
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Copy a benchmark's lake and releases to a folder, while a build runs too; every file is compared.

    Example: mihakk lake backup demo /backups/demo-2026-11-25
    """
    from mihakk.pipeline.backup import back_up
    from mihakk.pipeline.build import open_build
    from mihakk.releases.hub.embedded import EmbeddedHub

    found = back_up(open_build(config, lake=lake).lake, EmbeddedHub(), folder)
    told = f"{len(found.files):,} files, {found.bytes / 1e6:,.1f} MB in {folder}"
    if found.damaged:
        told += f"; damaged in the lake already (see `mihakk lake verify`): {', '.join(found.damaged)}"
    print_result(found.model_copy(update={"files": {}}), told, as_json=as_json)


def restore(
    config: Benchmark,
    folder: Annotated[Path, typer.Argument(help="Folder that `mihakk lake backup` wrote.")],
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Bring a backup back, where the lake and the Hub have nothing of the benchmark; never over other files.

    Example: mihakk lake restore demo /backups/demo-2026-11-25
    """
    from mihakk.pipeline.backup import restore as bring_back
    from mihakk.pipeline.build import open_build
    from mihakk.releases.hub.embedded import EmbeddedHub

    opened = open_build(config, lake=lake)
    found = bring_back(folder, opened.lake, EmbeddedHub())
    made = f"{found.made:%Y-%m-%d %H:%M} UTC"
    told = f"{len(found.files):,} files of {made} are back in {opened.lake.storage.root}"
    print_result(found.model_copy(update={"files": {}}), told, as_json=as_json)
