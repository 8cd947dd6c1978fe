"""Working time and amounts of work, for pay and for the time at which a queue will be done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from math import ceil
from statistics import median

from mihakk.annotation.decisions.store import decision_id, project_of, subject_of
from mihakk.annotation.screens.ratings import Label
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

RECENT = timedelta(days=14)
"""The pace that an estimated end goes by is that of the last two weeks."""


class PersonTime(Record):
    """One person's work in one project."""

    annotator: str
    project: str
    """Template."""
    items: int
    """Items or questions answered, each once however often its answer was changed."""
    voided: int
    """Of those, items whose every answer was voided or deleted; the lead says whether they are paid."""
    hours: float
    """Sum of the time the screen was open, of items that have one."""
    untimed: int
    """Items without a time."""
    seconds: float | None
    """Median time per item."""
    first: date | None
    last: date | None
    """Days (UTC) of the first and the last answer."""


class ProjectProgress(Record):
    """How far one project is."""

    project: str
    """`<benchmark>:<template>:<language>`, and `:<dialect>` where people are assigned to dialects."""
    judges: str
    """Pseudonyms of those whose texts these are; empty where everybody judges everything."""
    tasks: int
    """Tasks wanted now, with those that are done."""
    done: int
    missing: int
    """Answers still to be given."""
    recent: int
    """Answers of the last 14 days."""
    people: int
    """Who gave them."""
    withheld: int = 0
    """Answers kept that don't count: their authors had not passed calibration."""
    end: date | None = None
    """Day on which it will be done at that pace; None where nobody works on it or nothing is missing."""


def working_times(rows: Iterable[Review | Label], counting: Iterable[Review | Label]) -> list[PersonTime]:
    """Totals by person and project, over `rows`, voided ones too; those that count are `counting`.

    The server adds up the time of an answer that is changed later, so of one item the longest counts.
    """
    good = {decision_id(row) for row in counting}
    items: dict[tuple[str, str], dict[str, list[Review | Label]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        items[row.annotator, project_of(row)][f"{subject_of(row)} {row.content_hash}"].append(row)
    found = []
    for (person, project), answers in sorted(items.items()):
        times = [
            max(known)
            for group in answers.values()
            if (known := [row.seconds for row in group if row.seconds is not None])
        ]
        days = sorted(row.decided_at.astimezone(UTC).date() for group in answers.values() for row in group)
        found.append(
            PersonTime(
                annotator=person,
                project=project,
                items=len(answers),
                voided=sum(good.isdisjoint(map(decision_id, group)) for group in answers.values()),
                hours=round(sum(times) / 3600, 3),
                untimed=len(answers) - len(times),
                seconds=median(times) if times else None,
                first=days[0] if days else None,
                last=days[-1] if days else None,
            )
        )
    return found


def progress(
    project: str,
    tasks: Sequence[tuple[int, int]],
    answers: Iterable[Review | Label],
    now: datetime,
    judges: Sequence[str] = (),
) -> ProjectProgress:
    """How far a project is, and its end at the pace of the last two weeks.

    `tasks` say of every wanted task how many people have answered it and how many it needs.
    """
    missing = sum(max(0, needed - given) for given, needed in tasks)
    recent = {decision_id(row): row for row in answers if now - RECENT < row.decided_at <= now}
    end = None
    if recent and missing:
        begun = min(row.decided_at for row in recent.values())
        days = max(1, ceil((now - begun) / timedelta(days=1)))
        end = (now + timedelta(days=ceil(missing * days / len(recent)))).date()
    return ProjectProgress(
        project=project,
        judges=" ".join(judges),
        tasks=len(tasks),
        done=sum(given >= needed for given, needed in tasks),
        missing=missing,
        recent=len(recent),
        people=len(Counter(row.annotator for row in recent.values())),
        end=end,
    )
