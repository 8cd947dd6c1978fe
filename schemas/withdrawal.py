"""A released version that must not be used any more."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from mihakk.schemas.record import Record


class Withdrawal(Record):
    """A person's word that a version must not be used any more; it is never taken back."""

    version: str
    why: str = Field(min_length=1)
    """In one line."""
    withdrawn_on: date
