"""People's decisions: appended, never edited."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.record import Record

Decision = Literal["keep", "fix", "discard"]
DiscardReason = Literal[
    "wrong_gold", "ambiguous", "not_authentic", "duplicate", "unreadable", "sensitive", "other"
]
ReviewOutcome = Literal["keep", "fix", "discard", "unresolved", "none"]


class Review(Record):
    """One person's decision on one item as it stood when they saw it."""

    item: str
    content_hash: str
    """Hash of the item that was judged; a decision binds only while it is unchanged."""
    annotator: str
    """Pseudonym."""
    decision: Decision
    reason: DiscardReason | None = None
    failed: tuple[str, ...] = ()
    """Criteria the person found unmet."""
    corrections: dict[str, str] = Field(default_factory=dict)
    """Field (`question`, `context`, `answer`, `options[0]`, `gold`, ...) to corrected text."""
    confidence: int | None = Field(default=None, ge=1, le=5)
    notes: str = ""
    decided_at: datetime
    seconds: float | None = None
    """Time the person spent on it."""
    project: str = "quality_review"
    task: int | None = None
    """Label Studio's task id."""


class Resolution(Record):
    """What the people's decisions on an item come to."""

    item: str
    outcome: ReviewOutcome
    by: Literal["", "agreement", "majority", "adjudicator", "single"] = ""
    reason: str = ""
    votes: int = 0
