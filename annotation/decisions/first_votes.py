"""The first independent answer of each person to each item or question, before anybody discussed it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from mihakk.annotation.decisions.store import J, decision_id, given, project_of, stored, subject_of
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.groups import grouped
from mihakk.schemas.review import Review, Voided

SAVED_WITHIN = timedelta(minutes=1)
"""The server may touch an answer again right after it was given; later it was changed."""
Asked = tuple[str, str, str, str]
"""Template, subject, content hash and pseudonym."""


def first_answers(
    rows: Iterable[J],
    *,
    people: int | None = None,
    adjudicators: Collection[str] = (),
    withdrawn: Collection[Asked] = (),
) -> list[J]:
    """Of everything stored, each person's first answer to each content; labels of one answer come together.

    The store keeps every form of an answer that a pull saw, and its first one stays whatever is changed
    afterwards. What was changed before the first pull has lost its first form, for the server exports only
    the newest: it is returned, and `is_edited` says so. Adjudicators see what others said; who took an
    answer back may have seen it too.

    Args:
        rows: Reviews or labels in the order of the store.
        people: Of the people who answered, so many by the time of their first answer; None: all.
        withdrawn: Whose first answer to what was taken back (`withdrawn`): their next one is no first one.
    """
    found: list[J] = []
    for asked in grouped(rows, lambda row: (project_of(row), subject_of(row), row.content_hash)).values():
        by_person = grouped(asked, lambda row: row.annotator)
        firsts = [
            min(mine, key=_given_at)
            for person, mine in by_person.items()
            if person not in adjudicators and answered(mine[0]) not in withdrawn
        ]
        for first in sorted(firsts, key=_given_at)[:people]:
            found += _parts(by_person[first.annotator][::-1], first)[::-1]
    return found


def last_answers(rows: Iterable[J], adjudicators: Collection[str] = ()) -> list[J]:
    """Each person's last answer to each content, as discussion left it; adjudicators' are left out."""
    found: list[J] = []
    for mine in grouped((row for row in rows if row.annotator not in adjudicators), answered).values():
        found += _parts(mine, mine[-1])
    return found


def is_edited(row: Review | Label) -> bool:
    """Whether an answer was changed after it was submitted: if it is a first one, its first form is lost."""
    return row.created_at is not None and row.decided_at - row.created_at > SAVED_WITHIN


def withdrawn(stores: Stores) -> set[Asked]:
    """First answers that their authors deleted or the lead voided; not those made before a calibration."""
    gone = {row.decision for row in stored(stores.voided, Voided) if row.by != "calibration"}
    mine = grouped(given(stores), answered) if gone else {}
    return {who for who, rows in mine.items() if decision_id(min(rows, key=_given_at)) in gone}


def answered(row: Review | Label) -> Asked:
    """Who answered what."""
    return project_of(row), subject_of(row), row.content_hash, row.annotator


def _parts(mine: Sequence[J], of: J) -> list[J]:
    """All labels of one answer, or the review; where the store holds one twice, the last of these rows."""
    same = (row for row in mine if row.decided_at == of.decided_at)
    return list({row.name if isinstance(row, Label) else "": row for row in same}.values())


def _given_at(row: Review | Label) -> datetime:
    return row.created_at or row.decided_at
