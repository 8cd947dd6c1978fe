"""`alert`: started by the server when another run fails; leaves the reason where people look."""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.logging import get_run_logger

from releases.markdown import plain


@flow(name="alert", flow_run_name="alert {job}")
def alert(job: str, state: str = "", message: str = "", run: str = "") -> None:
    """Notes that a run failed, and why.

    Args:
        job: Which run it was.
        state: What became of it.
        message: What the run said last; errors of ours end with what to do.
        run: Id of the flow run.
    """
    get_run_logger().error("%s: %s. %s", job, state, message)
    lines = [
        f"# {plain(job)}: {plain(state)}",
        plain(message) or "It left no message.",
        f"Flow run `{plain(run)}`",
    ]
    create_markdown_artifact("\n\n".join(lines), key="alert", description="A run failed")
