"""What people's decisions say about the auditors, about what was missed, and about the people themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import exp, lgamma, log, log1p
from statistics import median

from annotation.resolution import resolve
from annotation.sampling import Queued
from schemas.audit import CRITERIA, Criterion
from schemas.record import Record
from schemas.review import Review


class Overturn(Record):
    """How often people found a criterion met that an auditor had scored 0, and the other way round."""

    auditor: str
    criterion: str
    zeros: int
    """Scores of 0 that at least one person judged."""
    overturned: int
    """Of those, how many more than half of the people found met."""
    rate: float | None
    low: float | None
    """Wilson interval, 95 %."""
    high: float | None
    missed: int
    """Scores of 1 that more than half of the people found unmet."""


class MissRate(Record):
    """Defects among items that neither rules nor auditors objected to."""

    stratum: str
    """`all` or `<language>/<task>`."""
    decided: int
    """Sampled unflagged items that people have settled."""
    missed: int
    """Of those, fixed or discarded."""
    rate: float | None
    upper: float
    """Clopper-Pearson upper bound, 95 % one-sided: 0 of 300 gives 0.99 %."""


class Annotator(Record):
    """One person's work: speed, habits and their change over time."""

    annotator: str
    decisions: int
    seconds: float | None
    """Median time per task."""
    quick: int
    """Decisions in less than a third of everybody's median time."""
    keep_rate: float
    attention: int
    """Attention checks answered."""
    attention_passed: int
    """Of those, not kept as they are."""
    speed_drift: float | None
    """Median time of the last third of their decisions over that of the first; below 1: getting faster."""
    keep_drift: float | None
    """Share kept in the last third less the share in the first."""
    alarms: tuple[str, ...] = ()
    """`attention`, `quick`, `keeps_all`, `keeps_none`, `faster`, `drifting`."""


Scores = Mapping[tuple[str, str], Mapping[str, Mapping[Criterion, int]]]
"""Item and content hash to what each auditor scored that content."""


def overturns(reviews: Iterable[Review], scores: Scores) -> list[Overturn]:
    """Human overturn rate of each auditor per criterion, over decisions on the very content it audited.

    Args:
        reviews: Decisions; of one person on one content the last counts.
        scores: What the auditors said.
    """
    judged: dict[tuple[str, str], dict[str, Review]] = defaultdict(dict)
    for review in reviews:
        judged[review.item, review.content_hash][review.annotator] = review
    counts: dict[tuple[str, Criterion], list[int]] = defaultdict(lambda: [0, 0, 0])
    for content, votes in judged.items():
        for auditor, said in scores.get(content, {}).items():
            for name, score in said.items():
                unmet = sum(name in vote.failed for vote in votes.values())
                tally = counts[auditor, name]
                if score == 0:
                    tally[0] += 1
                    tally[1] += 2 * (len(votes) - unmet) > len(votes)
                else:
                    tally[2] += 2 * unmet > len(votes)
    rows = []
    for auditor, criterion in sorted(counts, key=lambda key: (key[0], CRITERIA.index(key[1]))):
        zeros, overturned, missed = counts[auditor, criterion]
        low, high = wilson(overturned, zeros)
        rows.append(
            Overturn(
                auditor=auditor,
                criterion=criterion,
                zeros=zeros,
                overturned=overturned,
                rate=overturned / zeros if zeros else None,
                low=low,
                high=high,
                missed=missed,
            )
        )
    return rows


def miss_rates(
    queued: Iterable[Queued], reviews: Sequence[Review], overlap: int, adjudicators: Collection[str] = ()
) -> list[MissRate]:
    """Miss rate over the random sample of unflagged items, overall and per stratum.

    Args:
        queued: What was put before people and why; the content they saw is what counts, not what it became.
        reviews: Decisions in the order of the store; unsettled items don't count.
        overlap: Votes an item needs.
        adjudicators: Pseudonyms whose decision settles an item.
    """
    sample = {row.item: row for row in queued if row.why == "sample"}
    hashes = {item: row.content_hash for item, row in sample.items()}
    strata: dict[str, list[bool]] = defaultdict(list)
    for told in resolve(reviews, hashes, overlap, adjudicators=adjudicators):
        if told.outcome in ("keep", "fix", "discard"):
            is_missed = told.outcome != "keep"
            strata[sample[told.item].stratum].append(is_missed)
            strata["all"].append(is_missed)
    return [
        MissRate(
            stratum=name,
            decided=len(found),
            missed=sum(found),
            rate=sum(found) / len(found),
            upper=upper_bound(sum(found), len(found)),
        )
        for name, found in sorted(strata.items(), key=lambda pair: (pair[0] != "all", pair[0]))
    ]


def annotators(reviews: Sequence[Review], queued: Iterable[Queued]) -> list[Annotator]:
    """Speed, habits and drift of each person, with alarms worth a talk rather than a verdict.

    Args:
        reviews: All decisions, attention checks among them.
        queued: What was put before people and why.
    """
    checks = {row.item for row in queued if row.why == "attention"}
    by_person: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        by_person[review.annotator].append(review)
    times = [review.seconds for review in reviews if review.seconds is not None]
    usual = median(times) if times else None
    return [_annotator(name, by_person[name], checks, usual) for name in sorted(by_person)]


def _annotator(name: str, all_reviews: list[Review], checks: set[str], usual: float | None) -> Annotator:
    own = sorted(all_reviews, key=lambda review: (review.decided_at, review.item))
    attention = [review for review in own if review.item in checks]
    work = [review for review in own if review.item not in checks]
    passed = sum(review.decision != "keep" for review in attention)
    third = len(work) // 3
    first, last = work[:third], work[len(work) - third :]
    kept = _kept(work)
    quick = sum(1 for review in work if review.seconds is not None and usual and review.seconds < usual / 3)
    early, late = _seconds(first), _seconds(last)
    speed = late / early if early and late else None
    drift = _kept(last) - _kept(first) if third else None
    alarms = {
        "attention": passed < len(attention),
        "quick": len(work) >= 10 and quick > len(work) / 4,
        "keeps_all": len(work) >= 30 and kept == 1,
        "keeps_none": len(work) >= 30 and kept == 0,
        "faster": third >= 10 and speed is not None and speed < 0.4,
        "drifting": third >= 10 and drift is not None and abs(drift) > 0.4,
    }
    return Annotator(
        annotator=name,
        decisions=len(work),
        seconds=_seconds(work),
        quick=quick,
        keep_rate=kept,
        attention=len(attention),
        attention_passed=passed,
        speed_drift=speed,
        keep_drift=drift,
        alarms=tuple(alarm for alarm, rings in alarms.items() if rings),
    )


def upper_bound(found: int, tried: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson one-sided upper bound of a proportion; 1 when nothing was tried."""
    if found >= tried:
        return 1.0
    low, high = found / tried, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(found, tried, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(found: int, tried: int, share: float) -> float:
    """Probability of `found` or fewer of `tried`."""
    if share >= 1:
        return 0.0
    ways = (lgamma(tried + 1) - lgamma(k + 1) - lgamma(tried - k + 1) for k in range(found + 1))
    return sum(exp(way + k * log(share) + (tried - k) * log1p(-share)) for k, way in enumerate(ways))


def wilson(found: int, tried: int) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of a proportion."""
    if tried == 0:
        return None, None
    z = 1.959963984540054
    share = found / tried
    middle = share + z * z / (2 * tried)
    reach = z * ((share * (1 - share) + z * z / (4 * tried)) / tried) ** 0.5
    return (middle - reach) / (1 + z * z / tried), (middle + reach) / (1 + z * z / tried)


def _kept(reviews: Sequence[Review]) -> float:
    return sum(review.decision == "keep" for review in reviews) / len(reviews) if reviews else 0.0


def _seconds(reviews: Sequence[Review]) -> float | None:
    times = [review.seconds for review in reviews if review.seconds is not None]
    return median(times) if times else None
