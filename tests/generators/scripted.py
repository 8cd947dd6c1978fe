"""A writer that answers from a script, holding replies to the same schema and rules as a model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mihakk.generators.writing.writer import ReplyT, Writer, WriteRequest
from mihakk.machinery.llm.structured import Reply, Request


class ScriptedWriter(Writer):
    """Gives the replies scripted for a prompt in turn, the last one again and again; two tries per request."""

    def __init__(self, **replies: Sequence[dict[str, Any]]) -> None:
        super().__init__(self._answer, "scripted", "none", 4)
        self._replies = replies
        self.requests: list[WriteRequest] = []

    def write(
        self, request: WriteRequest, schema: type[ReplyT], objection: Callable[[ReplyT], str]
    ) -> ReplyT:
        """See `mihakk.generators.writing.writer.Writer`."""
        self.requests.append(request)
        return super().write(request, schema, objection)

    def _answer(self, request: Request[Any]) -> Reply[Any]:
        problem = ""
        script = self._replies[request.name]
        for place, reply in enumerate([*script, script[-1]][:2]):
            try:
                return Reply(request.tag, "", request.validate(reply), "", bool(place))
            except ValueError as error:
                problem = str(error)
        return Reply(request.tag, "", None, problem)
