"""MD05: the terms of use are known."""

from collections.abc import Iterator

from schemas.item import Item
from validators.checks.check import ITEMS, Objection, check


@check("MD05", severity="report", on=ITEMS, title="the licence is known")
def licence(item: Item) -> Iterator[Objection]:
    """The item names a licence: a release refuses items on unknown terms."""
    if item.licence.strip().casefold() in ("", "unknown"):
        yield Objection("the licence is unknown", "licence")
