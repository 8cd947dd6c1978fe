"""`evaluate`: a suite's questions put to systems; a task is a system and a part, artifacts hold the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from mihakk.evaluation.report import moved_since, report
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.evaluation.running.run import Calls, Job, ask_system, store_answers
from mihakk.evaluation.running.suites import load_suite, load_systems, suite_folder
from mihakk.evaluation.shape import shape_of
from mihakk.evaluation.table.render import markdown
from mihakk.flows.deployed.job import TRIED_AGAIN, require_deployed_code, secrets_from_blocks, told_on_page
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.releases.hub.load import named_folder
from mihakk.schemas.suite import System


@flow(name="evaluate", flow_run_name="evaluate {suite}")
def evaluate(
    suite: str,
    *,
    models: tuple[str, ...] = (),
    out: str = "",
    limit: int | None = None,
    runs: str = "runs",
    config: str = "",
    lake: str | None = None,
) -> str:
    """Asks every system every part, scores and compares; returns the folder of answers and scores.

    Where the folder holds scores of an older version of a release, another artifact shows what moved since.

    Args:
        suite: A name in configs/suites/ or a file.
        models: Names in configs/models/ or files; the suite's own when empty.
        out: Folder of answers and scores; RUNS/evaluate/SUITE when empty. A run that was interrupted goes on
            there and asks nothing twice.
        limit: At most this many questions of each config.
        runs: Where reports go.
        config: The benchmark whose page and digest tell a failure until the same has come through.
        lake: Folder or URL of that one's lake, instead of MIHAKK_LAKE.
    """
    require_deployed_code()
    secrets_from_blocks()
    with told_on_page(f"evaluate {suite}", config, lake):
        return _evaluated(suite, models, out, limit, runs)


def _evaluated(suite: str, models: tuple[str, ...], out: str, limit: int | None, runs: str) -> str:
    chosen = load_suite(suite)
    systems = load_systems(chosen, models)
    folder = suite_folder(chosen, out or Path(runs) / "evaluate" / chosen.name)
    asked = asked_of_suite(chosen, named_folder, limit)
    for note in shape_of(chosen, systems, asked).notes:
        get_run_logger().info(note)
    for name, system in zip(models or chosen.models, systems, strict=True):
        calls = [
            ask_part(
                system.name,
                part.release or part.adapter,
                suite=suite,
                model=name,
                out=str(folder),
                number=number,
                limit=limit,
            )
            for number, part in enumerate(chosen.parts)
        ]
        total = Calls(*(sum(values) for values in zip(*calls, strict=True)))
        ran = store_answers(Job(chosen, asked, system, folder, settings()), total)
        get_run_logger().info("%s: %d answers, %d calls", system.name, ran.counts["answers"], total.asked)
    found = report(chosen, systems, folder)
    create_markdown_artifact(markdown(found.sheets, found.notes), key="evaluation", description=chosen.title)
    show_moves(systems, folder, chosen.title)
    return str(folder)


def show_moves(systems: Sequence[System], folder: Path, title: str) -> None:
    """An artifact on how figures moved since the release's version before, where there was one."""
    try:
        if sheets := moved_since(systems, folder):
            create_markdown_artifact(markdown(sheets, []), key="moves", description=title)
    except UsageError as error:
        get_run_logger().warning("what moved since the version before can't be shown: %s", error)


@task(task_run_name="{system}: {part}", cache_policy=NO_CACHE, persist_result=False, **TRIED_AGAIN)
def ask_part(
    system: str, part: str, *, suite: str, model: str, out: str, number: int, limit: int | None
) -> Calls:
    """One part put to one system; the replies are in the journal.

    Args:
        system: Its name, for the task's.
        part: Likewise.
        suite: As for `evaluate`.
        model: Name in configs/models/ or a file.
        out: Folder of answers and scores.
        number: Which part.
        limit: As for `evaluate`.
    """
    del system, part
    whole = load_suite(suite)
    (asked_one,) = load_systems(whole, [model])
    chosen = whole.model_copy(update={"parts": (whole.parts[number],)})
    asked = asked_of_suite(chosen, named_folder, limit)
    return ask_system(Job(chosen, asked, asked_one, Path(out), settings()))
