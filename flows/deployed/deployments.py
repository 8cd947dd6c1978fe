"""prefect.yaml as deployments of one benchmark, for a worker's pool or for one serving process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.flows import load_flow_from_entrypoint
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType
from prefect.workers.process import ProcessWorker

from mihakk.flows.deployed.job import DEPLOYED_CODE, checkout_code
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.schedules import PATTERN, described
from mihakk.schemas.schedule import Schedule


def deployments(
    config: str,
    *,
    pooled: bool,
    suite: str = "",
    own: Sequence[Schedule] | None = None,
    mail: Sequence[str] = (),
) -> list[RunnerDeployment]:
    """Every job of prefect.yaml for the benchmark `config`.

    Args:
        config: A name in configs/benchmarks/, or a file.
        pooled: For the work pool's workers; else for the process that serves them.
        suite: Put to its systems by the jobs that make releases.
        own: The config's `schedule`.
        mail: Addresses that get the digest.
    """
    given = {"suite": suite, "mail": list(mail)}
    return [_deployment(entry, config, pooled, given) for entry in described(own)]


def _deployment(entry: dict[str, Any], config: str, pooled: bool, given: dict[str, Any]) -> RunnerDeployment:
    name, parameters = str(entry["name"]), dict(entry["parameters"])
    flow: Any = load_flow_from_entrypoint(entry["entrypoint"], use_placeholder_flow=False)
    if name == PATTERN:
        name, parameters["config"] = Path(config).stem, config
        known = flow.parameters.properties
        parameters |= {name: value for name, value in given.items() if value and name in known}
    pool, limit = entry["work_pool"], entry.get("concurrency_limit")
    variables = pool["job_variables"]
    env = {**variables.get("env", {}), DEPLOYED_CODE: checkout_code()}
    made: RunnerDeployment = flow.to_deployment(
        name,
        schedules=[Cron(s["cron"], timezone=s["timezone"], active=s["active"]) for s in entry["schedules"]],
        parameters=parameters,
        description=entry["description"],
        tags=entry["tags"],
        concurrency_limit=ConcurrencyLimitConfig(**limit) if limit else None,
        entrypoint_type=EntrypointType.MODULE_PATH,
        work_pool_name=pool["name"] if pooled else None,
        # Relative paths in configs are those of the checkout, wherever the worker was started.
        job_variables={**variables, "env": env, "working_dir": str(ROOT)} if pooled else None,
    )
    return made


def apply(deployment: RunnerDeployment) -> UUID:
    """Brings a deployment onto the server, new or renewed; returns its id."""
    return cast("UUID", deployment.apply())  # a coroutine only inside an event loop


def make_pool(client: SyncPrefectClient) -> str:
    """The work pool that prefect.yaml names, made where it is missing; runs on it are local processes."""
    (name,) = {entry["work_pool"]["name"] for entry in described()}
    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
    return str(name)
