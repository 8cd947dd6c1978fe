"""The model that writes parts of items, reached through `mihakk.llm` alone."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from generators.writing.writer import CHOSEN, PROSE, Outcome, ReplyT, Writer, WriteRequest
from mihakk.errors import RecordRejected
from mihakk.llm.journal import Journal
from mihakk.llm.model import Model, open_model
from mihakk.llm.structured import Request, fitted
from schemas.model import ModelConfig
from schemas.record import Language

JOURNAL = "generator"
SCRIPT: dict[Language, str] = dict.fromkeys(("ar", "fa"), "^[\\u0600-\\u06ff\\u200c .,:;!()«»-]+$")
"""What text in these languages may be made of."""
_REASON = re.compile(r"([a-z]+(?:_[a-z]+)*): ")


@contextmanager
def open_writer(config: ModelConfig, folder: Path) -> Iterator[Writer]:
    """A writer for the length of a `with` block; nothing starts before the first reply the journal lacks.

    Args:
        config: The model and how to reach it.
        folder: Where its journal lies.
    """
    with Journal(folder, JOURNAL) as journal, open_model(config) as model:
        yield ModelWriter(model, journal)


class ModelWriter:
    """A writer behind `mihakk.llm`: strict schema, journal, one repair.

    Args:
        model: An open model.
        journal: Where replies are kept; a rebuild asks for none twice.
    """

    def __init__(self, model: Model, journal: Journal) -> None:
        self._model = model
        self._journal = journal
        self.model = model.config.name
        self.family = model.config.family
        self.concurrency = model.config.limits.concurrency
        self.outcomes: dict[WriteRequest, Outcome] = {}

    def write(
        self, request: WriteRequest, schema: type[ReplyT], objection: Callable[[ReplyT], str]
    ) -> ReplyT:
        """See `Writer.write`."""

        def check(value: dict[str, Any]) -> ReplyT:
            reply = fitted(schema, value)
            if problem := objection(reply):
                raise ValueError(problem)
            return reply

        asked = Request(
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
        (reply,) = self._model.ask_all([asked], self._journal)
        if reply.value is None:
            self.outcomes[request] = "rejected"
            reason = _REASON.match(reply.problem)
            raise RecordRejected(f"reply_{reason[1]}" if reason else "reply_unusable", reply.problem)
        self.outcomes[request] = "repaired" if reply.asked_twice else "accepted"
        return reply.value


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
