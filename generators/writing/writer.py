"""The model that writes parts of items, asked through `mihakk.machinery.llm` alone."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.llm.budget import Meter
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.spending import Ledger
from mihakk.machinery.llm.structured import Reply, Request, fitted
from mihakk.schemas.model import ModelConfig
from mihakk.schemas.record import Language

ReplyT = TypeVar("ReplyT", bound=BaseModel)
Outcome = Literal["accepted", "repaired", "rejected"]
"""What became of a reply: fit at once, fit after the one repair, or not fit."""
JOURNAL = "generator"
SCRIPT: dict[Language, str] = dict.fromkeys(("ar", "fa"), "^[\\u0600-\\u06ff\\u200c .,:;!()«»-]+$")
"""What text in these languages may be made of."""
_REASON = re.compile(r"([a-z]+(?:_[a-z]+)*): ")

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


class Writer:
    """Asks a model for parts of items; thread-safe, for a stage asks about several records at once.

    Args:
        ask: The model: strict schema, journal, one repair.
        model: Its name, as items record it.
        family: Its family, so that an auditor of the same one is reported.
        concurrency: Requests that may be under way at once.
    """

    def __init__(
        self, ask: Callable[[Request[Any]], Reply[Any]], model: str, family: str, concurrency: int
    ) -> None:
        self._ask = ask
        self.model, self.family, self.concurrency = model, family, concurrency
        self.outcomes: dict[WriteRequest, Outcome] = {}
        """What became of each request so far: two tasks that need the same part ask for it once."""

    def anew(self) -> "Writer":
        """The same model, of which nothing was asked yet."""
        return Writer(self._ask, self.model, self.family, self.concurrency)

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

        def check(value: dict[str, Any]) -> ReplyT:
            reply = fitted(schema, value)
            if problem := objection(reply):
                raise ValueError(problem)
            return reply

        asked: Request[ReplyT] = Request(
            tag=request.record,
            messages=[
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            schema=json_schema(schema, request),
            validate=check,
            name=request.name,
            meta={"prompt": f"{request.name}@{request.version}", "record": request.record},
        )
        reply: Reply[ReplyT] = self._ask(asked)
        if reply.value is None:
            self.outcomes[request] = "rejected"
            reason = _REASON.match(reply.problem)
            raise RecordRejected(f"reply_{reason[1]}" if reason else "reply_unusable", reply.problem)
        self.outcomes[request] = "repaired" if reply.asked_twice else "accepted"
        return reply.value


@contextmanager
def open_writer(config: ModelConfig, folder: Path, spending: Path | None = None) -> Iterator[Writer]:
    """A writer for the length of a `with` block; nothing starts before the first reply the journal lacks.

    Args:
        config: The model and how to reach it.
        folder: Where its journal lies; a rebuild asks for no reply twice.
        spending: Folder of the benchmark's ledger; without one only this run is counted.
    """
    with (
        Journal(folder, JOURNAL) as journal,
        Ledger(spending) as ledger,
        open_model(config, meter=Meter(config, ledger)) as model,
    ):
        yield Writer(
            lambda request: next(model.ask_all([request], journal)),
            config.name,
            config.family,
            config.limits.concurrency,
        )


def json_schema(schema: type[BaseModel], request: WriteRequest) -> dict[str, Any]:
    """The model's JSON Schema as strict servers take it: closed objects, every key required, no titles.

    `prose` may hold the language's own script alone, `chosen` one of the request's choices: small models that
    are asked in Arabic like to answer in English, and a grammar is cheaper than a repair.
    """
    return dict(_strict(schema.model_json_schema(), request))


def _strict(node: Any, request: WriteRequest) -> Any:
    if isinstance(node, list):
        return [_strict(value, request) for value in node]
    if not isinstance(node, dict):
        return node
    titled = isinstance(node.get("title"), str)
    out = {name: _strict(value, request) for name, value in node.items() if not (titled and name == "title")}
    if out.pop(PROSE, False) and request.language in SCRIPT:
        out["pattern"] = SCRIPT[request.language]
    if out.pop(CHOSEN, False):
        out["enum"] = list(request.choices)
    if node.get("type") == "object":
        out["additionalProperties"] = False
        out["required"] = list(node.get("properties", {}))
    return out
