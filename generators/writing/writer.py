"""What generators ask of the model that writes parts of items."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, Field

from schemas.record import Language

ReplyT = TypeVar("ReplyT", bound=BaseModel)
Outcome = Literal["accepted", "repaired", "rejected"]
"""What became of a reply: fit at once, fit after the one repair, or not fit."""

PROSE, CHOSEN = "x-prose", "x-chosen"
"""Marks in a reply's JSON Schema, replaced by what the request asks for before it is sent."""


def prose(description: str) -> str:
    """A field of a reply that is text in the language asked for."""
    field: str = Field(description=description, json_schema_extra={PROSE: True})
    return field


def chosen(description: str) -> str:
    """A field of a reply that is one of the request's choices."""
    field: str = Field(description=description, json_schema_extra={CHOSEN: True})
    return field


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One thing to be written."""

    record: str
    """Id of the record it is written for."""
    name: str
    """Name of the prompt."""
    version: str
    language: Language
    """Language the reply is to be in."""
    system: str
    user: str
    choices: tuple[str, ...] = ()
    """What `chosen` fields may hold."""


class Writer(Protocol):
    """Model access; thread-safe, for a stage asks about several records at once."""

    model: str
    """Name of the model, as items record it."""
    family: str
    """Its family, so that an auditor of the same one is reported."""
    concurrency: int
    """Requests that may be under way at once."""
    outcomes: dict[WriteRequest, Outcome]
    """What became of each request so far."""

    def write(
        self, request: WriteRequest, schema: type[ReplyT], objection: Callable[[ReplyT], str]
    ) -> ReplyT:
        """A reply that fits the schema and passes the rule, after at most one repair.

        Args:
            request: What to write.
            schema: Shape of the reply.
            objection: What is wrong with a reply, as `<reason>: <what to fix>`; empty when it may be used.

        Raises:
            RecordRejected: Still unusable after the repair; the reason is `reply_<reason>`, or
                `reply_unusable` where the reply has another shape.
        """
        ...
