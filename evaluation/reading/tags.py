"""The answer tag: closed, cut by a stop string, repeated, or only talked about."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TAG: Final = re.compile(r"<answer>(.*?)(</answer>|(?=<answer>)|\Z)", re.DOTALL | re.IGNORECASE)
_LOOSE: Final = re.compile(r"</?answer>?", re.IGNORECASE)


class Tag(NamedTuple):
    """What one answer tag holds."""

    content: str
    closed: bool
    """False where the reply ended first: a stop string eats the closing tag."""


def last_tag(text: str) -> Tag | None:
    """The last answer tag that holds anything."""
    if "<" not in text:
        return None
    for match in reversed(list(_TAG.finditer(text))):
        if content := match[1].strip():
            return Tag(_LOOSE.sub("", content).strip(), closed=bool(match[2]))
    return None


def without_tags(text: str) -> str:
    """Text with every answer tag taken out and its content left."""
    return _LOOSE.sub("", text).strip()
