"""`mihakk server | deploy | serve`: a Prefect server, and the jobs of prefect.yaml on it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mihakk.flows.commands.options import AsJson, Benchmark
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.settings import ROOT, settings, workspace
from mihakk.reports.console import open_console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from prefect.client.orchestration import SyncPrefectClient

    from mihakk.schemas.benchmark import BenchmarkConfig

Notify = Annotated[
    str,
    typer.Option(
        help="Prefect block that is told of failures, e.g. slack-webhook/team or webhook/pager; "
        "without one the `alert` job leaves an artifact."
    ),
]
Measure = Annotated[
    str,
    typer.Option(
        "--suite",
        help="Suite whose systems are measured on every release that the jobs make: a name or a file.",
    ),
]
Mail = Annotated[
    list[str] | None,
    typer.Option("--mail", help="Address that gets the digest each morning. Repeatable."),
]
HEARTBEAT_SECONDS = "30"
NOBODY = (
    "nobody is told when a job fails, a release is held or a source shrinks: give --notify TYPE/NAME of a "
    "Prefect block, --mail ADDRESS, or set MIHAKK_DIGEST_WEBHOOK; else only artifacts on the server say so"
)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (server, deploy, serve):
        app.command()(command)


def server(
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port on 127.0.0.1.")] = 4200,
    data: Annotated[
        Path | None, typer.Option(help="Folder of its PostgreSQL, made on the first start; of the workspace.")
    ] = None,
    database: Annotated[
        str,
        typer.Option(
            help="postgresql+asyncpg://user:password@host:5432/name of a PostgreSQL that runs already."
        ),
    ] = "",
) -> None:
    """Run a Prefect server on PostgreSQL, which many workers may share; Ctrl+C stops both.

    PostgreSQL comes from Debian's package; its database stays in --data and is used again by the next start.

    Example: mihakk server --port 4200
    """
    from contextlib import ExitStack

    from mihakk.flows.deployed.database import Database

    if database and not database.startswith("postgresql+asyncpg://"):
        raise UsageError(
            f"--database {database.partition('@')[2] or database!r} is not an address that Prefect takes: "
            "write postgresql+asyncpg://user:password@host:5432/name"
        )
    console = open_console(soft_wrap=True)
    with ExitStack() as stack:
        if not database:
            folder = data or workspace() / "data" / "postgres"
            console.print(f"PostgreSQL: {folder}")
            database = stack.enter_context(Database(folder)).url
        console.print(f"Prefect: export PREFECT_API_URL=http://127.0.0.1:{port}/api")
        address = ("--host", "127.0.0.1", "--port", str(port))
        command = [sys.executable, "-m", "prefect", "server", "start", *address]
        process = subprocess.Popen(
            command, env={**os.environ, "PREFECT_SERVER_DATABASE_CONNECTION_URL": database}
        )
        try:
            code = process.wait()
        finally:
            # Interrupted: the server has the terminal's Ctrl+C too, but not the SIGTERM of a service manager.
            process.terminate()
            process.wait()
    if code:
        raise ExternalFailure(f"the Prefect server on port {port} ended with code {code}; it said why above")


def deploy(
    config: Benchmark = Path("demo"),
    notify: Notify = "",
    suite: Measure = "",
    mail: Mail = None,
    as_json: AsJson = False,
) -> None:
    """Put the jobs of prefect.yaml on the Prefect server: work pool, deployments, schedules, automations.

    Run again it renews what stands. A worker then runs the jobs: prefect worker start --pool mihakk

    Example: mihakk deploy demo
    """
    from mihakk.flows.deployed.deployments import apply, deployments, make_pool

    console, benchmark, asked = open_console(), _benchmark(config), _suite(suite)
    _warn_of_silence(notify, mail)
    with _server() as client:
        pool = make_pool(client)
        wanted = deployments(
            _named(config), pooled=True, suite=asked, own=benchmark.schedule, mail=mail or ()
        )
        jobs = {one.flow_name or "": apply(one) for one in wanted}
        rules = _automations(client, benchmark, jobs, notify)
    if as_json:
        told = {one.full_name: _when(one.schedules) for one in wanted}
        print_json({"pool": pool, "jobs": told, "automations": list(rules)})
        return
    for one in wanted:
        console.print(f"{one.full_name}  {_when(one.schedules)}", soft_wrap=True)
    console.print(f"Automations: {', '.join(rules)}")
    console.print(f"Now start a worker: prefect worker start --pool {pool}")


def serve(
    config: Benchmark = Path("demo"),
    notify: Notify = "",
    suite: Measure = "",
    mail: Mail = None,
    limit: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 2,
) -> None:
    """Run the jobs of prefect.yaml on their schedules from this one process, with no worker and no pool.

    Ctrl+C ends it and pauses the schedules until it is started again.

    Example: mihakk serve demo
    """
    from prefect.runner import Runner

    from mihakk.flows.deployed.deployments import deployments

    console, benchmark, named = open_console(), _benchmark(config), _named(config)
    asked = _suite(suite)
    os.chdir(ROOT)  # relative paths in configs are those of the checkout
    os.environ.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", HEARTBEAT_SECONDS)
    _warn_of_silence(notify, mail)
    with _server() as client:
        runner = Runner(name="mihakk", limit=limit, pause_on_shutdown=True)
        wanted = deployments(named, pooled=False, suite=asked, own=benchmark.schedule, mail=mail or ())
        jobs = {one.flow_name or "": cast("UUID", runner.add_deployment(one)) for one in wanted}
        _automations(client, benchmark, jobs, notify)
    for one in wanted:
        console.print(f"{one.full_name}  {_when(one.schedules)}", soft_wrap=True)
    console.print("Serving; stop with Ctrl+C.")
    _run(runner)


def _run(runner: object) -> None:
    import asyncio
    from contextlib import suppress

    from prefect.exceptions import TerminationSignal

    with suppress(KeyboardInterrupt, TerminationSignal):
        asyncio.run(runner.start())  # type: ignore[attr-defined]


def _warn_of_silence(notify: str, mail: Sequence[str] | None) -> None:
    if not (notify or mail or settings().digest_webhook):
        warnings.warn(NOBODY, MihakkWarning, stacklevel=2)


def _named(config: Path) -> str:
    """The config as a run will name it, which starts in the checkout wherever the command was typed."""
    return str(config.resolve()) if config.exists() else str(config)


def _suite(name: str) -> str:
    """The suite as a run will name it, once it and its systems were read.

    Raises:
        UsageError: There is none of that name, or it does not fit.
    """
    from mihakk.evaluation.running.suites import load_suite, load_systems

    if name:
        load_systems(load_suite(name))
    return _named(Path(name)) if name else ""


def _benchmark(config: Path) -> BenchmarkConfig:
    from mihakk.pipeline.build import open_build

    return open_build(config).config


@contextmanager
def _server() -> Iterator[SyncPrefectClient]:
    """A client of the Prefect server that PREFECT_API_URL or the profile names.

    Raises:
        UsageError: None is named.
        ExternalFailure: It does not answer.
    """
    from prefect.client.orchestration import get_client
    from prefect.settings import get_current_settings

    url = get_current_settings().api.url
    if not url:
        raise UsageError(
            "no Prefect server is named: start one with `mihakk server` and set "
            "PREFECT_API_URL=http://127.0.0.1:4200/api"
        )
    with get_client(sync_client=True) as client:
        if (problem := client.api_healthcheck()) is not None:
            raise ExternalFailure(
                f"the Prefect server at {url} does not answer ({problem!r}): is it running?"
            )
        yield client


def _automations(
    client: SyncPrefectClient, benchmark: BenchmarkConfig, jobs: Mapping[str, UUID], notify: str
) -> list[str]:
    from mihakk.flows.deployed.automations import register as register_automations
    from mihakk.pipeline.schedules import described

    scheduled = any(
        schedule["active"]
        for entry in described(benchmark.schedule)
        if entry["entrypoint"].endswith(":nightly")
        for schedule in entry["schedules"]
    )
    return register_automations(client, benchmark.name, jobs, nightly=scheduled, notify=notify)


def _when(schedules: object) -> str:
    found = [
        f"{one.schedule.cron} {one.schedule.timezone}{'' if one.active else ' (off)'}"
        for one in schedules or []  # type: ignore[attr-defined]
    ]
    return ", ".join(found) or "on demand"
