"""Malformed input becomes an error that says what is wrong and where, whatever the parser met."""

from __future__ import annotations

import csv
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar
from xml.etree.ElementTree import ParseError

import orjson

from mihakk.machinery.errors import RecordRejected, SourceChanged
from mihakk.machinery.workbook import DAMAGED_ARCHIVE
from mihakk.schemas.rejection import Rejection

T = TypeVar("T")

MALFORMED: tuple[type[Exception], ...] = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError),
    *(ValueError, NotImplementedError, csv.Error, struct.error, DAMAGED_ARCHIVE, zlib.error, ParseError),
)
"""What a parser raises that meets a missing key, a text in place of a list, a nesting without end."""


@contextmanager
def parsing(where: str) -> Iterator[None]:
    """Turns what malformed input raises into an error of the source.

    Args:
        where: File, page or source that is read, for the message.

    Raises:
        SourceChanged: The input is not of the shape that its parser knows.
    """
    try:
        yield
    except MALFORMED as error:
        raise SourceChanged(f"{where} is not of the shape that its parser knows: {explain(error)}") from error


def parsed(where: str, entries: Iterable[T]) -> Iterator[T]:
    """The entries of a parser, with the errors of `parsing`."""
    with parsing(where):
        yield from entries


def rejecting(record: str, entries: Iterable[T], body: object = "") -> Iterator[T | Rejection]:
    """The entries of one record; why it can't be used becomes a rejection with its body (text or JSON)."""
    try:
        yield from entries
    except RecordRejected as error:
        shown = body if isinstance(body, str) else orjson.dumps(body).decode()
        yield Rejection(record=record, reason=error.reason, detail=error.detail, body=shown)


def explain(error: Exception) -> str:
    """Kind and message of an error, and the line of code that met it."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent.name != "pydantic"]
    at = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}{at}"
