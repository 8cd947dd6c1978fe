"""The JSON object in a reply that holds more: thoughts, a code fence, words before it."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from mihakk.machinery.text.reasoning import MARKS

_FENCE: Final = "```"
_OPENING: Final = re.compile(r"[\w-]*[ \t]*\n?")
"""What may follow a fence: the language of the code in it."""
_READ: Final = json.JSONDecoder().raw_decode
_MOST: Final = 500
"""Opening brackets at which an object is looked for: a reply with more is none."""


class Unwrapped(NamedTuple):
    """What is left of a reply, and what was taken off."""

    text: str
    taken: tuple[str, ...]
    """Of `reasoning`, `fence`, `preamble`, in this order."""


def unwrapped(reply: str) -> Unwrapped:
    """The JSON object that a reply ends in, without what stands around it.

    A thought (`<think>`, `[THINK]` and their like) goes with its marks, ended or not; a code fence around the
    object and words before it go too. Words behind the object stay, and so does a reply without an object or
    with two that answer otherwise: whoever reads them says what is wrong.
    """
    taken, text, unended = [], reply.strip(), False
    for opened, ended in MARKS:
        if ended in text:
            text = text.rpartition(ended)[2].strip()
        elif opened in text:
            text, unended = text.replace(opened, "", 1).strip(), True
        else:
            continue
        taken = ["reasoning"]
    before, fence, rest = text.removesuffix(_FENCE).partition(_FENCE)
    if fence and text.endswith(_FENCE):
        inner = _OPENING.sub("", rest, count=1).strip()
        found = _object_at_end(inner)
        if found is not None:
            taken += ["fence"] + (["preamble"] if (before.strip() or found) and not unended else [])
            return Unwrapped(inner[found:], tuple(taken))
    found = _object_at_end(text)
    if found:
        # Words after an unended thought are that thought.
        taken += [] if unended else ["preamble"]
        text = text[found:]
    return Unwrapped(text, tuple(taken)) if found is not None else Unwrapped(reply, ())


def _object_at_end(text: str) -> int | None:
    """Where the object begins that a text ends with; None where there is none, or two that differ."""
    at = -1
    others: list[dict[str, Any]] = []
    for _ in range(_MOST):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            found, end = _READ(text, at)
        except (ValueError, RecursionError):
            continue
        if not text[end:].strip():
            twice = any(one != found and one.keys() == found.keys() for one in others)
            return None if twice else at
        others.append(found)
    return None
