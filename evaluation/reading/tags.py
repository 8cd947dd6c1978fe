"""The answer tag: closed, cut by a stop string, repeated, or only talked about."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TAG: Final = re.compile(r"<answer>(.*?)(</answer>|(?=<answer>)|\Z)", re.DOTALL | re.IGNORECASE)
_LOOSE: Final = re.compile(r"</?answer>?", re.IGNORECASE)
_BROKEN: Final = re.compile(r"^.*<[^<>\s]{1,12}>|</answer>", re.DOTALL | re.IGNORECASE)
"""What stands before an answer whose opening tag is misspelt, and the tags of earlier ones."""


class Tag(NamedTuple):
    """What one answer tag holds."""

    content: str
    closed: bool
    """False where the reply ended first: a stop string eats the closing tag."""


def last_tag(text: str) -> Tag | None:
    """The last answer tag that holds anything; one that ends but never began holds what stands before it."""
    if "<" not in text:
        return None
    tags = list(_TAG.finditer(text))
    for match in reversed(tags):
        if content := match[1].strip():
            return Tag(_LOOSE.sub("", content).strip(), closed=bool(match[2]))
    before, end, _ = text.rpartition("</answer>")
    content = _BROKEN.sub("", before).strip()
    return Tag(content, closed=True) if end and content and not tags else None


def without_tags(text: str) -> str:
    """Text with every answer tag taken out and its content left."""
    return _LOOSE.sub("", text).strip()
