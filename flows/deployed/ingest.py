"""`ingest`: sources to curated records, as often as sources change."""

from __future__ import annotations

from prefect import flow

from mihakk.flows.deployed.artifacts import ArtifactObserver
from mihakk.flows.deployed.engine import prefect_engine
from mihakk.flows.deployed.job import open_job
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.steps.order import INGEST


@flow(name="ingest", flow_run_name="ingest {config}")
def ingest(config: str, *, lake: str | None = None, runs: str = "runs") -> int:
    """Scrapes, normalises and curates; returns how many curated records there are.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
        runs: Where reports go.
    """
    opened = open_job(config, lake, runs)
    with prefect_engine() as engine:
        run = run_pipeline(opened, engine, ArtifactObserver(opened), INGEST)
    return run.manifests[-1].counts.written
