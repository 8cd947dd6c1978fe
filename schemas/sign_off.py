"""A person's word on a release before it is made."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from mihakk.schemas.record import Record


class SignOff(Record):
    """One person's approval or refusal of the reviewed tables as they stood when asked."""

    tables: str
    """Digest of the reviewed tables; the word binds for these bytes and no others."""
    decision: Literal["approve", "reject"]
    name: str = Field(min_length=1)
    """Who answers for it; the release's card names them."""
    note: str = ""
    """Of older lakes; it is stored with what people wrote (`Words`) and not published."""
    decided_at: datetime
