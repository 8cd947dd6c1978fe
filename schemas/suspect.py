"""Items that the answers of many systems speak against."""

from __future__ import annotations

from typing import Literal

from mihakk.schemas.record import Language, Record

SuspectReason = Literal[
    "other_answer",
    "ambiguous",
    "inverted",
    "never_right",
    "always_right",
    "without_question",
    "flat",
    "none",
]
"""other_answer: systems that are right elsewhere agree on another answer. ambiguous: they are split between
the gold and one other. inverted: those who know the other items miss this one. never_right, always_right: it
tells no two systems apart. without_question: six systems or more, shown the options alone, all choose the
gold. flat: ten systems or more answered, and its correlation with
the other items is under .05 either way. none: nothing speaks against it."""


class Suspect(Record):
    """What the answers to one item say about it; both orders of a pair are one."""

    rank: int
    """1 is the likeliest to be wrong."""
    items: tuple[str, ...]
    content_hashes: tuple[str, ...]
    """One an item: the evidence speaks of this content."""
    release: str
    version: str
    config: str
    task: str
    language: Language
    reason: SuspectReason
    odds: float
    """Natural logarithm: how much likelier the answers are if another answer is right, not the gold."""
    confidence: float | None = None
    """Chance that another answer is right and not the gold; None in tables of older versions."""
    gold: str
    other: str
    """The answer that speaks loudest against the gold; empty where no system gave another."""
    systems: int
    gold_share: float
    """Of the systems' answers."""
    other_share: float
    rest: float | None
    """Correlation with the systems' scores on all other items; None where it is not defined."""
    evidence: str
    """Who chose what, in a sentence."""

    @property
    def contents(self) -> tuple[tuple[str, str], ...]:
        """Each item with the hash of the content that systems were asked."""
        return tuple(zip(self.items, self.content_hashes, strict=True))
