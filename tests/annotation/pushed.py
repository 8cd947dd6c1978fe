"""Projects with tasks on a real server, and what people answer there."""

from __future__ import annotations

from mihakk.annotation.label_studio.project import ensure_project
from mihakk.annotation.label_studio.push import push
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
