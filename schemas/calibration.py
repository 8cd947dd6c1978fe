"""Calibration: questions with known answers, and what people answered to them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import orjson

from mihakk.schemas.record import Language, Record

Side = Literal["sound", "defective"]
Basis = Literal["written", "adjudicated", "agreed", "source", "planted", "unflagged"]
"""Where a known answer comes from; `unflagged`: nobody objected to it so far."""
Why = Literal["first", "failed", "guideline"]


class Known(Record):
    """One question whose answer is known; stored locally only."""

    template: str
    language: Language
    subject: str
    """Its name on the server."""
    content_hash: str
    base: str
    """What it was made from: nobody gets two questions made from one thing."""
    side: Side
    kind: str
    """The defect planted in it, or what else makes its answer known; a key of `words.yaml`."""
    basis: Basis
    accepts: dict[str, tuple[str, ...]]
    """Control to the answers that are right; a person is right where all of them hold."""
    right: str = ""
    """What would have been right, quoted in the explanation."""
    says: str = ""
    """The explanation of a question written by hand."""
    task: str
    """What is sent to the server, JSON."""
    round: int = 0

    @property
    def sent(self) -> dict[str, Any]:
        """The task as it is sent."""
        return dict(orjson.loads(self.task))


class Round(Record):
    """One set of known questions in one project."""

    template: str
    language: Language
    number: int
    why: Why
    """The first; another one for who failed the last; or asked again because the guideline changed."""
    items: int
    needed: int
    """Right answers that pass it."""
    begun_at: datetime


class CalibrationAnswer(Record):
    """What a person answered first to a known question; later changes don't count."""

    template: str
    language: Language
    round: int
    subject: str
    annotator: str
    values: dict[str, str]
    right: bool
    decided_at: datetime
    seconds: float | None = None
    annotation: str = ""
    """See `Review.annotation`."""


class Standing(Record):
    """How far a person is with one round."""

    annotator: str
    template: str
    language: Language
    round: int
    items: int
    answered: int
    right: int
    needed: int
    state: Literal["under way", "passed", "failed"]
    passed_at: datetime | None = None
    low: float | None = None
    """Ends of Clopper and Pearson's 95 % interval of the share of right answers."""
    high: float | None = None
    planted: int = 0
    """Defective questions answered."""
    found: int = 0
    """Of those answered rightly."""
