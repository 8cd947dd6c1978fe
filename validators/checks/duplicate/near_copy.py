"""DU04: items differ by more than a word."""

from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import excerpt


@check("DU04", severity="flag", on=Item, title="no other item is nearly the same")
def near_copy(item: Item, index: SetIndex) -> Objections:
    """No other item of the task shares nearly all pairs of neighbouring words, options included.

    Of an outside benchmark it asks the same, with words added or in another order or form, and calls the same
    answer right. Those with another answer are `DU03`'s and `DU06`'s.
    """
    found = near_of(item.id, index)
    if found:
        named = ", ".join(f"{name} ({overlap:.0%})" for name, overlap in found)
        yield Objection(f"nearly the same words as {named}: {excerpt(item.question)}")


def near_of(name: str, index: SetIndex) -> list[tuple[str, float]]:
    """The near copies of an item that call the same answer right, with their overlap."""
    others = {*index.rivals.get(name, ()), *index.disputed.get(name, ())}
    return [pair for pair in index.near.get(name, ()) if pair[0] not in others]
