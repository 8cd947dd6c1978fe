"""`mihakk release | publish | diff`: versions that consumers can trust."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flows.context import Build
    from releases.hub.publication import Publication

Benchmark = Annotated[
    Path, typer.Argument(help="The benchmark's config, or its name in configs/benchmarks/.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (release, publish, diff, report_defect):
        app.command(rich_help_panel="Release")(command)


def release(
    config: Benchmark,
    version: Annotated[str, typer.Option(help="auto, or MAJOR.MINOR.PATCH.")] = "auto",
    sign_off: Annotated[
        str,
        typer.Option("--sign-off", help="Your name: you approve these tables. The card names you."),
    ] = "",
    note: Annotated[str, typer.Option(help="What you want the card to say beside your name.")] = "",
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake.")] = None,
) -> None:
    """Assemble the reviewed tables into a version on the embedded Hub, and say how every gate stands.

    A version lower than the changes ask for is refused.
    """
    from dataclasses import replace

    from flows.context import open_build
    from flows.engine import local_engine
    from flows.history import recorded
    from flows.pipeline import run_step, step_of
    from flows.steps.release import standing_gates
    from flows.terminal import TerminalObserver

    opened = open_build(config, Path("runs"), lake)
    chosen = opened.config.release.model_copy(update={"version": version})
    opened = replace(opened, config=opened.config.model_copy(update={"release": chosen}))
    console = Console()
    if sign_off:
        from flows.sign_off import sign

        sign(opened, "approve", sign_off, note)
    for gate in standing_gates(opened):
        mark = "[green]open[/]" if gate.passed else "[red]shut[/]" if gate.asked else "[yellow]not asked[/]"
        console.print(f"{mark} {gate.name}: {gate.found}", soft_wrap=True)
    with (
        opened.lake.locked(),
        local_engine() as engine,
        TerminalObserver(console) as observer,
        recorded(opened, observer) as log,
    ):
        run_step(step_of("8_released"), opened, engine, log)
    from flows.commands.build import released

    console.print(released(opened))


def publish(
    config: Benchmark,
    version: Annotated[str, typer.Option(help="A version on the embedded Hub; the newest when empty.")] = "",
    repository: Annotated[str, typer.Option(help="owner/name on the Hub, instead of the config's.")] = "",
    endpoint: Annotated[str, typer.Option(help="Address of the Hub; huggingface.co when empty.")] = "",
) -> None:
    """Push a released version to huggingface.co: one commit, tag last, loaded back and compared byte by byte.

    The token comes from MIHAKK_HF_TOKEN. Releases whose auditors are no judges are refused.
    """
    from flows.context import open_build

    opened = open_build(config, Path("runs"))
    publication = publish_version(opened, version, repository, endpoint)
    done = "published" if publication.created else "stands there already, byte for byte"
    Console().print(f"{publication.name} {publication.version} {done}: commit {publication.commit}")


def publish_version(
    opened: Build, version: str = "", repository: str = "", endpoint: str = ""
) -> Publication:
    """Pushes a version of the embedded Hub (the newest when empty) to where the config says.

    Raises:
        UsageError: The config's auditors are no judges, nothing is released, or no repository is named.
        ExternalFailure: The Hub failed; the same call goes on where it stopped.
    """
    from dataclasses import replace

    from mihakk.errors import UsageError
    from releases.hub.embedded import EmbeddedHub
    from releases.hub.publishing import push_release
    from releases.standing import read_release

    wanted = opened.config.release
    if repository:
        wanted = wanted.model_copy(update={"repository": repository})
    if not all(auditor.capable for auditor in opened.auditors().auditors):
        raise UsageError(
            "the config's auditors are not capable judges, so nothing they passed is published: "
            "name two capable models in audit.auditors and build again"
        )
    hub, name = EmbeddedHub(), opened.config.name
    chosen = version or hub.latest(name)
    if not chosen:
        raise UsageError(f"{name} has no release yet: run `mihakk build` of it first")
    with tempfile.TemporaryDirectory(prefix="mihakk-publish-") as scratch:
        assembled = read_release(name, hub.checkout(name, chosen, Path(scratch) / chosen))
        if chosen in hub.versions(f"{name}-answers"):
            golds = hub.checkout(f"{name}-answers", chosen, Path(scratch) / "answers")
            assembled = replace(assembled, answers=read_release(f"{name}-answers", golds))
        settled = opened.config.model_copy(update={"release": wanted})
        return push_release(assembled, settled, endpoint or None)


@contextmanager
def _checked_out(name: str, version: str) -> Iterator[Path]:
    """Files of a version on the embedded Hub while the context lasts."""
    from releases.hub.embedded import EmbeddedHub

    with tempfile.TemporaryDirectory(prefix="mihakk-diff-") as scratch:
        yield EmbeddedHub().checkout(name, version, Path(scratch) / version)


def diff(
    config: Benchmark,
    old: Annotated[str, typer.Argument(help="A version.")],
    new: Annotated[str, typer.Argument(help="A later version.")],
    parquet: Annotated[Path | None, typer.Option(help="Write the changes into this file as well.")] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, as the changelog has it.")
    ] = False,
) -> None:
    """Say what changed between two versions: added, removed with the reason, gold changed, text changed."""
    from flows.context import open_build
    from releases.changelog import section
    from releases.diff import diff as compare
    from releases.papers import write_changes

    name = open_build(config, Path("runs")).config.name
    with _checked_out(name, old) as before, _checked_out(name, new) as after:
        changes = compare(before, after)
    text = section(new, changes)
    if parquet:
        write_changes(changes, parquet)
    if as_markdown:
        print(text)
    else:
        Console().print(Markdown(text))


def report_defect(
    config: Benchmark,
    item: Annotated[str, typer.Argument(help="Id of the item.")],
    problem: Annotated[
        str, typer.Option(help="wrong_gold, ambiguous, not_authentic, duplicate, unreadable, ….")
    ],
    evidence: Annotated[
        str, typer.Option(help="What is wrong and how one can tell: a source, a page, a line.")
    ],
    version: Annotated[str, typer.Option(help="Version it was seen in; the newest when empty.")] = "",
    correct: Annotated[
        list[str] | None,
        typer.Option(help="FIELD=TEXT, e.g. gold=1 or 'options[2]=…': how it should read. Repeatable."),
    ] = None,
    reporter: Annotated[str, typer.Option(help="A name you agree to be known by.")] = "",
) -> None:
    """File a defect in a released item; the next build sends the item to people unless it has changed."""
    from typing import get_args

    from flows.context import open_build
    from flows.steps.check import errata_folder
    from mihakk.errors import UsageError
    from releases.errata import report_defect as file_report
    from releases.hub.embedded import EmbeddedHub
    from schemas.review import DiscardReason

    if problem not in get_args(DiscardReason):
        raise UsageError(f"--problem {problem!r} is none of {', '.join(get_args(DiscardReason))}")
    corrections = dict(one.partition("=")[::2] for one in correct or ())
    if not all(field and text for field, text in corrections.items()):
        raise UsageError("write --correct FIELD=TEXT, e.g. --correct gold=1")
    name = open_build(config, Path("runs")).config.name
    chosen = version or EmbeddedHub().latest(name) or ""
    with _checked_out(name, chosen) as release_files:
        path = file_report(
            release_files,
            item,
            problem,  # type: ignore[arg-type]  # checked just above
            evidence,
            corrections=corrections,
            reporter=reporter,
            folder=errata_folder(name),
        )
    Console().print(f"filed as {path}; it binds while the item is unchanged")
