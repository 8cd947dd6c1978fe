"""Votes as a release publishes them: enough to recompute every figure, without names and times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from mihakk.annotation.decisions.first_votes import Asked, is_edited
from mihakk.annotation.statistics.agreement import independent
from mihakk.annotation.statistics.auditor_errors import Scores
from mihakk.annotation.statistics.miss_rate import sampled
from mihakk.annotation.statistics.sampling import Queued
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import CRITERIA, Audit, Criterion
from mihakk.schemas.item import Item
from mihakk.schemas.review import Review, ReviewedContent, Vote

Content = tuple[str, str]
"""Item and content hash."""


def scored_contents(audits: Iterable[Audit], queued: Iterable[Queued], items: Iterable[Item]) -> Scores:
    """What each auditor said of each content: of what was pushed then, and of the items as they stand."""
    now = {item.id: content_hash(item) for item in items}
    scores: dict[Content, dict[str, dict[Criterion, int]]] = defaultdict(dict)
    for audit in audits:
        if audit.scores and audit.item in now:
            scores[audit.item, now[audit.item]][audit.auditor] = audit.scores
    return scores | {(row.item, row.content_hash): row.scores for row in queued if row.scores}


def judged(reviews: Sequence[Review], queued: Iterable[Queued]) -> list[Review]:
    """The decisions without those on attention checks, which are no items of the benchmark."""
    checks = {row.item for row in queued if row.why == "attention"}
    return [review for review in reviews if review.item not in checks]


def vote_rows(
    reviews: Sequence[Review],
    queued: Sequence[Queued],
    scores: Scores,
    *,
    sizes: Mapping[str, int],
    overlap: int,
    adjudicators: Collection[str] = (),
    now: Collection[str] | None = None,
    withdrawn: Collection[Asked] = (),
) -> tuple[tuple[ReviewedContent, ...], tuple[Vote, ...]]:
    """Every content that has votes or is in the sample, and every vote on it, sorted by item and content.

    Args:
        now: Ids of the items there are; what left before anybody judged it is in the sample no longer.
    """
    real = judged(reviews, queued)
    by_content = grouped(real, lambda review: (review.item, review.content_hash))
    firsts = independent(real, overlap, adjudicators, withdrawn)
    first = {id(one) for one in firsts if not is_edited(one)}
    lot = ((row.item, row.content_hash) for row in sampled(queued))
    drawn = {one for one in lot if one in by_content or now is None or one[0] in now}
    strata = {(row.item, row.content_hash): row.stratum for row in queued}
    contents = tuple(
        ReviewedContent(
            item=content[0],
            content_hash=content[1],
            language=strata.get(content, "").partition("/")[0],
            stratum=strata.get(content, ""),
            stratum_items=sizes.get(strata.get(content, ""), 0),
            unflagged_items=sum(sizes.values()),
            sampled=content in drawn,
            votes_needed=overlap,
            scores={name: dict(said) for name, said in sorted(scores.get(content, {}).items())},
        )
        for content in sorted(by_content.keys() | drawn)
    )
    return contents, tuple(
        row for _, votes in sorted(by_content.items()) for row in _votes(votes, first, adjudicators)
    )


def _votes(votes: Sequence[Review], first: Collection[int], adjudicators: Collection[str]) -> Iterable[Vote]:
    voters = {name: place for place, name in enumerate(dict.fromkeys(one.annotator for one in votes), 1)}
    last = {one.annotator: id(one) for one in votes}
    for number, one in enumerate(votes, start=1):
        told = one.judged
        yield Vote(
            item=one.item,
            content_hash=one.content_hash,
            vote=number,
            voter=voters[one.annotator],
            decision=one.decision,
            reason=one.reason,
            met=tuple(name for name in CRITERIA if told.get(name) is True),
            unmet=tuple(name for name in CRITERIA if told.get(name) is False),
            first=id(one) in first,
            last=id(one) == last[one.annotator],
            adjudicator=one.annotator in adjudicators,
        )
