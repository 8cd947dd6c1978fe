"""Decisions that the lead takes back: they stay in the store and count no longer."""

from __future__ import annotations

from datetime import UTC, datetime

from mihakk.annotation.decisions.pseudonyms import known_as
from mihakk.annotation.decisions.store import counting, decision_id
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import add_split
from mihakk.machinery.errors import UsageError
from mihakk.schemas.review import Voided


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
