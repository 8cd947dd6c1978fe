"""Corrected items, before checks and audit see them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from annotation.corrections import AnyItem, correct
from annotation.resolution import binding, fix_key, resolve
from mihakk.ids import content_hash
from schemas.review import Review


def fixed(
    items: Sequence[AnyItem], reviews: Iterable[Review], overlap: int, adjudicators: Collection[str] = ()
) -> tuple[list[AnyItem], dict[str, str]]:
    """The items with people's settled corrections applied, in the order given.

    A corrected item has other content: decisions on the old content no longer bind it, so it passes the
    checks and the audit like any other, and comes back to people where they object. Where they have settled
    on a further correction of the corrected content, that is applied too, and so on.

    Returns:
        The items, and for each corrected one its id with the key of the last correction.
    """
    mine = {item.id for item in items}
    votes: dict[str, list[Review]] = {}
    for review in reviews:
        if review.item in mine:
            votes.setdefault(review.item, []).append(review)
    settled: dict[str, str] = {}
    done = [_fixed(item, votes.get(item.id, []), overlap, adjudicators, settled) for item in items]
    return done, settled


def _fixed(
    item: AnyItem,
    votes: list[Review],
    overlap: int,
    adjudicators: Collection[str],
    settled: dict[str, str],
) -> AnyItem:
    seen: set[str] = set()
    while votes and (content := content_hash(item)) not in seen:
        seen.add(content)  # people may go back and forth; the first content seen twice stands
        (told,) = resolve(votes, {item.id: content}, overlap, adjudicators=adjudicators)
        if told.outcome != "fix":
            break
        settled[item.id] = told.reason
        item = correct(
            item,
            next(v.corrections for v in binding(votes, content) if fix_key(v.corrections) == told.reason),
        )
    return item
