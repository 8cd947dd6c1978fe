"""`mihakk overlay make | apply | verify`: errata as a patch of the benchmark that they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mihakk.flows.commands.options import AsJson, Endpoint
from mihakk.reports.console import open_console, print_json, print_result

Folder = Annotated[Path, typer.Argument(help="The overlay's folder.")]
Upstream = Annotated[
    str, typer.Argument(help="File or folder of the benchmark, or owner/name; fetched where left out.")
]
overlay = typer.Typer(no_args_is_help=True, help="A benchmark's errata as a patch of its own files.")


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(overlay, name="overlay")


@overlay.command()
def make(
    audit: Annotated[Path, typer.Argument(help="Folder of an external audit.")],
    out: Annotated[Path, typer.Argument(help="Folder of the overlay.")],
    dataset: Annotated[str, typer.Option(help="owner/name of the benchmark on the Hub.")] = "",
    revision: Annotated[str, typer.Option(help="Commit or tag of it that was audited.")] = "",
    upstream: Annotated[str, typer.Option(help="The audited file or folder, if it lies elsewhere now.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make an overlay of an audit: it gives the cleaned copy, byte for byte, and holds none of the benchmark.

    Where the licence is not known to allow copies it only leaves rows out.

    Example: mihakk overlay make found exam-overlay --dataset owner/exam --revision 1a2b3c
    """
    from mihakk.pipeline.overlay import make_overlay

    made = make_overlay(
        audit,
        out,
        dataset=dataset,
        revision=revision,
        upstream=upstream,
    )
    changes = ", ".join(f"{count} {reason}" for reason, count in made.changes.items()) or "no row"
    kind = " It leaves rows out and changes none." if made.exclusions_only else ""
    told = f"{out}: {made.name} {made.version}, a patch of {made.dataset} ({changes}).{kind}"
    print_result({"folder": str(out), **made.model_dump(mode="json")}, escape(told), as_json=as_json)


@overlay.command()
def apply(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="Where the patched files go; must be empty or not there.")],
    upstream: Upstream = "",
    moved: Annotated[
        bool,
        typer.Option(
            "--moved",
            help="Patch a benchmark that has changed too: the rows that are as stated, wherever they are.",
        ),
    ] = False,
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Write the patched copy of a benchmark.

    Exit code 1 when the benchmark is not the one that the overlay was made from: nothing is written then, or
    with --moved what could be patched.

    Example: mihakk overlay apply exam-overlay patched exam.jsonl
    """
    from mihakk.releases.overlay.patching import apply as apply_overlay

    problems = apply_overlay(folder, out, upstream, moved=moved, endpoint=endpoint)
    _print([str(one) for one in problems], f"{out}: as {folder} states", out, as_json=as_json)


@overlay.command()
def verify(folder: Folder, upstream: Upstream = "", endpoint: Endpoint = "", as_json: AsJson = False) -> None:
    """Compare a benchmark with what an overlay was made from: files, rows, and the values to be changed.

    Exit code 1 when they differ; each difference has a line.

    Example: mihakk overlay verify exam-overlay exam.jsonl
    """
    from mihakk.releases.overlay.patching import verify as verify_overlay

    problems = verify_overlay(folder, upstream, endpoint=endpoint)
    _print([str(one) for one in problems], f"the benchmark is as {folder} states", None, as_json=as_json)


def _print(problems: list[str], well: str, out: Path | None, *, as_json: bool) -> None:
    """Prints what does not fit, or that all does; ends with 1 in the first case."""
    if as_json:
        print_json({"problems": problems, "out": str(out or "")})
    else:
        console = open_console(soft_wrap=True, markup=False)
        for line in problems or [well]:
            console.print(line)
    if problems:
        raise typer.Exit(1)
