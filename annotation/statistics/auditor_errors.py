"""What people's decisions say about the auditors and about the people themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from mihakk.annotation.decisions.resolution import votes_needed
from mihakk.annotation.statistics.sampling import SOUND, Queued
from mihakk.annotation.statistics.skill import Skill, skills
from mihakk.annotation.teaching.planted import GROSS
from mihakk.machinery.groups import grouped
from mihakk.machinery.stats import clopper_pearson
from mihakk.schemas.audit import CRITERIA, Criterion
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

LEAST_ATTENTION = 0.9
"""Who surely answers fewer attention checks rightly is told of; subtle ones escape the careful too."""


class Overturn(Record):
    """How often people found a criterion met that an auditor had scored 0, and the other way round."""

    auditor: str
    criterion: str
    zeros: int
    """Scores of 0 on a criterion that at least one person judged."""
    overturned: int
    """Of those, how many more than half of the people who judged it found met."""
    rate: float | None
    low: float | None
    """Clopper and Pearson's interval, 95 %: where votes are missing, a score of 0 is right in the lower end
    and overturned in the upper."""
    high: float | None
    missed: int
    """Scores of 1 that more than half of the people who judged the criterion found unmet."""
    not_judged: int = 0
    """Scores of 0 on a criterion that nobody judged: on items that nobody decided, or without judging it."""


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
    """Of those answered rightly: defects not kept, sound items kept."""
    speed_drift: float | None
    """Median time of the last third of their decisions over that of the first; below 1: getting faster."""
    keep_drift: float | None
    """Share kept in the last third less the share in the first."""
    finds: float | None = None
    """Estimated share of the defective items that they would fix or discard; see `skill.skills`."""
    spares: float | None = None
    """Estimated share of the sound items that they keep."""
    finds_drift: float | None = None
    """`finds` in the last third of their votes less that in the first."""
    planted: int = 0
    """Of the attention checks answered those with a planted defect; the others are sound and look odd."""
    planted_found: int = 0
    """Of those, not kept as they are."""
    attention_low: float | None = None
    """Ends of Clopper and Pearson's 95 % interval of the share of attention checks answered rightly."""
    attention_high: float | None = None
    alarms: tuple[str, ...] = ()
    """`attention` (garbage kept, or checks answered rightly surely below nine in ten),
    `quick`, `keeps_all`, `keeps_none`, `faster`, `drifting`, `finds_less`."""


Scores = Mapping[tuple[str, str], Mapping[str, Mapping[Criterion, int]]]
"""Item and content hash to what each auditor scored that content."""


def overturns(reviews: Iterable[Review], scores: Scores, overlap: int = 2) -> list[Overturn]:
    """Human overturn rate of each auditor per criterion, over decisions on the very content it audited.

    Of one person on one content the last decision counts. The intervals hold whatever votes are missing: on
    items nobody decided, or fewer than `overlap` people, and on criteria that nobody judged.
    """
    judged: dict[tuple[str, str], dict[str, Review]] = defaultdict(dict)
    for review in reviews:
        judged[review.item, review.content_hash][review.annotator] = review
    counts: dict[tuple[str, Criterion], Counter[str]] = defaultdict(Counter)
    for content, auditors in scores.items():
        votes = list(judged[content].values())
        judgements = [vote.judged for vote in votes]
        missing = max(0, votes_needed(votes, overlap) - len(votes))
        for auditor, said in auditors.items():
            for name, score in said.items():
                found = [told[name] for told in judgements if name in told]
                met = sum(found)
                tally = counts[auditor, name]
                if score == 0:
                    tally["zeros" if found else "not_judged"] += 1
                    tally["overturned"] += 2 * met > len(found)
                    tally["surely"] += 2 * met > len(found) + missing
                    tally["maybe"] += not found or 2 * (met + missing) > len(found) + missing
                else:
                    tally["missed"] += 2 * met < len(found)
    rows = []
    for auditor, criterion in sorted(counts, key=lambda key: (key[0], CRITERIA.index(key[1]))):
        tally = counts[auditor, criterion]
        zeros, overturned = tally["zeros"], tally["overturned"]
        whole = zeros + tally["not_judged"]
        rows.append(
            Overturn(
                auditor=auditor,
                criterion=criterion,
                zeros=zeros,
                overturned=overturned,
                rate=overturned / zeros if zeros else None,
                low=clopper_pearson(tally["surely"], whole).low if zeros else None,
                high=clopper_pearson(tally["maybe"], whole).high if zeros else None,
                missed=tally["missed"],
                not_judged=tally["not_judged"],
            )
        )
    return rows


def annotators(reviews: Sequence[Review], queued: Iterable[Queued]) -> list[Annotator]:
    """Speed, habits and drift of each person; alarms call for a talk, they are no verdict."""
    checks: dict[str, dict[str, str]] = defaultdict(dict)
    for row in queued:
        if row.why == "attention":
            checks[row.item][row.content_hash] = row.known
    by_person = grouped(reviews, lambda review: review.annotator)
    times = [review.seconds for review in reviews if review.seconds is not None]
    usual = median(times) if times else None
    sound = {item for item, known in checks.items() if SOUND in known.values()}
    skill = skills(reviews, checks.keys() - sound, sound)
    return [_annotator(name, by_person[name], checks, usual, skill.get(name)) for name in sorted(by_person)]


def _annotator(
    name: str,
    all_reviews: list[Review],
    checks: Mapping[str, Mapping[str, str]],
    usual: float | None,
    skill: Skill | None,
) -> Annotator:
    own = sorted(all_reviews, key=lambda review: (review.decided_at, review.item))
    attention = [review for review in own if review.item in checks]
    work = [review for review in own if review.item not in checks]
    known = [checks[review.item].get(review.content_hash, "") for review in attention]
    right = [
        (review.decision == "keep") is (told == SOUND) for review, told in zip(attention, known, strict=True)
    ]
    gross = [ok for ok, told in zip(right, known, strict=True) if told in ("", GROSS)]
    ends = clopper_pearson(sum(right), len(right)) if right else None
    third = len(work) // 3
    first, last = work[:third], work[len(work) - third :]
    kept = _kept(work)
    quick = sum(1 for review in work if review.seconds is not None and usual and review.seconds < usual / 3)
    early, late = _seconds(first), _seconds(last)
    speed = late / early if early and late else None
    drift = _kept(last) - _kept(first) if third else None
    alarms = {
        "attention": not all(gross) or (ends is not None and ends.high < LEAST_ATTENTION),
        "quick": len(work) >= 10 and quick > len(work) / 4,
        "keeps_all": len(work) >= 30 and kept == 1,
        "keeps_none": len(work) >= 30 and kept == 0,
        "faster": third >= 10 and speed is not None and speed < 0.4,
        "drifting": third >= 10 and drift is not None and abs(drift) > 0.4,
        "finds_less": skill is not None and skill.finds_drift is not None and skill.finds_drift < -0.25,
    }
    return Annotator(
        annotator=name,
        decisions=len(work),
        seconds=_seconds(work),
        quick=quick,
        keep_rate=kept,
        attention=len(attention),
        attention_passed=sum(right),
        planted=sum(told != SOUND for told in known),
        planted_found=sum(ok for ok, told in zip(right, known, strict=True) if told != SOUND),
        attention_low=ends.low if ends else None,
        attention_high=ends.high if ends else None,
        speed_drift=speed,
        keep_drift=drift,
        finds=skill.finds if skill else None,
        spares=skill.spares if skill else None,
        finds_drift=skill.finds_drift if skill else None,
        alarms=tuple(alarm for alarm, rings in alarms.items() if rings),
    )


def _kept(reviews: Sequence[Review]) -> float:
    return sum(review.decision == "keep" for review in reviews) / len(reviews) if reviews else 0.0


def _seconds(reviews: Sequence[Review]) -> float | None:
    times = [review.seconds for review in reviews if review.seconds is not None]
    return median(times) if times else None
