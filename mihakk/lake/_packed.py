"""Plain classes as JSON and back, by their annotations: what one pass works out and every worker reads.

Pickle would do the same, but then whoever can write into a lake could run code in whatever reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import orjson

T = TypeVar("T")
Reader = Callable[[Any], Any]


def pack(value: Any) -> bytes:
    """Bytes of a data class or named tuple of numbers, texts, tuples, sets, mappings and other such."""
    return orjson.dumps(_plain(value))


def unpack(kind: type[T], data: bytes) -> T:
    """What `pack` was given, `kind` being its class."""
    read: Reader = _reader(kind)  # type: ignore[arg-type]
    found: T = read(orjson.loads(data))
    return found


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(inner)] for name, inner in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(_plain(inner) for inner in value)
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} can't be packed")


@cache
def _reader(kind: Any) -> Reader:
    origin, args = get_origin(kind) or kind, get_args(kind)
    if names := _field_names(origin):
        hints = get_type_hints(origin)
        readers = [_reader(hints[name]) for name in names]
        make: Any = origin
        return lambda row: make(*(read(value) for read, value in zip(readers, row, strict=True)))
    if origin in (dict, Mapping, Counter):
        inner = _reader(int) if origin is Counter else _reader(args[1])
        return _mapping(Counter if origin is Counter else dict, _reader(args[0]), inner)
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        readers = [_reader(arg) for arg in args]
        return lambda row: tuple(read(value) for read, value in zip(readers, row, strict=True))
    if origin in (tuple, list, set, frozenset):
        inner, gathered = _reader(args[0]), origin
        return lambda row: gathered(map(inner, row))
    if kind in (str, int, float, bool):
        return lambda value: value
    raise TypeError(f"{kind} can't be unpacked")


def _field_names(kind: Any) -> list[str]:
    """Names of the fields of a data class or named tuple; of anything else none."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(getattr(kind, "_fields", ()))


def _mapping(make: Callable[[Any], Any], name: Reader, inner: Reader) -> Reader:
    return lambda rows: make({name(key): inner(value) for key, value in rows})
