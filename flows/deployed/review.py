"""`review_push` and `review_pull`: flagged items to people, their decisions back."""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE

from mihakk.annotation.label_studio.exchange import connect, counted
from mihakk.flows.deployed.job import TRIED_AGAIN, open_job
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build
from mihakk.pipeline.calibration import push_rounds
from mihakk.pipeline.campaigns import push_campaigns
from mihakk.pipeline.history import recorded
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.opened_review import review_of

LONGEST_BUILD = 6 * 3600
"""Seconds a pull waits for a build that holds the lake."""


# Both are safe to try again. A push compares with what stands on the server by content hash and adds the
# rest; a pull writes all or nothing and knows the decisions it already has.
@task(task_run_name="push", cache_policy=NO_CACHE, **TRIED_AGAIN)
def push(build: Build) -> list[dict[str, Any]]:
    """Brings queue and campaigns onto the server; one row per project says what changed there."""
    review = review_of(build)
    with connect(settings()) as connection:
        pushed = review.push_queue(connection)
        pushed |= push_campaigns(review, connection, review.config.campaigns)
        pushed |= push_rounds(review, connection)
    return [
        {
            "project": project,
            "new": what.created,
            "unchanged": what.unchanged,
            "withdrawn": what.withdrawn,
            "reopened": what.reopened,
        }
        for project, what in pushed.items()
    ]


@task(task_run_name="pull", cache_policy=NO_CACHE, **TRIED_AGAIN)
def pull(build: Build) -> dict[str, int]:
    """Fetches decisions; returns counts of what came."""
    with connect(settings()) as connection:
        return dict(counted(review_of(build).pull(connection, LONGEST_BUILD)))


@flow(name="review_push", flow_run_name="review_push {config}")
def review_push(config: str, *, lake: str | None = None) -> int:
    """Brings flagged items and campaigns onto Label Studio; returns how many tasks are new there.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
    """
    build = open_job(config, lake, "runs")
    with recorded(build, Silent(), "review_push"):
        rows = push(build)
    create_table_artifact(rows, key="review-push", description="Tasks on Label Studio")
    return sum(row["new"] for row in rows)


@flow(name="review_pull", flow_run_name="review_pull {config}")
def review_pull(config: str, *, lake: str | None = None) -> int:
    """Fetches what people decided; returns how many decisions are new. The next build applies them.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
    """
    build = open_job(config, lake, "runs")
    with recorded(build, Silent(), "review_pull"):
        counts = pull(build)
    rows = [{"what": name, "count": count} for name, count in sorted(counts.items())]
    create_table_artifact(rows, key="review-pull", description="Decisions fetched")
    return counts.get("decisions", 0) + counts.get("labels", 0)
