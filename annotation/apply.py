"""The stage `7_reviewed`: verdicts and people's decisions applied to the items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotation.corrections import AnyItem, correct
from annotation.resolution import binding, fix_key
from mihakk.errors import RecordRejected, UsageError
from mihakk.ids import content_hash
from schemas.audit import Verdict
from schemas.rejection import Rejection
from schemas.review import Resolution, Review


@dataclass
class Reviewed:
    """What review leaves of a set of items; every item is in `kept` or in `removed`."""

    kept: list[AnyItem] = field(default_factory=list)
    """In the order they came, corrected ones with their new content."""
    removed: list[Rejection] = field(default_factory=list)
    """With the reason and the evidence; `body` holds the item."""
    recheck: tuple[str, ...] = ()
    """Ids of corrected items: checks and audit must see them again, and `apply` with their new verdicts."""
    waiting: tuple[str, ...] = ()
    """Ids of flagged items nobody has settled; they are in `removed` as `unresolved`."""


def apply(
    items: Sequence[AnyItem],
    verdicts: Iterable[Verdict],
    resolutions: Iterable[Resolution],
    reviews: Iterable[Review],
    unresolved: Literal["leave_out", "wait"] = "leave_out",
) -> Reviewed:
    """Keeps, corrects or removes every item.

    A blocked item is removed whatever people say. A discard removes and a fix corrects any other item,
    flagged or not (people see unflagged ones too); a flagged item nobody settled is removed as `unresolved`.

    Args:
        items: Items of the stage before.
        verdicts: One per item; an item without one counts as flagged.
        resolutions: From `resolve` over the same reviews and these items' content hashes.
        reviews: The store, for the corrections and the evidence.
        unresolved: `wait` makes any flagged item without a settlement an error.

    Raises:
        UsageError: `unresolved` is `wait` and some item waits; says how many and what to do.
    """
    by_item = {verdict.item: verdict for verdict in verdicts}
    settled = {resolution.item: resolution for resolution in resolutions}
    votes: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        votes[review.item].append(review)
    reviewed, recheck, waiting = Reviewed(), [], []
    for item in items:
        try:
            kept = _apply(item, by_item.get(item.id), settled.get(item.id), votes[item.id])
        except RecordRejected as rejected:
            reviewed.removed.append(_removal(item, rejected))
            if rejected.reason == "unresolved":
                waiting.append(item.id)
            continue
        reviewed.kept.append(kept)
        if kept is not item:
            recheck.append(item.id)
    reviewed.recheck, reviewed.waiting = tuple(recheck), tuple(waiting)
    if waiting and unresolved == "wait":
        raise UsageError(
            f"{len(waiting)} flagged items wait for people, the first is {waiting[0]}; review them and run "
            "`mihakk review pull`, or set review.unresolved to leave_out"
        )
    return reviewed


def _apply(
    item: AnyItem, verdict: Verdict | None, settled: Resolution | None, votes: list[Review]
) -> AnyItem:
    status = verdict.status if verdict else "flag"
    why = ", ".join(verdict.reasons) if verdict else "no verdict"
    if status == "block":
        raise RecordRejected("blocked", why)
    outcome = settled.outcome if settled else "none"
    now = binding(votes, content_hash(item))
    if settled is None or outcome in ("none", "unresolved"):
        if status == "flag":
            said = f"; people: {settled.reason}" if settled else ""
            raise RecordRejected("unresolved", f"flagged by {why}{said}")
        return item
    if outcome == "discard":
        notes = " · ".join(vote.notes for vote in now if vote.decision == "discard" and vote.notes)
        evidence = f"{settled.by} of {settled.votes}; flagged by {why}" + (
            f"; notes: {notes}" if notes else ""
        )
        raise RecordRejected(f"discarded_{settled.reason or 'other'}", evidence)
    if outcome == "fix":
        corrections = next((v.corrections for v in now if fix_key(v.corrections) == settled.reason), None)
        if corrections is None:
            raise RecordRejected("unresolved", "the decision that fixes it is not among the decisions given")
        return correct(item, corrections) if corrections else item
    return item


def _removal(item: AnyItem, rejected: RecordRejected) -> Rejection:
    return Rejection(
        record=item.id,
        source=item.origin.generator,
        reason=rejected.reason,
        detail=rejected.detail,
        body=item.model_dump_json(),
    )
