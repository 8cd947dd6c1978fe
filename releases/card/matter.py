"""What a card's generated sections are written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from releases.release_facts import CoreFact, Override, ReleaseFacts
from schemas.audit import AuditState
from schemas.benchmark import BenchmarkConfig


@dataclass(frozen=True)
class SplitSummary:
    """One split of one config."""

    config: str
    split: str
    kind: str
    rows: int
    licences: Mapping[str, int]
    metadata: Mapping[str, Mapping[str, int]]
    """Metadata field -> value -> items."""


@dataclass(frozen=True)
class CardMatter:
    """What the generated sections are written from."""

    config: BenchmarkConfig
    facts: ReleaseFacts
    version: str
    canary: str
    """GUID of the benchmark."""
    splits: Sequence[SplitSummary]
    statuses: Mapping[str, int]
    """Verdict status -> items, withheld ones included."""
    audit_states: Mapping[AuditState, int]
    """Released items per state of the audit."""
    reviewed: int
    """Released items that people decided on."""
    removed: Mapping[str, int]
    """Reason -> items in the errata."""
    examples: Mapping[str, Mapping[str, Any]]
    """Config -> a row of its dev split (else of an open test split) as the data files have it."""
    overrides: Sequence[Override]
    """Gates that people let stand shut, for this version and those before it."""
    core: CoreFact | None
    """The balanced subset; None where there is none."""
    charts: Mapping[str, str]
    """File of a chart -> what it shows."""

    @property
    def items(self) -> int:
        """Items in the release."""
        return sum(split.rows for split in self.splits)
