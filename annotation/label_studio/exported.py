"""An export of Label Studio, record by record: what is not of its form is set aside, the others are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from mihakk.machinery.errors import ExternalFailure
from mihakk.schemas.rejection import Rejection

_Number = Annotated[int, Field(ge=0, lt=2**63)]
_Moment = Annotated[
    AwareDatetime, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(9999, 1, 1, tzinfo=UTC))
]


class Row(BaseModel):
    """One annotation as the server writes it; what people answered (`result`) is checked by its reader."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    id: _Number
    completed_by: _Number | None
    was_cancelled: bool
    updated_at: _Moment
    created_at: _Moment | None = None
    lead_time: float | None = None
    updated_by: _Number | None = None
    result: Any


class Task(BaseModel):
    """One task with its annotations."""

    model_config = ConfigDict(frozen=True)

    id: _Number
    data: dict[str, Any]
    annotations: list[Any]


@dataclass(frozen=True)
class Answer:
    """One finished annotation with the task it belongs to."""

    task: Task
    row: Row
    origin: str = ""
    """See `Review.annotation`."""
    superseded: bool = False
    """Whether the same person answered the same task again later."""
    unsigned: bool = False
    """Whether the server, which says of every answer who submitted it, says so of nobody."""
    age: tuple[datetime, int] = (datetime.min.replace(tzinfo=UTC), 0)
    """Orders one person's annotations of one task."""

    @property
    def data(self) -> dict[str, Any]:
        """What the task shows."""
        return self.task.data


class Malformed(NamedTuple):
    """An annotation, or a whole task, that is not of the form of an export."""

    task: Any
    """The task's number as it stands there, None where there is none."""
    data: dict[str, Any]
    """What the task shows, as far as it can be read."""
    row: Any
    """The annotation; None where the task has no list of them."""
    reason: str
    why: str

    @property
    def id(self) -> int | None:
        """The annotation's number, where it has one."""
        number = self.row.get("id") if isinstance(self.row, dict) else None
        return number if isinstance(number, int) else None

    @property
    def result(self) -> Any:
        """What was answered, as far as it can be told."""
        return self.row.get("result") if isinstance(self.row, dict) else None

    def author(self, people: Mapping[int, str]) -> str:
        """Pseudonym of whose it is; empty where nobody is known to have given it."""
        member = self.row.get("completed_by") if isinstance(self.row, dict) else None
        return people.get(member, "") if isinstance(member, int) else ""

    def rejection(self, project: str, people: Mapping[int, str]) -> Rejection:
        """What is kept of it: what was answered only where its author is known, who may have it forgotten."""
        author = self.author(people)
        told = {"annotator": author} | ({"result": self.result} if author else {})
        return Rejection(
            record=str(self.data.get("sample_id") or f"task {self.task}"),
            source=project,
            reason=self.reason,
            detail=self.why,
            body=orjson.dumps({"task": self.task, "annotation": self.id, **told}).decode(),
        )


class Exported(NamedTuple):
    """An export read."""

    tasks: list[tuple[Task, list[Row]]]
    malformed: list[Malformed]

    @property
    def names_all(self) -> bool:
        """Whether every annotation that is there has a number, so that others are known to be deleted."""
        return all(one.id is not None for one in self.malformed)

    def ids(self) -> Iterable[int]:
        """Numbers of the annotations that are there, of malformed ones too."""
        yield from (row.id for _, rows in self.tasks for row in rows)
        yield from (one.id for one in self.malformed if one.id is not None)


def exported(text: bytes) -> Exported:
    """The tasks of an export with their annotations.

    Raises:
        ExternalFailure: It is no list of tasks, or none of them is one.
    """
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ExternalFailure(f"Label Studio's export is not JSON ({error}); pull again") from error
    if not isinstance(found, list):
        raise ExternalFailure(f"Label Studio's export is no list but {type(found).__name__}; pull again")
    tasks = read_tasks(found)
    if found and not tasks.tasks:
        raise ExternalFailure(
            f"nothing in Label Studio's export is a task ({tasks.malformed[0].why}); pull again"
        )
    return tasks


def read_tasks(tasks: Iterable[Any]) -> Exported:
    """Tasks and annotations that are of their form, and those that are not."""
    read: list[tuple[Task, list[Row]]] = []
    malformed: list[Malformed] = []
    for one in tasks:
        try:
            task = Task.model_validate(one)
        except ValidationError as error:
            malformed += _of_no_task(one, _told(error))
            continue
        rows = []
        for row in task.annotations:
            try:
                rows.append(Row.model_validate(row))
            except ValidationError as error:
                malformed.append(Malformed(task.id, task.data, row, "malformed_annotation", _told(error)))
        read.append((task, rows))
    return Exported(read, malformed)


def _of_no_task(one: Any, why: str) -> list[Malformed]:
    """One for each annotation of a malformed task, for each has its author; one where none can be told."""
    fields = one if isinstance(one, dict) else {}
    data, rows = fields.get("data"), fields.get("annotations")
    shown = data if isinstance(data, dict) else {}
    found = rows if isinstance(rows, list) and rows else [None]
    return [Malformed(fields.get("id"), shown, row, "malformed_task", why) for row in found]


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
