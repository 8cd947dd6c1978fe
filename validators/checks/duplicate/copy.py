"""DU01: an item stands in the set once."""

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import split_of
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import excerpt


@check("DU01", severity="flag", on=Item, title="no other item is the same")
def copy(item: Item, index: SetIndex) -> Objections:
    """No other item of the task has its prompt, options and gold but the other order of its pair."""
    others = index.copies.get(item.id, ())
    beside = [other for other in others if not _apart(split_of(item), index.prints[other].split)]
    if beside:
        yield Objection(f"the same item as {', '.join(beside)}: {excerpt(item.question)}")


def _apart(split: str, other: str) -> bool:
    return bool(split and other and split != other)
