"""A writer that answers from a script, holding replies to the same schema and rules as a model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from generators.writing.writer import Outcome, ReplyT, WriteRequest
from mihakk.errors import RecordRejected


class ScriptedWriter:
    """Gives the replies scripted for a prompt in turn, the last one again and again; two tries per request."""

    model = "scripted"
    family = "none"
    concurrency = 4

    def __init__(self, **replies: Sequence[dict[str, Any]]) -> None:
        self._replies = replies
        self.requests: list[WriteRequest] = []
        self.outcomes: dict[WriteRequest, Outcome] = {}

    def write(
        self, request: WriteRequest, schema: type[ReplyT], objection: Callable[[ReplyT], str]
    ) -> ReplyT:
        """See `generators.writing.writer.Writer`."""
        self.requests.append(request)
        problem = ""
        script = self._replies[request.name]
        for place, reply in enumerate([*script, script[-1]][:2]):
            try:
                value = schema.model_validate(reply)
            except ValidationError as error:
                problem = f"unusable: {error}"
                continue
            problem = objection(value)
            if not problem:
                self.outcomes[request] = "repaired" if place else "accepted"
                return value
        self.outcomes[request] = "rejected"
        raise RecordRejected(f"reply_{problem.split(':')[0]}", problem)
