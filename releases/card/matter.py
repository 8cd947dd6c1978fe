"""What a card's generated sections are written from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mihakk.releases.card.audit_section import OPEN
from mihakk.releases.content.placement import KEPT
from mihakk.releases.gathered import ReleaseInput
from mihakk.releases.release_facts import Override, ReleaseFacts
from mihakk.schemas.audit import AuditState
from mihakk.schemas.benchmark import BenchmarkConfig


@dataclass(frozen=True)
class SplitSummary:
    """One split of one config."""

    config: str
    split: str
    kind: str
    rows: int
    ability: str
    """What it is ranked under."""
    licences: Mapping[str, int]
    metadata: Mapping[str, Mapping[str, int]]
    """Metadata field -> value -> items."""
    era_genre: Mapping[tuple[str, str], int]
    """Era and genre -> items; empty names where none is told."""
    first: Mapping[str, Any]
    """Its first row, with no version yet."""


@dataclass(frozen=True)
class CardMatter:
    """What the generated sections are written from."""

    release: ReleaseInput
    version: str
    splits: Sequence[SplitSummary]
    removed: Mapping[str, int]
    """Reason -> items in the errata."""
    overrides: Sequence[Override]
    """Gates that people let stand shut, for this version and those before it."""
    charts: Mapping[str, str]
    """File of a chart -> what it shows."""

    @property
    def config(self) -> BenchmarkConfig:
        """The benchmark's."""
        return self.release.config

    @property
    def facts(self) -> ReleaseFacts:
        """What is known of it beside its items."""
        return self.release.facts

    @property
    def items(self) -> int:
        """Items in the release."""
        return sum(split.rows for split in self.splits)

    @property
    def told_items(self) -> str:
        """What figures on audit and review are of."""
        return "items" if self.release.answers is None else OPEN

    @property
    def reviewed(self) -> int:
        """Released items that people decided on, with open golds."""
        return sum(one.verdict in KEPT for one in self.release.released)

    @property
    def audit_states(self) -> Counter[AuditState]:
        """Released items with open golds, per state of the audit."""
        return Counter(one.audit_state for one in self.release.released if one.audit_state)

    @property
    def examples(self) -> dict[str, Mapping[str, Any]]:
        """Config -> its first row, of dev where there is a dev split, never of a sealed one."""
        found: dict[str, Mapping[str, Any]] = {}
        for one in sorted(self.splits, key=lambda one: one.split):
            if not one.first["sealed"]:
                found.setdefault(one.config, one.first)
        return {one.config: found[one.config] for one in self.splits if one.config in found}
