"""MD05: the terms of use are known."""

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check


@check("MD05", severity="report", on=Item, title="the licence is known")
def licence(item: Item) -> Objections:
    """The item names a licence: a release refuses items on unknown terms."""
    if item.licence.strip().casefold() in ("", "unknown"):
        yield Objection("the licence is unknown", "licence")
