"""`mihakk report | dashboard | digest`: the state of benchmarks as a file, as live pages, since yesterday."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from mihakk.flows.commands.options import AsJson, Benchmark, Lake
from mihakk.machinery.errors import UsageError
from mihakk.reports.console import open_console, print_json

Benchmarks = Annotated[
    list[Path] | None,
    typer.Argument(help="Configs, or names in configs/benchmarks/; demo when empty."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (report, dashboard, digest):
        app.command()(command)


def report(
    config: Benchmark = Path("demo"),
    out: Annotated[
        Path | None, typer.Option(help="File to write; runs/<benchmark>/overview.html by default.")
    ] = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Write how a benchmark stands, over all its runs and releases, into one HTML file that needs no network.

    It quotes no item; of a blind benchmark its figures are of sealed items too, so hand round the release
    instead. The page of a single run is its own `report.html`.

    Example: mihakk report demo --out demo.html
    """
    from mihakk.machinery.settings import require, settings

    require("pages")
    from mihakk.pipeline.build import open_build
    from mihakk.reports.dashboard.overview import Gatherer
    from mihakk.reports.dashboard.page import write_overview
    from mihakk.reports.terminal import shown_path

    opened = open_build(config, lake=lake)
    facts = Gatherer(opened).facts()
    path = write_overview(facts, out or settings().runs / opened.config.name / "overview.html")
    if as_json:
        print_json({"level": facts.level, "notes": facts.notes, "file": path.resolve()})
        return
    console = open_console(soft_wrap=True)
    for note in facts.notes:
        console.print(f"{note.level}: {note.text}", markup=False)
    console.print(f"Report: {shown_path(path.resolve())}", markup=False)


def dashboard(
    configs: Benchmarks = None,
    lake: Lake = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0: a free one.")] = 8092,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that requests may call this server by, besides loopback's."),
    ] = None,
) -> None:
    """Serve live, read-only pages: how benchmarks stand, and every item's whole history.

    There is no login: the pages listen on loopback only, unless --host and --allow-host say otherwise. Then
    put a proxy that authenticates in front.

    Example: mihakk dashboard demo persian --port 8092
    """
    from mihakk.machinery.settings import require

    require("pages")
    import uvicorn

    from mihakk.pipeline.build import open_build
    from mihakk.reports.dashboard.app import LOOPBACK, dashboard_app

    names = list(allow_host or ())
    if host not in LOOPBACK and not names:
        raise UsageError(
            f"--host {host} can be reached from other machines, and the pages need no login: "
            "name the host with --allow-host, and put a proxy that authenticates in front"
        )
    builds = [open_build(config, lake=lake) for config in configs or [Path("demo")]]
    app = dashboard_app(builds, [*LOOPBACK, *names])
    with _listening(host, port) as door:
        address = f"http://{host}:{door.getsockname()[1]}/"
        open_console().print(f"Dashboard: {address} (read-only; Ctrl+C ends it)", soft_wrap=True)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(settings).run(sockets=[door])


def digest(
    configs: Benchmarks = None,
    since: Annotated[float, typer.Option(min=0.01, help="Hours to look back.")] = 24.0,
    webhook: Annotated[
        str,
        typer.Option(envvar="MIHAKK_DIGEST_WEBHOOK", help="Address that gets it as JSON: text and level."),
    ] = "",
    to: Annotated[
        list[str] | None,
        typer.Option("--mail", help="Address that gets it by mail, through MIHAKK_SMTP. Repeatable."),
    ] = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Say what changed in the content since yesterday, what is held, waits or is late, and what it cost.

    Example: mihakk digest persian arabic_idioms --webhook https://chat.example/hook
    (the `digest` job does it each morning)
    """
    from datetime import UTC, datetime, timedelta

    from mihakk.pipeline.build import open_build
    from mihakk.reports.dashboard.overview import Gatherer
    from mihakk.reports.digest import digest as digest_of
    from mihakk.reports.digest import plain_text, send

    moment = datetime.now(UTC) - timedelta(hours=since)
    builds = [open_build(config, lake=lake) for config in configs or [Path("demo")]]
    found = [digest_of(Gatherer(build).facts(), moment) for build in builds]
    send(found, moment, webhook=webhook, to=to or ())
    if as_json:
        print_json(found)
    else:
        typer.echo(plain_text(found, moment), nl=False)


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise UsageError(
            f"can't listen on {host}:{port} ({error.strerror}): give another --port, or 0 for a free one"
        ) from error
