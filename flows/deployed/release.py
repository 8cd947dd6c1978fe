"""`release`: reviewed tables to a version, with a person's approval where the config asks for one."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.flow_runs import pause_flow_run
from prefect.input import RunInput
from prefect.logging import get_run_logger
from prefect.states import Completed
from pydantic import Field

from mihakk.flows.deployed.artifacts import ArtifactObserver, markdown_table
from mihakk.flows.deployed.engine import prefect_engine
from mihakk.flows.deployed.evaluate import evaluate
from mihakk.flows.deployed.job import TRIED_AGAIN, close_job, open_job
from mihakk.machinery.markdown import plain
from mihakk.pipeline.build import Build
from mihakk.pipeline.content_watch import held
from mihakk.pipeline.history import recorded
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.publishing import publish_version
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.sign_off import sign, standing_sign_off, tables_to_sign
from mihakk.pipeline.steps.order import RELEASE
from mihakk.pipeline.steps.release import standing_gates
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.sign_off import SignOff
from mihakk.schemas.stages import RELEASED


class SignOffForm(RunInput):
    """What the person fills in; the version is made only after `approve`."""

    decision: Literal["approve", "reject"] = Field(
        description="Whether a version may be made of these tables"
    )
    name: str = Field(min_length=1, description="Your name, as the release's card shall have it")
    note: str = Field(default="", description="Why; it is stored with the lake and not published")


@task(task_run_name="publish", cache_policy=NO_CACHE, **TRIED_AGAIN)
def publish_release(build: Build) -> str:
    """Pushes the newest version to the Hub.

    Safe to try again: one commit, the tag last, and what stands there already is compared byte for byte.
    """
    publication = publish_version(build)
    return f"{publication.name} {publication.version}: {publication.commit}"


@flow(name="release", flow_run_name="release {config}")
def release(
    config: str,
    *,
    lake: str | None = None,
    runs: str = "runs",
    publish: bool = False,
    wait_hours: float = 72,
    suite: str = "",
) -> Any:
    """Makes a version of the reviewed tables and returns the path of its report.

    With `release.sign_off` in the config, or where more changed than `release.hold` lets pass, the run pauses
    for a person first; a refusal ends it.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the lake, instead of MIHAKK_LAKE.
        runs: Where the report goes.
        publish: Push the version to the Hub the config names as well.
        wait_hours: How long to wait for the person.
        suite: Then put this suite's questions to its systems: a name in configs/suites/, or a file.
    """
    opened = open_job(config, lake, runs)
    word = ask(opened, wait_hours)
    if word is not None and word.decision == "reject":
        return rejected(word)
    observer = ArtifactObserver(opened)
    with prefect_engine() as engine:
        run = run_pipeline(opened, engine, observer, RELEASE)
    report = close_job(opened, run)
    if publish:
        with recorded(opened, Silent(), "publish"):
            publish_release(opened)
    if suite:
        evaluate(suite, runs=runs, config=config, lake=lake)
    return report


def ask(build: Build, wait_hours: float) -> SignOff | None:
    """The word on the tables as they are now; pauses the run until there is one, where one is needed."""
    word = None
    while (build.config.release.sign_off or held(build)) and (word := standing_sign_off(build)) is None:
        tables = tables_to_sign(build)
        shown = matter(build)
        create_markdown_artifact(shown, key="sign-off", description=f"{build.config.title}: to be signed")
        form = SignOffForm.with_initial_data(description=shown)
        said = pause_flow_run(wait_for_input=form, timeout=int(wait_hours * 3600))
        sign(build, said.decision, said.name, said.note, tables)
        if tables != tables_to_sign(build):
            get_run_logger().warning("the tables changed while %s was asked: asking again", said.name)
    return word


def rejected(word: SignOff) -> State[None]:
    """The run ends well, for it did what the person said; the name of the state tells the outcome."""
    return Completed(name="Rejected", message=f"{word.name} rejected these tables")


def matter(build: Build) -> str:
    """What the person decides on, as Markdown: items, gates, what waits."""
    before = build.before(RELEASED)
    items = Counter((item.language, item.task) for item in before.read_all("items", ITEM_ROWS))
    rows = [(language, task_name, count) for (language, task_name), count in sorted(items.items())]
    gates = [(gate.name, gate.state, gate.found) for gate in standing_gates(build) if gate.name != "sign_off"]
    return "\n".join(
        [
            f"# {build.config.title}",
            *([f"**Held**: {plain(why)}"] if (why := held(build)) else []),
            f"{items.total():,} items may go into the next version; "
            f"{len(before.rejections()):,} records stay out at review.",
            markdown_table(("language", "task", "items"), rows),
            markdown_table(("condition", "state", "found"), gates),
            f"Tables `{tables_to_sign(build)[:16]}`: your word counts for these and no others.",
        ]
    )
