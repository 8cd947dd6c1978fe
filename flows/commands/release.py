"""`mihakk release | publish | diff`: versions that consumers can trust."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from mihakk.flows.commands.options import AsJson, Benchmark, Endpoint, Lake, Repository, Reviewed
from mihakk.reports.console import open_console, print_json, print_result
from mihakk.schemas.published import Published
from mihakk.schemas.stages import RELEASED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mihakk.pipeline.build import Build
    from mihakk.releases.gates import Gate

_SIDE_BY_SIDE = 20
"""Changed texts that `diff` shows in a terminal."""
Overridden = Annotated[
    list[str] | None,
    typer.Option(
        "--override",
        help="A gate to override for these tables. Repeatable.",
    ),
]
Reasons = Annotated[
    list[str] | None, typer.Option("--why", help="The reason, one for each --override; the card prints it.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (release, publish, withdraw, diff, report_defect):
        app.command()(command)


def release(
    config: Reviewed,
    version: Annotated[str, typer.Option(help="auto, or MAJOR.MINOR.PATCH.")] = "auto",
    sign_off: Annotated[
        str,
        typer.Option("--sign-off", help="Your name: you approve these tables. The card names you."),
    ] = "",
    note: Annotated[str, typer.Option(help="What you want the card to say beside your name.")] = "",
    override: Overridden = None,
    why: Reasons = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Assemble the reviewed tables into a version on the embedded Hub, and say how every gate stands.

    A version lower than the changes ask for is refused.

    Example: mihakk release demo --sign-off "Layla Haddad"
    """
    from dataclasses import replace

    from mihakk.machinery.errors import UsageError
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.external_people import sets_in

    named, console = _pairs(override, why), open_console(stderr=as_json)
    if sets := sets_in(config):
        if sign_off or note or version != "auto":
            raise UsageError("an audited set has neither sign-off nor version to choose: leave them out")
        done = [_release_set(one, named, console) for one in sets]
        if as_json:
            print_json(done)
        return
    opened = open_build(config, lake=lake)
    chosen = opened.config.release.model_copy(update={"version": version})
    opened = replace(opened, config=opened.config.model_copy(update={"release": chosen}))
    if sign_off:
        from mihakk.pipeline.sign_off import sign

        sign(opened, "approve", sign_off, note)
    _keep_overrides(opened, named)
    made = _assemble(opened, console)
    if as_json:
        print_json(made)


def _keep_overrides(opened: Build, named: Sequence[tuple[str, str]]) -> None:
    from mihakk.pipeline.sign_off import override

    for gate, reason in named:
        override(opened, gate, reason)


def _pairs(gates: list[str] | None, reasons: list[str] | None) -> list[tuple[str, str]]:
    from mihakk.machinery.errors import UsageError

    named, said = gates or [], reasons or []
    if len(named) != len(said):
        raise UsageError(
            f"{len(named)} gates are named by --override and {len(said)} reasons by --why: give each its own"
        )
    return list(zip(named, said, strict=True))


def _release_set(folder: Path, named: Sequence[tuple[str, str]], console: Console) -> dict[str, Any]:
    """Puts the cleaned release of an audited set onto the embedded Hub and says how every gate stands."""
    from mihakk.pipeline.external_release import release_set

    publication, found = release_set(folder, named)
    _show_gates(found, console)
    done = "released" if publication.created else "stands there already, byte for byte"
    console.print(f"{publication.name} {publication.version} {done}: {publication.location}", soft_wrap=True)
    return {"release": publication, "gates": found}


def _show_gates(gates: Iterable[Gate], console: Console) -> None:
    for gate in gates:
        colour = {"open": "green", "shut": "red"}.get(gate.state, "yellow")
        console.print(f"[{colour}]{gate.state}[/] {gate.name}: {gate.found}", soft_wrap=True)
        if gate.override:
            console.print(f"  overridden: {gate.override}", soft_wrap=True, markup=False)


def _assemble(opened: Build, console: Console) -> dict[str, Any]:
    """Runs the last step and says how every gate stands."""
    from mihakk.pipeline.engines.local import local_engine
    from mihakk.pipeline.history import recorded
    from mihakk.pipeline.run import run_step
    from mihakk.pipeline.steps.order import step_of
    from mihakk.pipeline.steps.release import standing_gates
    from mihakk.reports.closing import released, standing_commit
    from mihakk.reports.log_lines import observer_for

    before = standing_commit(opened)
    gates = list(standing_gates(opened))
    _show_gates(gates, console)
    with (
        opened.lake.locked(),
        local_engine() as engine,
        observer_for(console, "auto") as observer,
        recorded(opened, observer) as log,
    ):
        run_step(step_of(RELEASED), opened, engine, log)
    console.print(released(opened, before))
    (row,) = opened.stage(RELEASED).read_all("release", Published)
    return {"release": row, "gates": gates}


def publish(
    config: Reviewed,
    version: Annotated[
        str,
        typer.Option(help="A version on the embedded Hub; the newest when empty."),
    ] = "",
    repository: Repository = "",
    endpoint: Endpoint = "",
    override: Overridden = None,
    why: Reasons = None,
    lake: Annotated[str | None, typer.Option(help="Folder or URL of the lake, for --override.")] = None,
    as_json: AsJson = False,
) -> None:
    """Push a released version to huggingface.co: one commit, tag last, loaded back and compared byte by byte.

    The token comes from MIHAKK_HF_TOKEN. The release is judged by its own `audit/gates.json`, whatever the
    config says by now. --override makes a new version, whose card names the gate and the reason for good.

    Example: mihakk publish demo --version 0.2.0
    """
    from mihakk.machinery.errors import UsageError
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.external_people import is_audited_set
    from mihakk.pipeline.external_release import publish_set, release_set
    from mihakk.pipeline.publishing import publish_version

    if version and (override or why):
        raise UsageError("--override makes a new version: leave --version out")
    named = _pairs(override, why)
    if is_audited_set(config):
        if not version:
            release_set(config, named)
        publication = publish_set(config, version, repository, endpoint)
    else:
        opened = open_build(config, lake=lake)
        if named:
            _keep_overrides(opened, named)
            _assemble(opened, open_console(stderr=as_json))
        publication = publish_version(opened, version, repository, endpoint)
    done = "published" if publication.created else "stands there already, byte for byte"
    told = f"{publication.name} {publication.version} {done}: commit {publication.commit}"
    print_result(publication, told, as_json=as_json)


def withdraw(
    config: Reviewed,
    version: Annotated[str, typer.Argument(help="The version that must not be used any more.")],
    why: Annotated[str, typer.Option(help="The reason; card, changelog and loaders repeat it.")],
    repository: Repository = "",
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Withdraw a version for good: tag and bytes stay, card and changelog say so, readers are warned.

    On the embedded Hub, and on the repository of the config where the version is published there.
    Safe to repeat.

    Example: mihakk withdraw demo 0.1.0 --why "The gold of 40 items was shifted."
    """
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.external_people import is_audited_set, open_set
    from mihakk.pipeline.publishing import withdraw_version

    if is_audited_set(config):
        told = open_set(config)
        name, published = told.name, told.repository
    else:
        opened = open_build(config)
        name, published = opened.config.name, opened.config.release.repository
    places = withdraw_version(name, version, why, repository, endpoint, published=published)
    if as_json:
        print_json({"version": version, "places": places})
        return
    for place, new in places.items():
        said = "withdrawn" if new else "was withdrawn before; the first reason stands"
        open_console().print(f"{name} {version} on {place}: {said}", soft_wrap=True)


@contextmanager
def _checked_out(name: str, version: str) -> Iterator[Path]:
    """Files of a version on the embedded Hub while the context lasts; warns where it is withdrawn."""
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.hub.load import warn_if_withdrawn

    warn_if_withdrawn(name, version, EmbeddedHub().withdrawals(name))
    with tempfile.TemporaryDirectory(prefix="mihakk-diff-") as scratch:
        yield EmbeddedHub().checkout(name, version, Path(scratch) / version)


def diff(
    config: Benchmark,
    old: Annotated[str, typer.Argument(help="A version.")],
    new: Annotated[str, typer.Argument(help="A later version.")],
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, as the changelog has it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what changed between two versions: added, removed with the reason, gold changed, text changed.

    In a terminal the first changed texts stand side by side.

    Example: mihakk diff demo 0.1.0 0.2.0 --markdown
    """
    from mihakk.pipeline.build import open_build
    from mihakk.releases.versions.changelog import section
    from mihakk.releases.versions.diff import diff as compare
    from mihakk.releases.versions.diff import reworded

    name = open_build(config).config.name
    with _checked_out(name, old) as before, _checked_out(name, new) as after:
        changes = compare(before, after)
        texts = (
            [] if as_json or as_markdown else list(islice(reworded(before, after, changes), _SIDE_BY_SIDE))
        )
    text = section(new, changes)
    if as_json:
        rows = [change.model_dump(mode="json") for change in changes.changes]
        told = {"old": old, "new": new, "level": changes.level, "counts": changes.counts, "changes": rows}
        print_json(told)
    elif as_markdown:
        print(text)
    else:
        open_console().print(Markdown(text), *([_side_by_side(old, new, texts)] if texts else []))


def _side_by_side(old: str, new: str, texts: Sequence[tuple[str, str, str, str]]) -> Table:
    table = Table("Item", old, new, show_lines=True, title="Changed texts")
    for name, field, before, after in texts:
        table.add_row(f"{escape(name)}\n{field}", escape(before), escape(after))
    return table


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
    as_json: AsJson = False,
) -> None:
    """File a defect in a released item; the next build sends the item to people unless it has changed.

    Example: mihakk report-defect demo ID --problem wrong_gold --evidence "The dictionary, p. 12: ..."
    """
    from typing import get_args

    from mihakk.machinery.errors import UsageError
    from mihakk.pipeline.build import open_build
    from mihakk.pipeline.steps.check import errata_folder
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.paper_trail.errata import report_defect as file_report
    from mihakk.schemas.review import DiscardReason

    if problem not in get_args(DiscardReason):
        raise UsageError(f"--problem {problem!r} is not one of {', '.join(get_args(DiscardReason))}")
    corrections = dict(one.partition("=")[::2] for one in correct or ())
    if not all(field and text for field, text in corrections.items()):
        raise UsageError("write --correct FIELD=TEXT, e.g. --correct gold=1")
    name = open_build(config).config.name
    chosen = version or EmbeddedHub().latest(name) or ""
    if not chosen:
        raise UsageError(f"{name} has no release yet: run `mihakk build` of it first")
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
    told = f"filed as {path}; it applies as long as the item is unchanged"
    print_result({"item": item, "version": chosen, "file": str(path)}, told, as_json=as_json)
