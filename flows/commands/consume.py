"""`mihakk pull | verify`: releases as their readers have them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Endpoint
from mihakk.reports.console import open_console, print_json, print_result

SHOWN = 10
"""Files named per kind of difference; the rest is counted."""


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (pull, verify):
        app.command()(command)


def pull(
    name: Annotated[str, typer.Argument(help="owner/name on a Hub, or a benchmark on the embedded Hub.")],
    version: Annotated[str, typer.Argument(help="MAJOR.MINOR.PATCH.")],
    folder: Annotated[Path, typer.Argument(help="Where the files go; must not exist or be empty.")],
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Fetch one version of a release into a folder, checked against its manifest and its version.

    Example: mihakk pull demo 0.1.0 ./demo-0.1.0
    """
    from mihakk.releases.hub.load import copy_release

    files = copy_release(name, version, folder, endpoint=endpoint or None)
    told = f"{name} {version}: {files} files in {folder}, each as its MANIFEST.sha256 states"
    found = {"name": name, "version": version, "files": files, "folder": str(folder)}
    print_result(found, escape(told), as_json=as_json)


def verify(
    folder: Annotated[Path, typer.Argument(help="A release folder, pulled, cloned or copied.")],
    version: Annotated[str, typer.Option(help="The version it should be; its own when empty.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare a release folder with its manifest: what is damaged, and what readers' programs left in it.

    Warns where the release, its clone or the embedded Hub says that the version is withdrawn. Exit code 1
    when a file is damaged, missing or added, or the folder holds another version.

    Example: mihakk verify ./demo-0.1.0 --version 0.1.0
    """
    from mihakk.releases.content.checksum import faults, generated, read_manifest
    from mihakk.releases.hub.load import moved_tag, warn_of_folder
    from mihakk.releases.versions.diff import release_version

    console = open_console(soft_wrap=True, markup=False)
    stated, wrong, left = read_manifest(folder), faults(folder), generated(folder)
    inside = release_version(folder) if not wrong else ""
    if inside and version and inside != version:
        wrong = [f"the data says that it is {inside}, not {version}"]
    if inside and (moved := moved_tag(folder, inside)):
        wrong.append(moved)
    if inside:
        warn_of_folder(folder, inside)
    if as_json:
        told = {"version": inside, "files": len(stated), "damaged": wrong, "generated": left}
        print_json(told)
        raise typer.Exit(1 if wrong else 0)
    for text in wrong[:SHOWN]:
        console.print(f"damaged: {text}")
    if len(wrong) > SHOWN:
        console.print(f"and {len(wrong) - SHOWN} more")
    for path in left[:SHOWN]:
        console.print(f"generated: {path} (left by a reader's program, not part of the release)")
    if len(left) > SHOWN:
        console.print(f"and {len(left) - SHOWN} more generated files")
    if wrong:
        console.print("Fetch the release again.")
        raise typer.Exit(1)
    console.print(f"version {inside}: all {len(stated)} files are as the manifest states")
