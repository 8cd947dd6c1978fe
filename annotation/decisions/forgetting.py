"""One annotator's data: deleted on request, while every figure that rests on their answers stays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import orjson

from annotation.decisions.pseudonyms import Person, known_as
from annotation.decisions.store import rewrite, stored
from annotation.decisions.stores import Stores
from annotation.screens.ratings import Label
from mihakk.errors import UsageError
from schemas.calibration import CalibrationAnswer
from schemas.record import Record
from schemas.rejection import Rejection
from schemas.review import Review

R = TypeVar("R", bound=Record)


def own_words(stores: Stores, address: str) -> set[str]:
    """What a person wrote in their own words, voided too, and their address; to look for it elsewhere."""
    person = known_as(stores.people, address)
    words = {row.notes for row in stored(stores.decisions, Review) if row.annotator == person}
    words |= {
        row.value for row in stored(stores.labels, Label) if (row.annotator, row.name) == (person, "notes")
    }
    words |= {
        row.values.get("notes", "")
        for row in stored(stores.calibrated, CalibrationAnswer)
        if row.annotator == person
    }
    return {address.strip(), *words} - {""}


def forget(
    stores: Stores, address: str, member: int | None, present: Collection[int] = ()
) -> tuple[str, int]:
    """Deletes what ties answers to a person, and what they wrote in their own words.

    Their address's digest, notes, unusable and skipped annotations, and the numbers of their annotations on
    the server go. What they decided, rated and corrected stays under a pseudonym that nobody can resolve any
    more, so no figure and no build changes. Killed half way, running it again finishes it: the address is
    deleted last.

    Args:
        member: Their id on the labelling server; None where they have no account there any more.
        present: Ids of those who have one. Without an account of theirs, unusable annotations of everybody
            who has none any more go, for nothing else tells whose they were.

    Returns:
        The pseudonym, and how many rows were rewritten.

    Raises:
        UsageError: Nobody of that address is known.
    """
    person = known_as(stores.people, address)
    if not person:
        raise UsageError(
            f"nobody with the address {address!r} has reviewed this benchmark; check its spelling"
        )
    rows = rewrite(stores.decisions, Review, _of(person, {"notes": "", "annotation": ""}))
    rows += rewrite(stores.labels, Label, _of(person, {"annotation": ""}))
    rows += rewrite(stores.labels, Label, lambda row: _without_notes(row, person))
    rows += rewrite(stores.calibrated, CalibrationAnswer, lambda row: _without_words(row, person))
    if member is not None or present:
        rows += rewrite(stores.rejected, Rejection, lambda row: _without_body(row, member, present))
    rows += rewrite(
        stores.people,
        Person,
        lambda row: (
            row.model_copy(update={"address_digest": f"forgotten {person}"})
            if row.pseudonym == person
            else row
        ),
    )
    return person, rows


def _of(person: str, changes: dict[str, str]) -> Callable[[R], R]:
    def changed(row: R) -> R:
        return row.model_copy(update=changes) if getattr(row, "annotator", "") == person else row

    return changed


def _without_notes(row: Label, person: str) -> Label:
    return row.model_copy(update={"value": ""}) if (row.annotator, row.name) == (person, "notes") else row


def _without_words(row: CalibrationAnswer, person: str) -> CalibrationAnswer:
    if row.annotator != person:
        return row
    kept = {name: text for name, text in row.values.items() if name != "notes"}
    return row.model_copy(update={"annotation": "", "values": kept})


def _without_body(row: Rejection, member: int | None, present: Collection[int]) -> Rejection:
    held = orjson.loads(row.body) if row.body else {}
    whose = held.get("member") if isinstance(held, dict) else None
    if whose is None or (whose in present if member is None else whose != member):
        return row
    return row.model_copy(update={"body": "", "detail": ""})
