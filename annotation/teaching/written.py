"""Known questions that the lead writes by hand: any template's, with the answer and the explanation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from mihakk.annotation.screens.ratings import LEVELS, Shown, rating_task
from mihakk.annotation.screens.tasks import TEMPLATE, review_task
from mihakk.annotation.teaching.known import As, known
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest, item_id
from mihakk.schemas.calibration import Known
from mihakk.schemas.item import ITEM
from mihakk.schemas.record import Language, Record


class Written(Record):
    """One question of the file."""

    template: str
    language: Language
    sound: bool
    """Whether people should leave it as it is."""
    accepts: dict[str, tuple[str, ...]]
    """Control to the stored answers that are right, e.g. `decision: [fix, discard]`."""
    says: str = Field(min_length=1)
    """Why, in the language of the screen; people read it after they have answered."""
    item: dict[str, Any] = Field(default_factory=dict)
    """For quality_review: `kind` (choice, answer, explanation), `question`, and what that kind needs."""
    parts: tuple[tuple[str, str], ...] = ()
    """For the other templates: what is shown, pairs of heading (of its words.yaml, or empty) and text."""


_ROWS = TypeAdapter(tuple[Written, ...])


def read_written(path: Path) -> Iterator[Known]:
    """The questions of a YAML file with the list `questions`; `UsageError` where nobody could answer one."""
    try:
        rows = _ROWS.validate_python(load_yaml(path).get("questions", ()))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}, questions.{where}: {first['msg']}; see docs/review.md") from error
    for place, row in enumerate(rows):
        if unknown := sorted(row.accepts.keys() - LEVELS.get(row.template, {}).keys()):
            raise UsageError(
                f"{path}, questions.{place}: {row.template} has no answer {unknown[0]!r}; it has "
                f"{', '.join(LEVELS.get(row.template, {})) or 'no such template'}"
            )
        side: Literal["sound", "defective"] = "sound" if row.sound else "defective"
        task = _task(path, place, row)
        name = task["data"]["sample_id"]
        yield known(task, name, "written", As(side, "written", row.accepts), says=row.says)


def _task(path: Path, place: int, row: Written) -> dict[str, Any]:
    name = digest([row.template, row.language, row.item, row.parts])
    if row.template != TEMPLATE:
        shown = [Shown(heading, text) for heading, text in row.parts]
        try:
            return rating_task(row.template, f"q:{name[:12]}", row.language, shown)
        except KeyError as error:
            raise UsageError(
                f"{path}, questions.{place}: {row.template} has no heading {error.args[0]!r}"
            ) from error
    origin = {"records": (), "generator": "written", "generator_version": "1"}
    given = {"task": "written", "language": row.language, "licence": "CC0-1.0", "origin": origin, **row.item}
    try:
        item = ITEM.validate_python({**given, "id": item_id("written", row.language, [name])})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}, questions.{place}.item.{where}: {first['msg']}") from error
    return review_task(item, priority=0)
