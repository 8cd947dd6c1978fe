"""Corrected items, before checks and audit see them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mihakk.annotation.decisions.pairs import carried, copies
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.screens.corrections import correct
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.item import Item
from mihakk.schemas.review import Review


def fixed(
    items: Sequence[Item], reviews: Iterable[Review], overlap: int, adjudicators: Collection[str] = ()
) -> tuple[list[Item], dict[str, str]]:
    """The items with people's settled corrections applied, in the order given.

    A corrected item has other content: decisions on the old content no longer bind it, so it passes the
    checks and the audit like any other, and comes back to people where they object. Where they have settled
    on a further correction of the corrected content, that is applied too, and so on. What corrects an item
    corrects its copies and the other order of its question, unless people discard these or corrected them
    themselves: of copies people see one, and the others would be released as it was.

    Returns:
        The items, and for each corrected one its id with the key of the last correction.
    """
    votes = grouped(reviews, lambda review: review.item)
    settled: dict[str, str] = {}
    done = {item.id: _fixed(item, votes[item.id], overlap, adjudicators, settled) for item in items}
    for item, other in copies(items, set(settled)):
        if other.id in settled:
            continue
        own = votes[other.id]
        told = resolve(own, {other.id: content_hash(other)}, overlap, adjudicators=adjudicators)
        turned = carried(item, done[item.id], other)
        if turned is not None and not any(one.outcome == "discard" for one in told):
            settled[other.id] = settled[item.id]
            done[other.id] = _fixed(turned, own, overlap, adjudicators, settled)
    return [done[item.id] for item in items], settled


def _fixed(
    item: Item,
    votes: list[Review],
    overlap: int,
    adjudicators: Collection[str],
    settled: dict[str, str],
) -> Item:
    seen: set[str] = set()
    while votes and (content := content_hash(item)) not in seen:
        seen.add(content)  # people may go back and forth; the first content seen twice stands
        (told,) = resolve(votes, {item.id: content}, overlap, adjudicators=adjudicators)
        if told.outcome != "fix":
            break
        corrected = correct(item, told.corrections)
        if content_hash(corrected) == content:
            break  # they changed nothing that shows
        settled[item.id], item = told.reason, corrected
    return item
