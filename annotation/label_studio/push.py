"""What people should see, brought onto the server: by difference, in batches, as often as one likes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import orjson

from mihakk.annotation.label_studio.project import Held, Project, use_prefill
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.groups import grouped

BATCH = 500
"""Tasks per import: the server's throughput is flat from 500 to 2,500, its memory isn't."""
_SETTLE_SECONDS = 60


@dataclass
class Pushed:
    """What one push changed on the server."""

    created: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    """Tasks no longer wanted, closed; their annotations stay."""
    reopened: int = 0
    """Closed tasks wanted again."""
    judges: tuple[str, ...] = ()
    """Pseudonyms of those whose these tasks are; empty where everybody judges everything."""
    nobody: int = 0
    """Tasks that were not pushed, for the config assigns nobody to their language and dialect."""
    left: int = 0
    """Tasks that were not pushed yet, see `why_left`."""
    why_left: Literal["", "unanswered", "size"] = ""
    """`unanswered`: reviews whose questions people answer first; `size`: questions that a campaign did not
    draw."""
    duplicates: int = 0
    """Second copies without annotations, deleted: a push killed while the server worked, or two at once."""


def push(
    project: Project,
    tasks: Sequence[dict[str, Any]],
    *,
    batch: int = BATCH,
) -> Pushed:
    """Makes the project's open tasks exactly these.

    A task is the same if sample id and content hash are. Changed content is a new task, and the old one is
    closed rather than rewritten: an annotation made before the change, or by somebody who has the task open
    now, stays attached to what that person saw. Nothing that carries an annotation is ever deleted.

    Killed at any point, the next push finishes the work: it lists what is there and imports the rest.

    Args:
        tasks: From `review_task` or `rating_task`, the most urgent first; people get them in this order.

    Raises:
        UsageError: A task doesn't fit the labelling config, or two tasks have the same id and content.
        ExternalFailure: The server failed; run the push again.
    """
    wanted = {_key(task): task for task in tasks}
    if len(wanted) != len(tasks):
        raise UsageError("two tasks have the same sample id and content; a push needs each once")
    pushed = Pushed()
    before = project.task_count()  # counted first: what another push imports from here on shows in the count
    held = _single(project, project.held(), pushed)
    new = [task for key, task in wanted.items() if key not in held]
    pushed.unchanged = len(wanted) - len(new)
    for key, task in held.items():
        if key in wanted and task.labeled and task.annotations < task.overlap:
            _set_open(project, task, is_open=True)
            pushed.reopened += 1
        elif key not in wanted and not task.labeled:
            _set_open(project, task, is_open=False)
            pushed.withdrawn += 1
    if new:
        before -= pushed.duplicates
        pushed.created = _import(project, new, batch)
        if any(task.get("predictions") for task in new):
            use_prefill(project)
        if project.task_count() > before + pushed.created:
            # A killed push's last batch, or another push, came in meanwhile: its tasks are there twice now.
            _single(project, project.held(), pushed)
    return pushed


def reopen(project: Project, samples: Mapping[tuple[str, str], int]) -> int:
    """Asks so many further people about tasks that all who were asked have answered; how many were reopened.

    A task that a push closed before everybody answered stays closed: its content is no longer wanted.
    """
    count = 0
    for held in project.held() if samples else []:
        more = samples.get((held.sample, held.content_hash), 0)
        if more and held.annotations >= held.overlap:
            body = {"overlap": held.annotations + more, "is_labeled": False}
            project.connection.patch(f"/api/tasks/{held.task}/", body)
            count += 1
    return count


def _import(project: Project, tasks: Sequence[dict[str, Any]], batch: int) -> int:
    """Imports in order, one request at a time, each batch checked while the server takes the one before."""
    check = _checker(project)
    rest = iter(tasks)
    created = 0
    with ThreadPoolExecutor(max_workers=1) as sender:
        under_way: Future[int] | None = None
        while part := list(islice(rest, batch)):
            for task in part:
                check(task)
            if under_way is not None:
                created += under_way.result()
            under_way = sender.submit(_send, project, part)
        if under_way is not None:
            created += under_way.result()
    return created


def _send(project: Project, part: Sequence[dict[str, Any]]) -> int:
    try:
        answer = project.connection.post(f"/api/projects/{project.id}/import", part)
    except ExternalFailure:
        # The server may have taken the batch before the line broke; only then is it safe to go on.
        if not _arrived(project, part):
            raise
        return len(part)
    if answer["task_count"] != len(part):
        raise ExternalFailure(
            f"Label Studio took {answer['task_count']} of {len(part)} tasks; run the push again"
        )
    return len(part)


def _arrived(project: Project, part: Sequence[dict[str, Any]]) -> bool:
    """Whether a batch whose answer was lost is on the server; waits while the server may be working on it."""
    wanted = {_key(task) for task in part}
    deadline = time.monotonic() + _SETTLE_SECONDS
    while time.monotonic() < deadline:
        try:
            if wanted <= {(held.sample, held.content_hash) for held in project.held()}:
                return True
        except ExternalFailure:
            return False
        time.sleep(5)
    return False


def _single(project: Project, tasks: Iterable[Held], pushed: Pushed) -> dict[tuple[str, str], Held]:
    """One task per sample and content; extra copies that nobody annotated are deleted."""
    single = {}
    for key, group in grouped(tasks, lambda held: (held.sample, held.content_hash)).items():
        kept = min(group, key=lambda held: (-held.annotations, held.task))
        single[key] = kept
        for extra in group:
            if extra is not kept and extra.annotations == 0:
                project.connection.delete(f"/api/tasks/{extra.task}/")
                pushed.duplicates += 1
    return single


def _set_open(project: Project, held: Held, *, is_open: bool) -> None:
    project.connection.patch(f"/api/tasks/{held.task}/", {"is_labeled": not is_open})


def _key(task: dict[str, Any]) -> tuple[str, str]:
    return task["data"]["sample_id"], task["data"]["content_hash"]


def _checker(project: Project) -> Callable[[dict[str, Any]], None]:
    """Label Studio's own check of tasks and predictions, which its import doesn't make."""
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(project.labelling.config)

    def check(task: dict[str, Any]) -> None:
        sample = task["data"].get("sample_id")
        if not interface.validate_task({"data": task["data"]}):
            raise UsageError(f"task {sample} lacks data that the config of {project.name} shows")
        for prediction in task.get("predictions", ()):
            if problems := interface.validate_prediction(prediction, return_errors=True):
                raise UsageError(f"the prefill of task {sample} does not fit {project.name}: {problems[0]}")
        orjson.dumps(task)

    return check
