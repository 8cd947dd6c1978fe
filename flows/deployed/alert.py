"""`alert`: started by the server when a run fails or waits for a person; leaves the reason."""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.logging import get_run_logger
from prefect.utilities.urls import url_for

from mihakk.machinery.markdown import plain


@flow(name="alert", flow_run_name="alert {job}")
def alert(job: str, state: str = "", message: str = "", run: str = "", link: str = "") -> None:
    """Notes that a run failed or waits, and why.

    Args:
        job: Which run it was.
        state: What became of it.
        message: What the run said last; errors of ours end with what to do.
        run: Id of the flow run.
        link: Its page in the UI; by the worker's own address of the server if empty.
    """
    get_run_logger().error("%s: %s. %s", job, state, message)
    lines = [
        f"# {plain(job)}: {plain(state)}",
        plain(message) or "It left no message.",
        f"Flow run `{plain(run)}` {plain(link or (run and url_for('flow-run', run)) or '')}",
    ]
    create_markdown_artifact("\n\n".join(lines), key="alert", description=f"{job}: {state}")
