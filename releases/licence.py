"""Which licences a release may carry, and the refusal of records without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import UsageError
from mihakk.schemas.item import Item
from mihakk.schemas.record import Record

LISTED = Path(__file__).with_name("licences.yaml")
CUSTOM = "LicenseRef-"
"""SPDX's own prefix for a licence outside its list; the attribution must then say where its text is."""


class Licence(Record):
    """One licence as readers and the Hub know it."""

    title: str
    url: str
    hub: str
    """Identifier in the Hub's card metadata."""
    derivatives: bool = True
    """Whether what is made from the text may be given away."""


@cache
def licences() -> dict[str, Licence]:
    """Every licence a record may carry, by SPDX identifier."""
    listed = load_yaml(LISTED, own=True)
    return {name: Licence(**row) for name, row in listed.items()}


def known(licence: str) -> bool:
    """Whether a release may carry records under this licence."""
    listed = licences().get(licence)
    return listed.derivatives if listed else licence.startswith(CUSTOM)


def forbids_derivatives(licence: str) -> bool:
    """Whether a licence forbids to give away what was made from the text, a cleaned copy included."""
    listed = licences().get(licence)
    return listed is not None and not listed.derivatives


def hub_licence(licence: str) -> str:
    """The Hub's identifier of a licence, `other` where it has none."""
    return licences()[licence].hub if licence in licences() else "other"


def refuse_unknown(items: Iterable[Item], licence: str) -> None:
    """Raise `UsageError` unless every item, and the release itself, has a known licence."""
    unknown: Counter[str] = Counter()
    example: dict[str, str] = {}
    for item in items:
        if not known(item.licence):
            unknown[item.licence] += 1
            example.setdefault(item.licence, item.id)
        elif item.licence.startswith(CUSTOM) and not item.attribution:
            unknown[f"{item.licence} (without an attribution that says where its text is)"] += 1
    if not known(licence):
        unknown[f"{licence} (the release's own)"] += 1
    if unknown:
        named = "; ".join(
            f"{name or '(empty)'}: {count}, e.g. {example.get(name, '-')}" for name, count in unknown.items()
        )
        raise UsageError(
            f"records without a known licence can't be released: {named}. State the licence in the source's "
            f"SOURCE, leave the source out, or add a licence you have read to releases/{LISTED.name}"
        )
