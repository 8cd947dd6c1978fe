"""The strings at which a generation of lm-eval was to stop, as its samples log them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def stop_strings(arguments: Any) -> tuple[str, ...]:
    """`until` in the `arguments` of a sample: of lists as older versions write them, or of `gen_args_0`."""
    return tuple(dict.fromkeys(_found(arguments, 0)))


def _found(value: Any, depth: int) -> Iterator[str]:
    if depth > 3 or not isinstance(value, dict | list | tuple):
        return
    if not isinstance(value, dict):
        for one in value:
            yield from _found(one, depth + 1)
        return
    until = value.get("until", ())
    yield from (one for one in ([until] if isinstance(until, str) else until or ()) if isinstance(one, str))
    for inner in value.values():
        yield from _found(inner, depth + 1)
