"""Which items go where in a release, and the refusal of those that may not go at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from mihakk.machinery.errors import UsageError
from mihakk.releases.content.item_tables import Placed, config_name
from mihakk.releases.content.packed import PackedItems, PlacedItems
from mihakk.releases.content.split import split_items
from mihakk.releases.licence import refuse_unknown
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.audit import AuditState, Verdict, VerdictStatus
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import Item
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution

KEPT = ("keep", "fix")
"""Outcomes of review after which a flagged item may be released."""


LIKE_TEST = "like_test"
"""Why an item of dev is left out: the test split asks the same."""


def place(
    items: Iterable[Item],
    verdicts: Iterable[Verdict],
    resolutions: Sequence[Resolution],
    config: BenchmarkConfig,
    facts: ReleaseFacts,
) -> tuple[dict[str, dict[str, Sequence[Placed]]], tuple[Rejection, ...]]:
    """Config -> split -> items sorted by id, and the items that no split can hold.

    `UsageError`: no item, two of one id, a licence nobody knows, or a flagged item that nobody kept.
    """
    ordered = (items if isinstance(items, PackedItems) else PackedItems(items)).by_id()
    if not ordered:
        raise UsageError("no item is left to release: see the report for what was rejected and why")
    for first, second in pairwise(ordered.ids):
        if first == second:
            raise UsageError(f"two items have the id {first}: ids must be unique within a release")
    refuse_unknown(ordered, config.release.licence)
    judged = {one.item: (one.status, one.audit_state) for one in verdicts}
    decided = {one.item: one for one in resolutions}
    split = split_items(ordered, config.release.test_share, facts.clusters, facts.sides)
    placed: dict[str, dict[str, PlacedItems]] = {}
    for place, item in enumerate(ordered):
        where, group = split.places[item.id]
        verdict, audit_state = _judged(item.id, judged, decided)
        if item.id not in split.left_out:
            own = placed.setdefault(config_name(item), {})
            own.setdefault(where, PlacedItems(ordered)).add(place, where, group, verdict, audit_state)
    blind = config.release.blind != "off"
    left_out = tuple(
        # What a blind split asks about is not to be told.
        Rejection(record=name, reason=LIKE_TEST, detail="like an item of test" if blind else detail)
        for name, detail in sorted(split.left_out.items())
    )
    return {name: dict(sorted(splits.items())) for name, splits in sorted(placed.items())}, left_out


def _judged(
    item: str,
    judged: Mapping[str, tuple[VerdictStatus, AuditState]],
    decided: Mapping[str, Resolution],
) -> tuple[str, AuditState]:
    status, audit_state = judged.get(item, ("pass", "checks"))
    outcome = decided[item].outcome if item in decided else "none"
    if status != "pass" and outcome not in KEPT:
        raise UsageError(
            f"item {item} is not fit for release: its verdict is {status} and review says {outcome}. "
            "Decide it in the review project or leave it out"
        )
    return (outcome if outcome in KEPT else status), audit_state
