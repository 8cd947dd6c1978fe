"""MD02: a poet lived in one era."""

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex


@check("MD02", severity="flag", on=Item, title="a poet has the same era throughout the set")
def poet_era(item: Item, index: SetIndex) -> Objections:
    """All items of the set that name this poet and an era name the same era."""
    poet = item.metadata.get("poet", "")
    eras = index.eras.get((item.language, poet), ())
    if eras and item.metadata.get("era"):
        yield Objection(f"{poet} is placed in {', '.join(eras)}", "metadata.era")
