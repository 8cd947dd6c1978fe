"""What the decisions of several people on one item come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from mihakk.groups import grouped
from mihakk.ids import digest
from schemas.review import Resolution, Review

V = TypeVar("V")


def resolve(
    reviews: Iterable[Review],
    content_hashes: Mapping[str, str],
    overlap: int = 2,
    *,
    adjudicators: Collection[str] = (),
) -> list[Resolution]:
    """One resolution for every item that anybody decided on, by item id.

    A decision binds only while the item's content is what the person saw; the latest decision of a person
    stands, latest meaning last in the store, since clocks differ. Then, in this order:
    an adjudicator's decision; fewer than `overlap` votes: unresolved; all the same: agreement (`single` where
    one vote is enough); more than half of three or more: majority; else unresolved. Two fixes are the same
    only if they leave the same content; discards are the same whatever their reason.

    Args:
        content_hashes: Item id to the hash of its content now; items not named here are left out.
        overlap: Votes an item needs, or fewer where fewer people are assigned to it.
    """
    votes = grouped((one for one in reviews if one.item in content_hashes), lambda one: one.item)
    return [
        _resolve(item, votes[item], content_hashes[item], overlap, adjudicators) for item in sorted(votes)
    ]


def binding(reviews: Iterable[Review], content_hash: str) -> list[Review]:
    """Of one item's decisions those that still bind: on this very content, the last of each person."""
    latest: dict[str, Review] = {}
    for review in reviews:
        if review.content_hash == content_hash:
            latest.pop(review.annotator, None)
            latest[review.annotator] = review
    return list(latest.values())


def votes_needed(votes: Sequence[Review], overlap: int) -> int:
    """Votes that an item needs: `overlap`, or fewer where fewer people are assigned to it."""
    return min(overlap, votes[-1].assigned or overlap) if votes else overlap


def fix_key(corrections: Mapping[str, str]) -> str:
    """Short digest of a set of corrections; `Resolution.reason` of a fix names the one that won by it."""
    return digest(dict(corrections))[:16]


def _resolve(
    item: str, reviews: list[Review], content_hash: str, overlap: int, adjudicators: Collection[str]
) -> Resolution:
    votes = binding(reviews, content_hash)
    if not votes:
        return Resolution(item=item, outcome="none", reason=f"content changed after {len(reviews)} decisions")
    ruling = [vote for vote in votes if vote.annotator in adjudicators]
    if ruling:
        return Resolution(
            item=item,
            outcome=ruling[-1].decision,
            by="adjudicator",
            reason=_reason([ruling[-1]]),
            votes=len(votes),
        )
    if len(votes) < (needed := votes_needed(votes, overlap)):
        reason = f"{len(votes)} of {needed} decisions"
        return Resolution(item=item, outcome="unresolved", reason=reason, votes=len(votes))
    won = winning(votes, lambda vote: (vote.decision, vote.decision == "fix" and fix_key(vote.corrections)))
    if won is None:
        tally = Counter(vote.decision for vote in votes)
        reason = "split: " + ", ".join(f"{tally[name]} {name}" for name in sorted(tally))
        return Resolution(item=item, outcome="unresolved", reason=reason, votes=len(votes))
    camp, by = won
    return Resolution(item=item, outcome=camp[0].decision, by=by, reason=_reason(camp), votes=len(votes))


def winning(
    votes: Collection[V], says: Callable[[V], Hashable]
) -> tuple[list[V], Literal["single", "agreement", "majority"]] | None:
    """Those who say the same, if they are all who voted or more than half of three or more."""
    camp = max(grouped(votes, says).values(), key=len)
    if len(camp) == len(votes):
        return camp, "agreement" if len(votes) > 1 else "single"
    return (camp, "majority") if len(votes) >= 3 and 2 * len(camp) > len(votes) else None


def _reason(camp: list[Review]) -> str:
    if camp[0].decision == "fix":
        return fix_key(camp[0].corrections)
    reasons = Counter(vote.reason for vote in camp if vote.reason)
    return min(reasons, key=lambda name: (-reasons[name], name)) if reasons else ""
