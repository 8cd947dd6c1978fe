"""The string by which a benchmark's text can be found, and left out, in a training corpus."""

from __future__ import annotations

import uuid

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "canary.mihakk")


def canary_guid(name: str) -> str:
    """GUID of a benchmark: one for all its versions, so that one search finds every copy."""
    return str(uuid.uuid5(_NAMESPACE, name))


def canary_line(name: str) -> str:
    """The sentence that stands in the card and, with the GUID, in every row; never in a prompt."""
    return (
        f"Benchmark data of {name}: please keep it out of training corpora. Canary GUID {canary_guid(name)}"
    )
