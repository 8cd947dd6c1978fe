"""The two orders of a question: what people decide about one holds for the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mihakk.schemas.item import ChoiceItem, Item


def pairs(items: Iterable[Item]) -> Iterator[tuple[ChoiceItem, ChoiceItem]]:
    """Both orders of every question that has both among these items."""
    first: dict[str, ChoiceItem] = {}
    for item in items:
        if isinstance(item, ChoiceItem) and item.pair_id:
            known = first.setdefault(item.pair_id, item)
            if known is not item:
                yield known, item


def carried(before: ChoiceItem, after: ChoiceItem, other: ChoiceItem) -> ChoiceItem | None:
    """`other` with what changed from `before` to `after`; None where the two orders differed in more."""
    if (before.question, before.context) != (other.question, other.context):
        return None
    if sorted(before.options) != sorted(other.options) or len(set(other.options)) < len(other.options):
        return None
    place = {text: index for index, text in enumerate(other.options)}
    moved = dict(zip(before.options, after.options, strict=True))
    return other.model_copy(
        update={
            "question": after.question,
            "context": after.context,
            "options": tuple(moved[text] for text in other.options),
            "gold": tuple(sorted(place[before.options[index]] for index in after.gold)),
        }
    )
