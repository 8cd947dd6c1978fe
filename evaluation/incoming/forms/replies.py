"""Replies as JSON lines: `item` (or `id`) and `reply`, with whatever else an answer holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mihakk.evaluation.incoming.form import FORMS, Form, Records, of_lines
from mihakk.evaluation.incoming.given import AskedThere, Given
from mihakk.evaluation.incoming.head import Head
from mihakk.machinery.errors import RecordRejected

_FIELDS: Final = (
    *("reply", "reasoning", "finish_reason", "likelihoods", "error", "variant", "repeat"),
    *("tokens_in", "tokens_out", "cost", "prompt_digest"),
)
_SAID: Final = ("reply", "likelihoods", "error")


def _fits(head: Head) -> bool:
    if head.kind != "lines":
        return False
    # A file without one readable line is called what most are; its lines say what is wrong.
    return not head.first or (bool({"item", "id"} & head.first.keys()) and any(map(head.first.get, _SAID)))


def _read(head: Head) -> Records:
    return of_lines(head, _answer)


def _answer(line: dict[str, Any], asked: AskedThere) -> Iterator[Given]:
    asked.item = str(line.pop("item", None) or line.pop("id", None))
    system = str(line.pop("model", None) or line.pop("system", None) or "")
    unknown = sorted(line.keys() - set(_FIELDS))
    if unknown:
        known = ", ".join(_FIELDS)
        raise RecordRejected(
            "unknown_field", f"unknown field {unknown[0]!r}; there are: item, model, {known}"
        )
    if not line.keys() & set(_SAID):
        detail = "neither reply, likelihoods nor error; an empty reply is written as one"
        raise RecordRejected("no_reply", detail)
    yield Given(asked, system, more=line)


FORMS.add("answers", Form("replies as JSON lines: item and reply", _fits, _read, rank=1))
