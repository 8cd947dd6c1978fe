"""Push and pull of the review queue beside the server's own bulk import and export.

    python -m performance.review [--tasks 2000] [--rounds 2] [--reviewed 1000]

Starts a Label Studio of its own in a temporary folder, on loopback, and prints seconds, rates and ratios.
The targets: push at most 1.2 times the import, pull at most 1.5 times the export, a second push one listing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotation.decisions.stores import Stores
from annotation.label_studio.connection import Connection
from annotation.label_studio.project import Project, ensure_project
from annotation.label_studio.pull import pull
from annotation.label_studio.push import BATCH, push
from annotation.label_studio.server import LocalServer
from annotation.screens.tasks import review_task
from mihakk.ids import item_id
from mihakk.ports import free_port
from schemas.audit import CRITERIA, Audit
from schemas.item import ChoiceItem, Origin

VERSE = "قفا نبك من ذكرى حبيب ومنزل بسقط اللوى بين الدخول فحومل"


def items(number: int) -> list[ChoiceItem]:
    """Choice items with a context of some verses: a task of about 5 KB with six filled boxes."""
    return [
        ChoiceItem(
            id=item_id("continuation_choice", "ar", [f"couplet-{n}"]),
            task="continuation_choice",
            language="ar",
            question=f"أي الأشطر يتمّ البيت رقم {n}؟",
            context="\n".join([VERSE] * 4),
            options=tuple(f"{VERSE} {n} {i}" for i in range(4)),
            gold=(n % 4,),
            metadata={"poet": "امرؤ القيس", "metre": "tawil"},
            origin=Origin(records=(f"couplet-{n}",), generator="continuation", generator_version="1"),
            licence="public-domain",
        )
        for n in range(number)
    ]


def task_of(item: ChoiceItem) -> dict[str, Any]:
    """The item's task with two auditors' opinions."""
    audits = [
        Audit(item=item.id, auditor=name, status="valid", scores=dict.fromkeys(CRITERIA, 1), reply_key="k")
        for name in ("first", "second")
    ]
    return review_task(item, audits=audits)


def timed(what: str, work: Callable[[], Any], *, count: int) -> float:
    """Runs the work once and prints what it took."""
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    print(f"{what:52} {seconds:8.2f} s  {count / seconds:9.0f}/s", flush=True)
    return seconds


def bulk_import(project: Project, tasks: list[dict[str, Any]]) -> None:
    """The server's own import, in the same batches, with nothing around it."""
    for start in range(0, len(tasks), BATCH):
        project.connection.post(f"/api/projects/{project.id}/import", tasks[start : start + BATCH])


def reviewed(tasks: list[dict[str, Any]], people: list[int]) -> list[dict[str, Any]]:
    """The tasks with one finished annotation of each person."""
    keep = {"from_name": "decision", "to_name": "item", "type": "choices", "value": {"choices": ["keep"]}}
    fix = {**keep, "value": {"choices": ["fix"]}}
    boxes = {"to_name": "item", "type": "textarea", "value": {"text": ["ما تتمّة هذا البيت؟"]}}
    results = ([keep], [keep], [fix, {**boxes, "from_name": "fix_question"}])
    return [
        {
            **task,
            "annotations": [
                {
                    "result": [{**region, "id": f"r{i}"} for i, region in enumerate(result)],
                    "completed_by": person,
                }
                for person, result in zip(people, results, strict=True)
            ],
        }
        for task in tasks
    ]


def main() -> None:
    """Measures push, second push and pull."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--reviewed", type=int, default=1000)
    asked = options.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalServer(Path(folder) / "server", free_port()) as server,
        Connection(server.url, server.secrets.token) as connection,
    ):
        measure_push(connection, asked.tasks, asked.rounds)
        measure_pull(connection, asked.reviewed, Stores.under(f"{folder}/lake"))


def measure_push(connection: Connection, number: int, rounds: int) -> None:
    """Import and push of the same tasks into fresh projects, in turns; the quickest of each counts."""
    rows = items(number)
    tasks = [task_of(item) for item in rows]
    push(ensure_project(connection, "warm", "quality_review", "ar"), tasks[:200])
    base, whole = [], []
    for turn in range(rounds):
        raw = ensure_project(connection, f"raw{turn}", "quality_review", "ar")
        own = ensure_project(connection, f"own{turn}", "quality_review", "ar")
        work = {
            f"server's import of {number} tasks": (base, lambda raw=raw: bulk_import(raw, tasks)),
            f"push of {number} tasks, made and checked": (
                whole,
                lambda own=own: push(own, [task_of(item) for item in rows]),
            ),
        }
        for what in sorted(work, reverse=bool(turn % 2)):
            work[what][0].append(timed(what, work[what][1], count=number))
    listing = min(timed("one listing", own.held, count=number) for _ in range(2))
    again = min(
        timed("second push of the same", lambda: push(own, [task_of(item) for item in rows]), count=number)
        for _ in range(2)
    )
    print(
        f"push / import {min(whole) / min(base):.2f} (target 1.2); "
        f"second push / listing {again / listing:.2f}"
    )


def measure_pull(connection: Connection, number: int, stores: Stores) -> None:
    """Export and pull of tasks with three annotations each."""
    made = [
        connection.post("/api/users", {"email": f"p{n}@example.org", "username": f"p{n}"}) for n in range(3)
    ]
    project = ensure_project(connection, "pulled", "quality_review", "ar", overlap=3)
    bulk_import(project, reviewed([task_of(item) for item in items(number)], [row["id"] for row in made]))
    path = f"/api/projects/{project.id}/export"
    base = min(
        timed(
            f"server's export of {number} x 3",
            lambda: connection.read(path, exportType="JSON"),
            count=3 * number,
        )
        for _ in range(3)
    )
    whole = timed(
        f"pull of {number} x 3, checked and stored", lambda: pull(project, stores), count=3 * number
    )
    again = timed("second pull, nothing new", lambda: pull(project, stores), count=3 * number)
    print(f"pull / export {whole / base:.2f}, second {again / base:.2f} (target 1.5)")


if __name__ == "__main__":
    main()
