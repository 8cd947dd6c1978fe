"""One annotator's data: deleted on request, while every figure that rests on their answers stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import orjson

from annotation.decisions.pseudonyms import Person, known_as
from annotation.decisions.store import rewrite
from annotation.decisions.stores import Stores
from annotation.screens.ratings import Label
from mihakk.errors import UsageError
from schemas.calibration import CalibrationAnswer
from schemas.record import Record
from schemas.rejection import Rejection
from schemas.review import Review

R = TypeVar("R", bound=Record)


def forget(stores: Stores, address: str, member: int | None) -> tuple[str, int]:
    """Deletes what ties answers to a person, and what they wrote in their own words.

    Their address's digest, notes, unusable and skipped annotations, and the numbers of their annotations on
    the server go. What they decided, rated and corrected stays under a pseudonym that nobody can resolve any
    more, so no figure and no build changes. Killed half way, running it again finishes it: the address is
    deleted last.

    Args:
        member: Their id on the labelling server; None where they have no account there any more.

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
    if member is not None:
        rows += rewrite(stores.rejected, Rejection, lambda row: _without_body(row, member))
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


def _without_body(row: Rejection, member: int) -> Rejection:
    held = orjson.loads(row.body) if row.body else {}
    if not isinstance(held, dict) or held.get("member") != member:
        return row
    return row.model_copy(update={"body": "", "detail": ""})
