"""A judge that is asked for numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from mihakk.machinery.llm.scripted import Answer, Call
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.model import ModelConfig

Remote = Callable[..., ModelConfig]
Ask = Callable[..., Request[int]]


def count(call: Call) -> Answer:
    """A sound reply: the number asked about."""
    return Answer(text=json.dumps({"n": int(call.body["messages"][1]["content"])}))


def numbers(ask: Ask, n: int) -> Iterator[Request[int]]:
    """Requests for the numbers from 0."""
    return (ask(i) for i in range(n))
