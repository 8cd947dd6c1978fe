"""Strictness: what a page or row holds is used, named as ignored, or an error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mihakk.machinery.errors import SourceChanged


def check_fields(
    row: Mapping[str, Any],
    *,
    required: Collection[str] = (),
    optional: Collection[str] = (),
    ignored: Collection[str] = (),
    where: str,
) -> None:
    """Holds the fields of one object against those its parser knows.

    Args:
        row: The object as the source gave it.
        required: Fields that must be there.
        optional: Fields that the parser uses when they are there.
        ignored: Fields left out on purpose.
        where: Names the object in the message.

    Raises:
        SourceChanged: A required field is missing, or there is a field that nobody has looked at yet.
    """
    if not isinstance(row, Mapping):
        raise SourceChanged(f"{where}: an object was expected, not a {type(row).__name__}")
    missing = sorted(set(required) - set(row))
    if missing:
        raise SourceChanged(f"{where}: {', '.join(missing)} missing; it has {', '.join(sorted(row))}")
    leftover = sorted(set(row) - set(required) - set(optional) - set(ignored))
    if leftover:
        raise SourceChanged(
            f"{where}: the parser does not know {', '.join(leftover)}; use them or name them as ignored"
        )
