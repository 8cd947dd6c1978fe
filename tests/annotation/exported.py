"""What Label Studio exports, written by hand: tasks as they were pushed, with people's annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import orjson

from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.project import Project
from mihakk.annotation.label_studio.pull import Pulled, pull
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.teaching.rounds import Gate
from mihakk.schemas.benchmark import ReviewConfig
from tests.annotation.pushed import chosen, typed

_MADE = count()
BOXES = ("right_", "fix_", "new_", "typed", "notes")


class Export:
    """As much of a connection as a pull needs."""

    def __init__(self, tasks: Sequence[dict[str, Any]], people: int) -> None:
        self.tasks, self.people = tasks, people

    def read(self, path: str, **_: str) -> bytes:
        assert path.endswith("/export")
        return orjson.dumps(self.tasks)

    def get(self, path: str, **_: Any) -> Any:
        """No task is listed."""
        return {"total": 0, "tasks": []}

    def users(self) -> dict[int, str]:
        return {number: f"person{number}@example.org" for number in range(1, self.people + 1)}


def result(values: Mapping[str, str]) -> list[dict[str, Any]]:
    """One annotation's regions: text boxes by their names, everything else a choice."""
    return [
        typed(name, value) if name.startswith(BOXES) else chosen(name, *value.split(","))
        for name, value in values.items()
    ]


def pulled(
    stores: Stores,
    template: str,
    tasks: Sequence[dict[str, Any]],
    answers: Mapping[str, Sequence[Mapping[str, str] | None]],
    *,
    day: int = 1,
    gate: Gate | None = None,
    config: ReviewConfig | None = None,
) -> Pulled:
    """Pulls a project in which the first person gave the first answer to a task, and so on.

    Args:
        stores: Where to.
        template: Of the project.
        tasks: As they were pushed.
        answers: Name of the task's subject to what each person answered; None: they were not asked.
        day: Of the month, for answers given later.
        gate: Whose answers count.
        config: Of the review.
    """
    rows, number = [], 0
    for place, task in enumerate(tasks, 1):
        annotations = []
        for person, values in enumerate(answers.get(task["data"]["sample_id"], ()), 1):
            if values is None:
                continue
            number += 1
            annotations.append(
                {
                    "id": number,
                    "completed_by": person,
                    "result": result(values),
                    "was_cancelled": False,
                    "updated_at": f"2026-03-{day:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
                    "lead_time": 12.5,
                }
            )
        rows.append({"id": place, "data": task["data"], "annotations": annotations})
    people = max(map(len, answers.values()), default=1)
    language = tasks[0]["data"]["language"]
    labels = labelling(template, language)
    export: Any = Export(rows, people)
    project = Project(export, 1, f"b:{template}:{language}", labels, people, "", False, f"made-{next(_MADE)}")
    found = pull(project, stores, config, gate=gate)
    assert not found.rejected, found.rejected
    return found
