"""`nightly`: the whole line, unattended."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger

from mihakk.flows.deployed.build import build
from mihakk.flows.deployed.ingest import ingest
from mihakk.flows.deployed.release import release as make_release
from mihakk.flows.deployed.review import review_pull, review_push
from mihakk.machinery.errors import UsageError
from mihakk.pipeline.build import open_build
from mihakk.pipeline.content_watch import held
from mihakk.pipeline.sign_off import standing_sign_off


@flow(name="nightly", flow_run_name="nightly {config}")
def nightly(
    config: str,
    *,
    lake: str | None = None,
    runs: str = "runs",
    push: bool = True,
    pull: bool = True,
    release: bool = True,
    publish: bool = False,
    suite: str = "",
) -> None:
    """Ingests, builds, exchanges review work with people, releases and measures systems on the release.

    What is unchanged is not done again.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
        runs: Where reports go.
        push: Bring flagged items onto Label Studio.
        pull: Fetch people's decisions, and apply them where there are new ones.
        release: Make a version, or ask for the sign-off that the config wants or that much change needs.
        publish: Push that version to the Hub the config names.
        suite: Then put this suite's questions to its systems: a name in configs/suites/, or a file.
    """
    ingest(config, lake=lake, runs=runs)
    build(config, lake=lake, runs=runs, ingest=False, release=False)
    if push:
        review_push(config, lake=lake)
    if pull and review_pull(config, lake=lake):
        build(config, lake=lake, runs=runs, ingest=False, release=False)
    if release and person_needed(config, lake):
        start_release(config, lake, runs, publish, suite)
    elif release:
        make_release(config, lake=lake, runs=runs, publish=publish, suite=suite)


def person_needed(config: str, lake: str | None) -> bool:
    """Whether a sign-off is needed that nobody has given on the tables as they are.

    The config asks for one, or more changed than may pass unseen.
    """
    opened = open_build(Path(config), lake=lake)
    if standing_sign_off(opened) is not None:
        return False
    return opened.config.release.sign_off or bool(held(opened))


def start_release(config: str, lake: str | None, runs: str, publish: bool, suite: str) -> None:
    """Starts the `release` deployment, whose run waits for the person while the nightly one ends.

    Raises:
        UsageError: The deployment is missing.
    """
    name = f"release/{Path(config).stem}"
    parameters = {"config": config, "lake": lake, "runs": runs, "publish": publish, "suite": suite}
    try:
        run = run_deployment(name, parameters=parameters, timeout=0, as_subflow=False)
    except ObjectNotFound as error:
        raise UsageError(f"{name} is not on the Prefect server: run `mihakk deploy {config}`") from error
    get_run_logger().info("waits for a sign-off: flow run %s", getattr(run, "name", run))
