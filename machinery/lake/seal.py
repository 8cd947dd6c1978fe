"""JSON that ends with its own digest, so that a byte that rots into another letter is found.

A seal is the last key of a JSON object, over all bytes before it: `{"a":1,"seal":"<32 hex digits>"}`. What an
earlier version wrote has none and is taken as it is.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from mihakk.machinery.ids import sha256

KEY = "seal"
_MARK = b',"' + KEY.encode() + b'":"'
_DIGITS = 32
_LENGTH = len(_MARK) + _DIGITS + 2
_WHOLE = re.compile(rb'"' + KEY.encode() + rb'":"[0-9a-f]{%d}".' % _DIGITS, re.DOTALL)


def seal(body: bytes) -> bytes:
    """A JSON object with at least one key, sealed."""
    head = body.rstrip()[:-1].rstrip()
    return head + _tail(head)


def broken(data: bytes) -> bool:
    """Whether there is a seal, one byte of it rotten perhaps, that is not that of the bytes before it."""
    data = data.rstrip(b"\n")
    return data[-_LENGTH:] != _tail(data[:-_LENGTH]) and _is_framed(data)


def unsealed(data: bytes) -> Any:
    """The object without its seal.

    Raises:
        ValueError: It is no JSON, or its seal is broken.
    """
    if broken(data):
        raise ValueError("its digest is not the recorded one")
    plain = orjson.loads(data)
    if isinstance(plain, dict):
        plain.pop(KEY, None)
    return plain


def torn(line: bytes) -> bool:
    """Whether a last line without its line end was cut before its seal ended, as by a killed run."""
    return not _WHOLE.search(line) and not _is_framed(line)


def _is_framed(data: bytes) -> bool:
    """Whether it ends as a seal does, two bytes of what stands around the digits rotten perhaps."""
    tail = data[-_LENGTH:]
    frame = zip(tail[: len(_MARK)] + tail[-2:], _MARK + b'"}', strict=False)
    return sum(found == wanted for found, wanted in frame) >= len(_MARK)


def _tail(head: bytes) -> bytes:
    return _MARK + sha256(head)[:_DIGITS].encode() + b'"}'
