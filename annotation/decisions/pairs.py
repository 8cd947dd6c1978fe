"""The two orders of a question, and copies of an item: what people decide about one holds for the others."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from mihakk.machinery.ids import SCORED_FIELDS
from mihakk.schemas.item import ChoiceItem, Item


def pairs(items: Iterable[Item]) -> Iterator[tuple[ChoiceItem, ChoiceItem]]:
    """Both orders of every question that has both among these items."""
    first: dict[str, ChoiceItem] = {}
    for item in items:
        if isinstance(item, ChoiceItem) and item.pair_id:
            known = first.setdefault(item.pair_id, item)
            if known is not item:
                yield known, item


def copies(items: Sequence[Item], names: Collection[str]) -> Iterator[tuple[Item, Item]]:
    """Each of these items with every other that asks the same, its options in whatever order."""
    asked = {_asked(item): item for item in items if item.id in names}
    for item in items if asked else ():
        known = asked.get(_asked(item))
        if known is not None and known is not item:
            yield known, item


def carried(before: Item, after: Item, other: Item) -> Item | None:
    """A copy of `before` with what changed from it to `after`; None where no option tells its place."""
    if not (
        isinstance(before, ChoiceItem) and isinstance(after, ChoiceItem) and isinstance(other, ChoiceItem)
    ) or (before.options == other.options):
        told = {name: getattr(after, name) for name in SCORED_FIELDS if hasattr(after, name)}
        return other.model_copy(update=told)
    if len(set(other.options)) < len(other.options):
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


def _asked(item: Item) -> Hashable:
    """All that counts in an item but the order of its options."""
    told = tuple(getattr(item, name, None) for name in SCORED_FIELDS if name not in ("options", "gold"))
    if not isinstance(item, ChoiceItem):
        return told
    right = sorted(item.options[index] for index in item.gold if index < len(item.options))
    return *told, tuple(sorted(item.options)), tuple(right)
