"""DU04: items differ by more than a word."""

from collections.abc import Iterator

from validators.checks.check import ITEMS, AnyItem, Objection, check
from validators.checks.setindex import SetIndex


@check("DU04", severity="flag", on=ITEMS, title="no other item is nearly the same")
def near_copy(item: AnyItem, index: SetIndex) -> Iterator[Objection]:
    """No other item of the task shares nearly all pairs of neighbouring words, options included.

    Those with another answer to the same question are `DU03`'s.
    """
    rivals = index.rivals.get(item.id, ())
    found = [pair for pair in index.near.get(item.id, ()) if pair[0] not in rivals]
    if found:
        named = ", ".join(f"{name} ({overlap:.0%})" for name, overlap in found)
        yield Objection(f"nearly the same words as {named}")
