"""The build as a Prefect flow: a task is a shard, artifacts tell the story in Prefect's UI.

Prefect: `mihakk deploy`, `mihakk serve` or
`python -m mihakk.flows.deployed.build configs/benchmarks/demo.yaml`.
"""

from __future__ import annotations

import sys

from prefect import flow

from mihakk.flows.deployed.artifacts import ArtifactObserver
from mihakk.flows.deployed.engine import prefect_engine
from mihakk.flows.deployed.job import close_job, open_job
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import overridden
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.steps.order import INGEST, MAKE, RELEASE


@flow(name="build", flow_run_name="build {config}")
def build(
    config: str,
    *,
    lake: str | None = None,
    runs: str = "runs",
    audit_limit: int | None = None,
    auditors: str | None = None,
    engine: str = "",
    ingest: bool = True,
    release: bool = True,
) -> str:
    """Builds a benchmark and returns the path of its report.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
        runs: Where the report and the review queue go.
        audit_limit: Audit at most this many items.
        auditors: A name in configs/auditors/ or a file, instead of the config's.
        engine: `processes`, `dask` or `dask:ADDRESS`, instead of MIHAKK_ENGINE.
        ingest: Scrape, normalise and curate first; off where the `ingest` job has just done so.
        release: Assemble a version at the end; off where the `release` job does so.
    """
    opened = overridden(open_job(config, lake, runs), audit_limit, auditors)
    observer = ArtifactObserver(opened)
    steps = (*(INGEST if ingest else ()), *MAKE, *(RELEASE if release else ()))
    with prefect_engine(engine) as tasks:
        run = run_pipeline(opened, tasks, observer, steps)
    return close_job(opened, run)


if __name__ == "__main__":
    build(sys.argv[1], runs=str(settings().runs))
