"""One annotator's data: deleted on request, while every figure that rests on their answers stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import orjson

from mihakk.annotation.decisions.pseudonyms import Person, known_as
from mihakk.annotation.decisions.store import decision_id, given, rewrite
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import UNCOUNTED, move_words, words
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.errors import UsageError
from mihakk.schemas.calibration import CalibrationAnswer
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Words

R = TypeVar("R", bound=Record)


def words_of(stores: Stores, address: str, members: Mapping[int, str]) -> tuple[str, list[Words]]:
    """The pseudonym of a person, and what they wrote or the lead wrote about their decisions.

    What is known by a number alone is theirs too if that is their number or nobody's: its author has gone.

    Args:
        members: Addresses by number of who has an account on the labelling server.

    Raises:
        UsageError: Nobody of that address is known.
    """
    person = known_as(stores.people, address)
    if not person:
        raise UsageError(
            f"nobody with the address {address!r} has reviewed this benchmark; check its spelling"
        )
    names = {number: known_as(stores.people, known) for number, known in members.items()}
    move_words(stores, {number: name for number, name in names.items() if name})
    theirs = {decision_id(row) for row in given(stores) if row.annotator == person}
    others = {f"member {number}" for number, one in members.items() if one.casefold() != address.casefold()}
    return person, [
        one
        for one in words(stores)
        if one.annotator == person
        or (one.annotator.startswith("member ") and one.annotator not in others)
        or (one.kind == "voided" and one.about in theirs)
    ]


def forget(stores: Stores, address: str, members: Mapping[int, str]) -> tuple[str, int]:
    """Deletes what ties answers to a person, and what they wrote in their own words.

    Their address's digest, their words and the numbers of their annotations on the server go. What they
    decided, rated and corrected stays under a pseudonym that nobody can resolve any more, so no figure and no
    build changes. Killed half way, running it again finishes it: the address is deleted last.

    Args:
        members: As of `words_of`.

    Returns:
        The pseudonym, and how many rows were rewritten or deleted; errors as of `words_of`.
    """
    person, found = words_of(stores, address, members)
    rows = rewrite(stores.decisions, Review, _of(person, dict.fromkeys(UNCOUNTED, "")))
    rows += rewrite(stores.labels, Label, _of(person, {"annotation": ""}))
    rows += rewrite(stores.calibrated, CalibrationAnswer, _of(person, {"annotation": ""}))
    gone, authors = set(found), {one.annotator for one in found} - {"lead"} | {person}
    rows += rewrite(stores.rejected, Rejection, lambda row: _without_body(row, authors))
    rows += rewrite(stores.words, Words, lambda row: None if row in gone else row)
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


def _without_body(row: Rejection, authors: set[str]) -> Rejection:
    held = orjson.loads(row.body) if row.body else {}
    if not isinstance(held, dict) or held.get("annotator") not in authors:
        return row
    content = {name: held[name] for name in ("content_hash",) if name in held}  # what `doubted` goes by
    return row.model_copy(update={"body": orjson.dumps(content).decode() if content else "", "detail": ""})
