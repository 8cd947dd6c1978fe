"""`digest`: each morning what changed, what is held and what waits, to the people who asked for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from mihakk.flows.deployed.job import open_job
from mihakk.machinery.settings import settings
from mihakk.pipeline.history import DIGEST, recorded
from mihakk.pipeline.observer import Silent
from mihakk.reports.dashboard.overview import Gatherer
from mihakk.reports.digest import digest as digest_of
from mihakk.reports.digest import last_sent, markdown, send


@flow(name="digest", flow_run_name="digest {config}")
def digest(
    config: str,
    *,
    lake: str | None = None,
    runs: str = "runs",
    hours: float | None = None,
    mail: list[str] | None = None,
) -> str:
    """Leaves the digest as an artifact, sends it, and returns how the benchmark stands in a word.

    It goes by mail to the addresses, through MIHAKK_SMTP, and to the webhook of MIHAKK_DIGEST_WEBHOOK if
    that is set.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
        runs: Where reports go.
        hours: How far it looks back; to the last digest that was sent, or a day, when None.
        mail: Addresses that get it.
    """
    opened = open_job(config, lake, runs)
    since = (last_sent(opened) if hours is None else None) or datetime.now(UTC) - timedelta(hours=hours or 24)
    with recorded(opened, Silent(), DIGEST):
        found = digest_of(Gatherer(opened).facts(), since)
        said = markdown([found], since)
        create_markdown_artifact(said, key="digest", description=f"{opened.config.title}: {found.level}")
        webhook = settings().digest_webhook
        send([found], since, webhook=webhook.get_secret_value() if webhook else "", to=mail or ())
    return found.level
