"""A line of JSON as one plain object."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from mihakk.machinery.configs import not_plain
from mihakk.machinery.errors import RecordRejected


def json_object(data: bytes, constant: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """A line as one plain object, in which no key stands twice.

    Args:
        data: The line.
        constant: What `NaN` and `Infinity`, which are no JSON, stand for; the numbers when left out.

    Raises:
        RecordRejected: It is none.
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise RecordRejected("undecodable", f"not UTF-8 text: {error}") from error
    except (ValueError, RecursionError) as error:  # too many digits or levels too
        raise RecordRejected("not_json", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RecordRejected("not_an_object", "not a JSON object")
    if told := not_plain(value):
        raise RecordRejected("not_plain", f"it holds {told}")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} stands twice in one object")
    return found
