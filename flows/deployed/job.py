"""What every scheduled job does before and after its steps."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.blocks.system import Secret
from prefect.client.schemas.objects import State, TaskRun
from prefect.logging import get_run_logger

from mihakk.flows.deployed.artifacts import summary_artifacts
from mihakk.machinery.errors import ExternalFailure, MihakkError, UsageError
from mihakk.machinery.settings import ROOT, Settings, settings
from mihakk.pipeline.build import Build, code_version, open_build, run_folder
from mihakk.pipeline.engines.dask import PACKAGES
from mihakk.pipeline.guards import write_data_docs
from mihakk.pipeline.history import recorded
from mihakk.pipeline.losses import refused
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import Run
from mihakk.reports.closing import link_latest, write_review_queue
from mihakk.reports.dashboard.page import write_report
from mihakk.schemas.stages import RELEASED

SECRETS = ("hf_token", "label_studio_token", "aldiwan_token", "blind_key", "smtp", "digest_webhook")
"""Settings that may come from a Prefect block `mihakk-hf-token`, ... where the environment has none."""


DEPLOYED_CODE = "MIHAKK_DEPLOYED_CODE"
"""Variable of a worker's runs with the digest of the code that `mihakk deploy` ran."""


def open_job(config: str, lake: str | None, runs: str) -> Build:
    """The benchmark's build in a fresh run folder, with the secrets that Prefect keeps.

    Raises:
        UsageError: The worker runs other code than the deployment was made by.
    """
    require_deployed_code()
    secrets_from_blocks()
    return open_build(Path(config), run_folder(Path(runs), Path(config).stem), lake)


def checkout_code() -> str:
    """Digest of everything a job runs in this process's checkout."""
    return code_version((*PACKAGES, "releases", "evaluation", "reports", "flows"))


def require_deployed_code() -> None:
    """Refuses a worker of another commit, which would make other tables and releases than the others.

    Raises:
        UsageError: The worker runs other code than the deployment was made by.
    """
    wanted = os.environ.get(DEPLOYED_CODE)
    if wanted and wanted != (mine := checkout_code()):
        raise UsageError(
            f"the worker in {ROOT} runs other code ({mine}) than `mihakk deploy` did ({wanted}): bring both "
            "to one commit and restart the worker; after an update, run `mihakk deploy` again"
        )


def told_on_page(job: str, config: str, lake: str | None) -> AbstractContextManager[object]:
    """Records how a job that builds nothing ended with the benchmark whose page is to tell it, if any is.

    Args:
        job: What it does and with what, e.g. `evaluate demo`: a failure is told until the same came through.
        config: A name in configs/benchmarks/ or a file; empty for none.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
    """
    return recorded(open_build(Path(config), lake=lake), Silent(), job) if config else nullcontext()


def secrets_from_blocks() -> None:
    """Puts secrets kept as Prefect blocks into this process's environment; what is set there wins."""
    found = False
    for name in SECRETS:
        variable = str(Settings.model_config.get("env_prefix", "")) + name.upper()
        if os.environ.get(variable):
            continue
        try:
            block: Any = Secret.load(f"mihakk-{name.replace('_', '-')}")
        except ValueError:  # there is no such block
            continue
        os.environ[variable] = str(block.get())
        found = True
    if found:
        settings.cache_clear()


def close_job(build: Build, run: Run) -> str:
    """The review queue, the report and the closing artifacts; returns the report's path.

    Before the first release there is nothing a report could speak of, and the path is empty.

    Raises:
        MihakkError: A version was made, and a source or task lost much that nobody accepted: nothing is
            published.
    """
    queue, waiting = write_review_queue(build)
    report = ""
    if run.data_docs:
        write_data_docs(build, run.data_docs)
    if build.stage(RELEASED).finished():
        report = str(write_report(build))
        link_latest(build.run_folder)
    summary_artifacts(build, run.manifests, waiting, report)
    get_run_logger().info("%d items wait for people: %s. Report: %s", waiting, queue, report or "none yet")
    if lost := refused(build):
        get_run_logger().error(lost)
        if run.manifests[-1].stage == RELEASED:
            raise MihakkError(lost)
    return report


def failed_outside(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Whether a task failed by something that may have passed by the next try; bugs and mistakes do not."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, ExternalFailure)


TRIED_AGAIN: dict[str, Any] = {
    "retries": 3,
    "retry_delay_seconds": [30, 120, 600],
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": failed_outside,
}
"""Options of a task that talks to the world outside and may be done twice."""
