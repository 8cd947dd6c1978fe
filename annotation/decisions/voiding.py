"""Decisions that stay in the store and count no longer: what the lead takes back, and keeps that may not be
their authors' last word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import orjson

from mihakk.annotation.decisions.pseudonyms import known_as
from mihakk.annotation.decisions.store import counting, decision_id, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import add_split
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.errors import UsageError
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Voided

ORIGIN: Final = "offline"
"""Stands in `Review.annotation` in the place of a server: a sheet's decision is made when it is handed in."""
Said = tuple[str, str, str]
"""Item, content hash and the pseudonym of who judged it."""


def said_of(row: Review) -> Said:
    """What a decision is about, and whose it is."""
    return row.item, row.content_hash, row.annotator


def void(stores: Stores, which: str, why: str) -> list[Voided]:
    """Voids everything that one person has said so far, or one decision; returns the rows added.

    What the person says afterwards counts again. An item that lacks a vote by it is open for another person
    after the next pull.

    Args:
        which: A pseudonym, an e-mail address, or a decision's id, as `review export` writes it.

    Raises:
        UsageError: No reason, nobody of that name, or no decision that counts.
    """
    if not why.strip():
        raise UsageError("say why these decisions should not count: --why TEXT")
    person = known_as(stores.people, which) if "@" in which else which
    names = ((row.annotator, decision_id(row)) for row in counting(stores))
    found = dict.fromkeys(name for who, name in names if person in (who, name))
    if not found:
        raise UsageError(
            f"{which} is neither a person with decisions that count nor the id of one; people are called "
            "annotator-01 and on, and the first column of `mihakk review export` holds the ids"
        )
    now = datetime.now(UTC)
    return add_split(
        stores,
        stores.voided,
        Voided,
        [Voided(decision=name, by="lead", why=why.strip(), voided_at=now) for name in found],
    )


def undone_keeps(
    origin: str,
    rows: Iterable[Review | Label],
    known: Sequence[Review],
    gone: Collection[str],
    *,
    doubts: Collection[Said],
    stores: Stores,
) -> Iterator[Voided]:
    """Decisions to keep that are not, or may not be, their authors' last word.

    A keep known before does not outlive an objection of its author that is deleted or withheld now (`gone`),
    nor a word of theirs that is in doubt. A new one does not stand behind an objection that came with it, or
    that its author made elsewhere, on a sheet perhaps, or that is dated later, as where an older export or
    a server's backup brings the keep: nothing says which was later.

    Args:
        origin: The server and project that `rows` were pulled from, see `Review.annotation`.
        rows: What is read now, in the order in which it is stored.
        known: What the store has.
        doubts: Whose word on what is not known.
    """
    before = {decision_id(row) for row in known}
    voided = {row.decision for row in stored(stores.voided, Voided)} | set(gone)
    counted = [row for row in known if decision_id(row) not in voided]
    reviews = [row for row in rows if isinstance(row, Review)]
    objected = {said_of(row) for row in (*known, *reviews) if row.objects and decision_id(row) in gone}
    last = {(said_of(row), row.annotation.rpartition("/")[0]): row for row in counted}
    objects: dict[Said, set[str]] = defaultdict(set)
    for (said, place), row in last.items():
        if row.objects and origin not in (place, ORIGIN):
            objects[said].add(row.annotation)
    refused = _refused_on_sheets(stores) if origin != ORIGIN else ()
    doubts = {*doubts, *(said for said in refused if (said, ORIGIN) not in last)}
    objected_at = {said: row.decided_at for (said, _), row in last.items() if row.objects}
    now = datetime.now(UTC)
    # In the order of the store, where an objection behind a keep is the later word as it stands.
    for row in {decision_id(row): row for row in (*counted, *reviews)}.values():
        said, name = said_of(row), decision_id(row)
        if row.objects and name not in before:
            objects[said].add(row.annotation)
        if row.objects or name in voided:
            continue
        is_older = said in objected_at and row.decided_at <= objected_at[said]
        beside = said in objected if name in before else is_older or objects[said] - {row.annotation}
        if beside or said in doubts:
            why = "its author may have called the item wrong since, or does so in another answer"
            yield Voided(decision=name, by="deleted", why=why, voided_at=now)


def _refused_on_sheets(stores: Stores) -> Iterator[Said]:
    """Who called what wrong, or may have, on a row of a sheet that can't be taken."""
    for row in stored(stores.rejected, Rejection):
        if row.source.startswith(f"{ORIGIN}:"):
            body = orjson.loads(row.body or "{}")
            yield row.record, body.get("content_hash", ""), body.get("annotator", "")
