"""The stage `7_reviewed`: verdicts and people's decisions applied to the items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mihakk.annotation.decisions.pairs import pairs
from mihakk.annotation.decisions.resolution import binding, waits
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import Item
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution, Review

WAITING = ("unresolved", "defective")
"""Reasons of the items left out that people can still settle or repair."""


@dataclass
class Reviewed:
    """What review leaves of a set of items; every item is in `kept` or in `removed`."""

    kept: list[Item] = field(default_factory=list)
    """In the order they came."""
    removed: list[Rejection] = field(default_factory=list)
    """With the reason and the evidence; `body` holds the item."""
    waiting: tuple[str, ...] = ()
    """Ids of items that wait for people (`resolution.waits`); they are in `removed` as `unresolved`."""


def apply(
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    resolutions: Iterable[Resolution],
    reviews: Iterable[Review],
    unresolved: Literal["leave_out", "wait"] = "leave_out",
    *,
    doubted: Collection[tuple[str, str]] = (),
    rescue: bool = False,
) -> Reviewed:
    """Keeps or removes every item.

    A blocked item is removed, unless people settled to keep it and may (`rescue`). A discard, and agreement
    that an item is defective without a repair, remove any other item, flagged or not (people see unflagged
    ones too); so is as `unresolved` an item that nobody settled and that is flagged, that somebody objects
    to, or that is in doubt. Where one order of a question is removed, the other goes with it as
    `other_order`. Corrections are not applied here: the checks have applied every settled one, and one still
    open counts as none.

    Args:
        verdicts: One per item; an item without one counts as flagged.
        resolutions: From `resolve` over the same reviews and these items' content hashes.
        unresolved: `wait` makes any item that waits for people an error.
        doubted: Items with their content hashes, see `store.doubted`.
        rescue: People may keep what a check blocks, as rows of somebody's benchmark; no build releases that.

    Raises:
        UsageError: `unresolved` is `wait` and some item waits; says how many and what to do.
    """
    by_item = {verdict.item: verdict for verdict in verdicts}
    settled = {resolution.item: resolution for resolution in resolutions}
    votes, in_doubt = grouped(reviews, lambda review: review.item), {item for item, _ in doubted}
    reviewed, waiting = Reviewed(), []
    for item in items:
        try:
            told = settled.get(item.id)
            doubt = item.id in in_doubt and (item.id, content_hash(item)) in doubted
            _require(item, by_item.get(item.id), told, votes[item.id], doubt=doubt, rescue=rescue)
        except RecordRejected as rejected:
            reviewed.removed.append(_removal(item, rejected))
            if rejected.reason == "unresolved":
                waiting.append(item.id)
            continue
        reviewed.kept.append(item)
    _drop_single_orders(reviewed, items)
    reviewed.waiting = tuple(waiting)
    if waiting and unresolved == "wait":
        raise UsageError(
            f"{len(waiting)} items wait for people, the first is {waiting[0]}; review them and run "
            "`mihakk review pull`, or set review.unresolved to leave_out"
        )
    return reviewed


def _drop_single_orders(reviewed: Reviewed, items: Sequence[Item]) -> None:
    """Removes every kept item whose other order was removed: a pair measures only as a pair."""
    reasons = {gone.record: gone.reason for gone in reviewed.removed}
    alone: dict[str, str] = {}
    for one, two in pairs(items):
        for kept, gone in ((one, two), (two, one)):
            if gone.id in reasons and kept.id not in reasons:
                alone[kept.id] = f"its other order {gone.id} was left out: {reasons[gone.id]}"
    left = [item for item in reviewed.kept if item.id in alone]
    reviewed.kept = [item for item in reviewed.kept if item.id not in alone]
    reviewed.removed += [_removal(item, RecordRejected("other_order", alone[item.id])) for item in left]


def _require(
    item: Item,
    verdict: Verdict | None,
    settled: Resolution | None,
    votes: list[Review],
    *,
    doubt: bool,
    rescue: bool,
) -> None:
    status = verdict.status if verdict else "flag"
    why = ", ".join(verdict.reasons) if verdict else "no verdict"
    settled = settled or Resolution(item=item.id, outcome="none")
    if status == "block" and not (rescue and settled.outcome == "keep"):
        raise RecordRejected("blocked", why)
    if settled.outcome == "defective":
        raise RecordRejected("defective", f"{settled.by} of {settled.votes}: {settled.reason}")
    content = content_hash(item) if votes else ""
    objections = sum(vote.objects for vote in binding(votes, content))
    if waits(settled, objects=status == "flag" or objections > 0 or doubt):
        objects = f"flagged by {why}" if status == "flag" else f"{objections} people object"
        if doubt and not objections:
            objects = "an objection was deleted, changed by another, unusable or not for its author to make"
        said = f"; people: {settled.reason}" if settled.reason else ""
        raise RecordRejected("unresolved", objects + said)
    if settled.outcome == "discard":
        # Codes and numbers only: what people wrote in their own words goes into no table that is published.
        evidence = f"{settled.by} of {settled.votes}; flagged by {why}"
        raise RecordRejected(f"discarded_{settled.reason or 'other'}", evidence)


def _removal(item: Item, rejected: RecordRejected) -> Rejection:
    return Rejection(
        record=item.id,
        source=item.origin.generator,
        reason=rejected.reason,
        detail=rejected.detail,
        body=item.model_dump_json(),
    )
