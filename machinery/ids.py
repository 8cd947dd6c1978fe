"""Digests of content and the stable ids made of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import orjson
from pydantic import BaseModel

from mihakk.schemas.item import Item
from mihakk.schemas.record import LANGUAGE_CODE, Language

SCORED_FIELDS = (
    "kind",
    "task",
    "language",
    "question",
    "context",
    "options",
    "gold",
    "answer",
    "accepted",
    "verses",
    "explanations",
    "overall",
)
"""Fields that change what is asked or what counts as right."""


def canonical_json(value: Any) -> bytes:
    """JSON bytes with sorted keys and no spaces: equal values give equal bytes."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha256(data: bytes) -> str:
    """SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def item_id(task: str, language: str, records: Iterable[str], variant: str = "") -> str:
    """Stable id `<language>-<task>-<16 hex>` of an item.

    Args:
        task: Name of the task.
        language: Language of the item.
        records: Ids of the records the question itself is taken from. Distractors' records are left out,
            so that a changed distractor changes the item's content hash but not its id.
        variant: What tells apart several items of one task from one record, e.g. the option order.
    """
    name = "\x1f".join([task, language, *records, "\x1e", variant]).encode()
    return f"{language}-{task}-{hashlib.blake2b(name, digest_size=8).hexdigest()}"


def language_of(item: str) -> Language:
    """Language of an item by its id; Arabic where the id is none of `item_id`."""
    name = "-".join(item.split("-")[:-2]) or item.partition("-")[0]
    return name if re.fullmatch(LANGUAGE_CODE, name) else "ar"


def content_hash(item: Item) -> str:
    """Digest of everything in an item that a score depends on, hexadecimal."""
    row = item.model_dump(mode="json", include=set(SCORED_FIELDS))
    return digest(row)
