"""What a judge scores a reply by: `evaluation/rubrics/*.yaml`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from mihakk.schemas.evaluation import AnswerKind
from mihakk.schemas.record import Language, Record

SUM = "sum"
"""`Rubric.total` where it is the sum of all fields."""
Sees = Literal["question", "text", "reference", "reply"]


class RubricField(Record):
    """One criterion, scored in whole numbers."""

    low: int
    high: int
    says: dict[Language, str]
    """What is judged, by language."""
    anchors: dict[int, dict[Language, str]]
    """Score to what deserves it; both ends are there."""

    @model_validator(mode="after")
    def _has_both_ends(self) -> RubricField:
        if self.low >= self.high or not {self.low, self.high} <= set(self.anchors):
            raise ValueError("a scale has a low end, a higher one, and an anchor for each")
        if any(not self.low <= score <= self.high for score in self.anchors):
            raise ValueError("an anchor lies outside the scale")
        return self


class PublishedRubric(Record):
    """The prompt that a paper's authors ask judges in; the words come from the user's copy."""

    file: str
    """Where it stands below the user's folder: a text, or a program whose longest string it is."""
    digest: str
    """Of its Latin letters."""
    form: Literal["json", "tags", "places"]
    """How the material follows: one JSON object, `[NAME] ... [/NAME]`, or in its places `{NAME}`."""
    parts: dict[Sees, str]
    """What it calls what the judge is shown."""
    scores: dict[str, str]
    """Our field to its key in the reply; empty where the reply is the number alone."""
    reason: str = ""
    """Key of the reason, where it asks for one."""


class Rubric(Record):
    """Criteria, scale and what the judge is shown."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    version: int = Field(ge=1)
    title: str
    kinds: tuple[AnswerKind, ...] = ()
    """Kinds of answers it judges; none where `tasks` says it."""
    tasks: tuple[str, ...] = ()
    sees: tuple[Sees, ...]
    """question: as it was asked. text: the verses. reference: the gold. reply: what the system said."""
    extract: bool = False
    """Whether the answer is first found in the reply, by a call of its own, and judged alone."""
    total: str
    """The field that stands for the whole, or `sum`."""
    fields: dict[str, RubricField]
    published: PublishedRubric | None = None
    prompt: str = ""
    """The authors' own, where judges are asked in it; never in a file."""

    @model_validator(mode="after")
    def _is_whole(self) -> Rubric:
        if self.total != SUM and self.total not in self.fields:
            raise ValueError(f"`total` is {self.total!r}; it must be {SUM!r} or a field")
        if bool(self.kinds) == bool(self.tasks):
            raise ValueError("a rubric names either the `kinds` or the `tasks` it judges")
        return self

    @property
    def low(self) -> int:
        """Least total."""
        return sum(one.low for one in self._counted)

    @property
    def high(self) -> int:
        """Largest total."""
        return sum(one.high for one in self._counted)

    def total_of(self, scores: dict[str, int]) -> int:
        """The total of one judgement's scores."""
        return sum(scores.values()) if self.total == SUM else scores[self.total]

    def judges(self, kind: AnswerKind, task: str) -> bool:
        """Whether answers of this kind and task are judged by it."""
        return kind in self.kinds or task in self.tasks

    @property
    def _counted(self) -> tuple[RubricField, ...]:
        return tuple(self.fields.values()) if self.total == SUM else (self.fields[self.total],)
