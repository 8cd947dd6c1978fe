"""`mihakk seal`: what blind releases of the embedded Hub keep sealed, and what of it stands in public."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mihakk.flows.commands.options import AsJson
from mihakk.reports.console import print_result, rows_table

Named = Annotated[str, typer.Argument(help="Its name on the embedded Hub.")]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="What blind releases keep sealed.", no_args_is_help=True)
    for command in (lookup, end, rebuild):
        group.command()(command)
    app.add_typer(group, name="seal")


def lookup(
    release: Annotated[str, typer.Argument(help="A release: its folder, or NAME@VERSION.")],
    sources: Annotated[
        list[str] | None,
        typer.Option("--in", help="A file, a folder of text, or a release. Repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look the test questions of a release up: in this repository's data, and in files, folders and releases.

    Prints the share of each config whose texts are found. In a build, `release.lookups` does the same, and
    ranks what is found apart from skill.

    Example: mihakk seal lookup sealed@0.1.0 --in ~/OpenITI/data --in demo@0.1.0
    """
    from mihakk.machinery.groups import grouped
    from mihakk.machinery.settings import REFERENCE, SAMPLES
    from mihakk.releases.content.item_tables import data_files, released_rows
    from mihakk.releases.hub.load import named_folder
    from mihakk.releases.lookups import look_up

    folder = named_folder(release)[0]
    tested = {config for config, split, _ in data_files(folder) if split == "test"}
    every = list(released_rows(folder))
    rows = [row for row in every if row.get("sealed")] or every
    of_config = grouped(rows, lambda row: f"{row['language']}_{row['task']}")
    places = {"our data": [SAMPLES, REFERENCE]} | {
        name: [path if (path := Path(name)).exists() else named_folder(name)[0]] for name in sources or ()
    }
    table = []
    for place, paths in places.items():
        found = look_up(rows, paths)
        for config, own in sorted(of_config.items()):
            if config in tested:
                there = sum(row["id"] in found for row in own)
                share = there / len(own)
                table.append(
                    {
                        "config": config,
                        "in": place,
                        "items": len(own),
                        "found": there,
                        "share": round(share, 4),
                    }
                )
    print_result(table, rows_table(table, ("config", "in", "items", "found", "share")), as_json=as_json)


def end(name: Named, as_json: AsJson = False) -> None:
    """Say that the golds of a blind benchmark may be told: other benchmarks may print its texts from now on.

    This can't be taken back. No later version may seal these texts again.

    Example: mihakk seal end sealed
    """
    from mihakk.releases.hub.embedded import EmbeddedHub

    versions = EmbeddedHub().end_seal(name)
    print_result({"ended": versions}, f"The seal of {', '.join(versions)} has ended", as_json=as_json)


def rebuild(as_json: AsJson = False) -> None:
    """Make the Hub's registry again from its releases and their golds, after a loss or where it asks for it.

    Whole poems are known from builds alone: they stay where their files in `.registry` are whole. Restore
    the folder from a copy where there is one: benchmarks that the Hub no longer has are lost. Seals that had
    ended stand again where the index was damaged or edited, or an older Mihakk wrote it unsigned.

    Example: mihakk seal rebuild
    """
    from mihakk.pipeline.blind_scoring import answers_identity
    from mihakk.releases.hub.embedded import EmbeddedHub

    versions = EmbeddedHub().rebuild_registry(answers_identity())
    print_result({"versions": versions}, f"{len(versions)} versions are registered", as_json=as_json)
