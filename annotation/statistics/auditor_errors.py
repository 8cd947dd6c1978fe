"""What people's decisions say about the auditors and about the people themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from math import erfc, sqrt
from statistics import median

from mihakk.annotation.decisions.resolution import votes_needed
from mihakk.annotation.decisions.store import decision_id
from mihakk.annotation.statistics.sampling import SOUND, Queued
from mihakk.annotation.statistics.skill import Copied, Skill, skills
from mihakk.machinery.groups import grouped
from mihakk.machinery.stats import clopper_pearson
from mihakk.schemas.audit import CRITERIA, Criterion
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

LEAST_RIGHT = 0.9
"""Who surely judges a smaller share of the items rightly may be guessing: who guesses three answers in ten,
and is right in nine of ten of the others, judges 78 of 100 rightly; one who judges 88 rightly
rings in 5 of 100."""
LEAST_APART = 0.5
"""The same for Youden's index: who keeps everything is often right, and tells nothing apart."""
CHECKED = 30
"""Attention checks that each of two people answered from which on their skill is known by these, and
`LEAST_COPYING` suffices."""
LEAST_COPYING = 0.25
UNCHECKED_COPYING = 0.5
"""Probability that somebody repeats another's earlier answers above which it is told of; .1 beforehand.
With fewer checks it rises too easily: who follows another and copies nobody has one above .25 in 45 of 100
reviews, and above .5 in 17."""
RECENT = 20
"""Last decisions whose time is compared with that of all before, at least as many."""
HASTE = 0.5
"""Their median time, over the habitual one, below which haste is told of."""
UNLIKELY = 0.001
"""Largest p-value of the rank-sum test of times: it is repeated every day."""
SILENT = timedelta(days=7)
"""Silence that is told of, while others go on."""


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
    """One person's work: skill, habits and their change over time."""

    annotator: str
    decisions: int
    seconds: float | None
    """Median time per task."""
    keep_rate: float
    attention: int
    """Attention checks answered."""
    attention_passed: int
    """Of those answered rightly: defects not kept, sound items kept."""
    planted: int = 0
    """Of the attention checks answered those with a planted defect; the others are sound and look odd."""
    planted_found: int = 0
    """Of those, not kept as they are."""
    finds: float | None = None
    """Estimated share of the defective items that they would fix or discard; see `skill.skills`."""
    spares: float | None = None
    """Estimated share of the sound items that they keep."""
    right_low: float | None = None
    """Ends of the 95 % interval of the share of items that they judge rightly."""
    right_high: float | None = None
    finds_drift: float | None = None
    """`finds` in the last third of their votes less that in the first."""
    copied_from: str = ""
    """Whose earlier answers they most likely repeat; empty where nobody's were enough to tell."""
    copying: float | None = None
    """Probability that they repeat them at all, whatever they think themselves."""
    copied: float | None = None
    """Estimated share of those answers that they repeat."""
    pace: float | None = None
    """Median time of the last 20 decisions over that of all before; below 1: faster than their habit."""
    silent: int = 0
    """Days from their last decision to the last of anybody."""
    alarms: tuple[str, ...] = ()
    """`guessing`, `copying`, `finds_less`, `faster`, `silent`; what each says stands in docs/review.md."""


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
    """Skill, habits and drift of each person; alarms call for a talk, they are no verdict."""
    checks = _checks(queued)
    by_person = grouped(reviews, lambda review: review.annotator)
    skill = _skills(reviews, checks)
    now = datetime.now(UTC)  # a date to come, by a clock that is wrong, makes nobody else silent
    newest = max((review.decided_at for review in reviews if review.decided_at <= now), default=None)
    answered = Counter(review.annotator for review in reviews if review.item in checks)
    return [_annotator(by_person[name], checks, newest, skill, answered) for name in sorted(by_person)]


def echoes(reviews: Sequence[Review], queued: Iterable[Queued], doubt: float) -> set[str]:
    """Ids of decisions that say what somebody had said before, of whom their author may copy.

    Args:
        doubt: Probability of copying (`Copied.likely`) above which they may.
    """
    skill = _skills(reviews, _checks(queued))
    copied = {
        (name, source)
        for name in skill
        for source, told in _sources(name, skill).items()
        if told.likely > doubt
    }
    found = set()
    for votes in grouped(reviews, lambda one: (one.item, one.content_hash)).values() if copied else ():
        last = {one.annotator: one for one in votes}
        for earlier, later in combinations(sorted(last.values(), key=lambda one: one.decided_at), 2):
            alike = (earlier.decision == "keep") is (later.decision == "keep")
            if alike and (later.annotator, earlier.annotator) in copied:
                found.add(decision_id(later))
    return found


def _checks(queued: Iterable[Queued]) -> dict[str, dict[str, str]]:
    """What is known of each attention check, by item and content hash."""
    checks: dict[str, dict[str, str]] = defaultdict(dict)
    for row in queued:
        if row.why == "attention":
            checks[row.item][row.content_hash] = row.known
    return checks


def _skills(reviews: Iterable[Review], checks: Mapping[str, Mapping[str, str]]) -> dict[str, Skill]:
    sound = {item for item, known in checks.items() if SOUND in known.values()}
    return skills(reviews, checks.keys() - sound, sound)


def _annotator(
    all_reviews: list[Review],
    checks: Mapping[str, Mapping[str, str]],
    newest: datetime | None,
    skills_of: Mapping[str, Skill],
    answered: Mapping[str, int],
) -> Annotator:
    own = sorted(all_reviews, key=lambda review: (review.decided_at, review.item))
    name = own[0].annotator
    attention = [review for review in own if review.item in checks]
    work = [review for review in own if review.item not in checks]
    known = [checks[review.item].get(review.content_hash, "") for review in attention]
    right = [
        (review.decision == "keep") is (told == SOUND) for review, told in zip(attention, known, strict=True)
    ]
    pace, is_faster = _pace(work)
    silent = max(timedelta(0), newest - own[-1].decided_at) if newest else timedelta(0)
    skill, sources = skills_of.get(name), _sources(name, skills_of)
    bounds = {
        other: UNCHECKED_COPYING if min(answered[name], answered[other]) < CHECKED else LEAST_COPYING
        for other in sources
    }
    source, copied = max(
        sources.items(), key=lambda one: (one[1].likely - bounds[one[0]], one[0]), default=("", None)
    )
    alarms = {
        "guessing": skill is not None and (skill.right.high < LEAST_RIGHT or skill.apart.high < LEAST_APART),
        "copying": copied is not None and copied.likely > bounds[source],
        "finds_less": skill is not None
        and (skill.finds_drift or 0) < -0.25
        and (skill.finds_drift_high or 0) < 0,
        "faster": is_faster,
        "silent": silent >= SILENT,
    }
    return Annotator(
        annotator=name,
        decisions=len(work),
        seconds=_seconds(work),
        keep_rate=_kept(work),
        attention=len(attention),
        attention_passed=sum(right),
        planted=sum(told != SOUND for told in known),
        planted_found=sum(ok for ok, told in zip(right, known, strict=True) if told != SOUND),
        finds=skill.finds if skill else None,
        spares=skill.spares if skill else None,
        right_low=skill.right.low if skill else None,
        right_high=skill.right.high if skill else None,
        finds_drift=skill.finds_drift if skill else None,
        copied_from=source,
        copying=copied.likely if copied else None,
        copied=copied.share if copied else None,
        pace=pace,
        silent=silent.days,
        alarms=tuple(alarm for alarm, rings in alarms.items() if rings),
    )


def _sources(name: str, skill: Mapping[str, Skill]) -> dict[str, Copied]:
    """Whose answers somebody may repeat; two who are surely nearly always right agree without it."""
    mine = skill.get(name)
    if mine is None:
        return {}
    return {
        other: told
        for other, told in mine.copied.items()
        if other not in skill or min(mine.right.low, skill[other].right.low) < LEAST_RIGHT
    }


def _pace(work: Sequence[Review]) -> tuple[float | None, bool]:
    """Time of the last decisions over the habitual one, and whether it is surely less than half of it."""
    times = [review.seconds for review in work if review.seconds is not None]
    if len(times) < 2 * RECENT:
        return None, False
    before, last = times[:-RECENT], times[-RECENT:]
    pace = median(last) / median(before) if median(before) else None
    unlikely = _less_by_chance(last, before) < UNLIKELY
    return pace, unlikely and pace is not None and pace < HASTE


def _less_by_chance(last: Sequence[float], before: Sequence[float]) -> float:
    """How often chance alone makes the last values so small beside those before.

    Wilcoxon's rank-sum test (H. B. Mann and D. R. Whitney, 1947) by its normal limit, corrected for ties and
    for steps of whole ranks.
    """
    pairs, count = len(last) * len(before), len(last) + len(before)
    less = sum((one < other) + (one == other) / 2 for one in last for other in before)
    ties = sum(same**3 - same for same in Counter((*last, *before)).values())
    variance = pairs / 12 * (count + 1 - ties / (count * (count - 1)))
    return erfc((less - pairs / 2 - 0.5) / sqrt(2 * variance)) / 2 if variance else 1.0


def _kept(reviews: Sequence[Review]) -> float:
    return sum(review.decision == "keep" for review in reviews) / len(reviews) if reviews else 0.0


def _seconds(reviews: Sequence[Review]) -> float | None:
    times = [review.seconds for review in reviews if review.seconds is not None]
    return median(times) if times else None
