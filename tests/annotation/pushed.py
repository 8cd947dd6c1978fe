"""Projects with tasks on a real server, and what people answer there."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from mihakk.annotation.label_studio.project import ensure_project
from mihakk.annotation.label_studio.push import push
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.annotation.screens.tasks import review_task


def chosen(name: str, *aliases: str) -> dict:
    return {
        "id": name,
        "from_name": name,
        "to_name": "item",
        "type": "choices",
        "value": {"choices": list(aliases)},
    }


def typed(name: str, text: str) -> dict:
    return {"id": name, "from_name": name, "to_name": "item", "type": "textarea", "value": {"text": [text]}}


KEEP = [chosen("decision", "keep")]
DISCARD = [chosen("decision", "discard"), chosen("reason", "ambiguous"), typed("notes", "يحتمل معنيين")]


def pushed_project(connection, name, items, **options):
    project = ensure_project(connection, name, "quality_review", "ar", **options)
    push(project, [review_task(item) for item in items])
    return project, {held.sample: held.task for held in project.held()}


def miscount(server: LocalServer, task: int, **columns: int) -> None:
    """Columns of a task as a killed or busy server leaves them, which had no time to count an answer."""
    told = ", ".join(f"{name} = {value}" for name, value in columns.items())
    with closing(sqlite3.connect(server.home / "label_studio.sqlite3", timeout=60)) as database, database:
        database.execute(f"UPDATE task SET {told} WHERE id = ?", (task,))  # nosec B608 # the tests' own words


def submitted(server: LocalServer) -> None:
    """Answers that were imported, for thousands of requests take long, as their authors would have submitted them."""
    with sqlite3.connect(server.home / "label_studio.sqlite3", timeout=60) as database:
        database.execute(
            "UPDATE task_completion SET updated_by_id = completed_by_id WHERE updated_by_id IS NULL"
        )
