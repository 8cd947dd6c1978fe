"""What a model is asked, and what became of it: JSON under a schema, checked again here, or plain words.

`Model.ask_all` sends requests and gives replies in their order. Answered calls are journaled and never paid
for twice; `Request.validate` runs on journaled replies too, so making it stricter needs no new calls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from mihakk.machinery.ids import digest
from mihakk.machinery.llm.journal import Entry
from mihakk.machinery.llm.lenient import Unwrapped, unwrapped
from mihakk.schemas.model import ModelConfig

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Message = dict[str, str]
"""`{"role": "system" | "user" | "assistant", "content": ...}`"""
LONGEST_QUOTE = 1500
"""Characters of an invalid reply that are shown back to the model."""
REPAIR = (
    "That reply can't be used: {problem}. Answer again with nothing but one JSON object in the format "
    "asked for: no code fence, no text before or after it."
)


@dataclass(frozen=True)
class Request(Generic[T]):
    """One question."""

    tag: str
    """The caller's own id of it."""
    messages: Sequence[Message]
    """The shared part first, what differs last, so that servers reuse the common prefix."""
    schema: dict[str, Any] | None
    """JSON Schema of the reply; every object closed (`additionalProperties: false`), all keys required.
    None asks for words: whatever is replied is the value, and nothing is repaired."""
    validate: Callable[[Any], T]
    """Makes a value of the parsed object, or words; raises ValueError with what to say to the model."""
    name: str = "reply"
    """Name of the schema, sent along."""
    meta: dict[str, Any] = field(default_factory=dict)
    """Kept in the journal beside the reply."""
    variant: int = 0
    """Added to the sampling seed: another number asks the same question anew."""
    max_tokens: int | None = None
    """Of the reply; the config's where None."""
    lenient: bool = False
    """Take thoughts, fences and words before it off the object; otherwise a reply with any is refused."""


def in_words(tag: str, prompt: str, max_tokens: int, variant: int, system: str = "") -> Request[str]:
    """A question answered in words, as systems under evaluation are asked."""
    said = [{"role": "system", "content": system}] if system else []
    said.append({"role": "user", "content": prompt})
    return Request(tag, said, None, str, variant=variant, max_tokens=max_tokens)


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of an object that has exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def fitted(model: type[M], value: dict[str, Any]) -> M:
    """A reply as a model.

    Raises:
        ValueError: It does not fit, in words for the model that wrote it.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        told = "; ".join(f"{misfit['loc']}: {misfit['msg']}" for misfit in error.errors())
        raise ValueError(f"it does not fit the schema: {told}") from None


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What became of a request."""

    tag: str
    key: str
    """Journal key of the call that decided: the repair's, if there was one."""
    value: T | None
    """None when the model gave no usable reply."""
    problem: str = ""
    """Why not."""
    asked_twice: bool = False
    """A repair request was needed."""
    taken: tuple[str, ...] = ()
    """What was taken off a reply that is read leniently: `reasoning`, `fence`, `preamble`."""


def payload(config: ModelConfig, request: Request[Any], messages: Sequence[Message]) -> dict[str, Any]:
    """Body of the chat call: the form of structured output that vLLM and llama.cpp both enforce."""
    sampling = config.sampling.model_dump(mode="json")
    body = {
        "model": config.model,
        "messages": list(messages),
        **sampling,
        "max_tokens": request.max_tokens or sampling["max_tokens"],
        "seed": sampling["seed"] + request.variant,
    }
    if request.schema is None:
        return body
    schema = {"name": request.name, "schema": request.schema, "strict": True}
    return {**body, "response_format": {"type": "json_schema", "json_schema": schema}}


def compact(body: dict[str, Any]) -> dict[str, Any]:
    """The payload as the embedded server takes it: the same schema as a grammar that allows no padding.

    llama.cpp ignores the wish for compact JSON inside `response_format`, and small models left free pad their
    replies with line breaks until `max_tokens` cuts them off. A payload without a schema is sent as it is.
    """
    if "response_format" not in body:
        return body
    rest = {key: value for key, value in body.items() if key != "response_format"}
    schema = body["response_format"]["json_schema"]["schema"]
    strict = {"x-guidance": {"whitespace_flexible": False}, **schema}
    return {**rest, "grammar": "%llguidance {}\nstart: %json " + orjson.dumps(strict).decode()}


def reply_key(config: ModelConfig, revision: str, body: dict[str, Any]) -> str:
    """Key of a reply: everything that could change it, and nothing else (not where the model runs)."""
    return digest({"payload": body, "model": config.model, "revision": revision})


def parse_object(text: str, finish_reason: str) -> dict[str, Any]:
    """The one JSON object a reply consists of.

    Raises:
        ValueError: Cut off, fenced, surrounded by text, not an object, or with a key given twice.
    """
    if finish_reason == "length":
        raise ValueError("it was cut off before its end: be briefer")
    if not text.strip():
        raise ValueError("it is empty")
    if text.lstrip().startswith("```"):
        raise ValueError("it is wrapped in a code fence")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not one JSON object ({error.msg})") from None
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    _no_repeated_keys(text)
    return value


def conversation(
    config: ModelConfig, revision: str, request: Request[T]
) -> Generator[tuple[str, dict[str, Any]], Entry, Reply[T]]:
    """The calls that a request needs, key and payload of each; to be sent the answer, ends in the reply.

    A reply that does not fit is shown to the model once, with what is wrong.
    """
    messages, problem, asked_twice = list(request.messages), "", False
    for asked_twice in (False, True):
        body = payload(config, request, messages)
        key = reply_key(config, revision, body)
        entry = yield key, body
        if request.schema is None:
            try:
                return Reply(request.tag, key, request.validate(entry.text))
            except ValueError as error:
                return Reply(request.tag, key, None, str(error))
        text, taken = unwrapped(entry.text) if request.lenient else Unwrapped(entry.text, ())
        try:
            value = request.validate(parse_object(text, entry.finish_reason))
        except ValueError as error:
            problem = str(error)
            messages = repair(request.messages, entry.text, problem)
        else:
            return Reply(request.tag, key, value, "", asked_twice, taken)
    return Reply(request.tag, key, None, problem, asked_twice)


def repair(messages: Sequence[Message], text: str, problem: str) -> list[Message]:
    """The conversation continued with the invalid reply and what is wrong with it."""
    shown = text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + " ..."
    return [
        *messages,
        {"role": "assistant", "content": shown or "(nothing)"},
        {"role": "user", "content": REPAIR.format(problem=problem)},
    ]


def _no_repeated_keys(text: str) -> None:
    # orjson keeps the last of repeated keys silently; the standard parser shows every pair.
    import json

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in found]
        if len(set(keys)) < len(keys):
            again = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {again!r} is given twice")
        return dict(found)

    json.loads(text, object_pairs_hook=pairs)
