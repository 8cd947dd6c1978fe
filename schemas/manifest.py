"""What a stage says about the tables it wrote."""

from __future__ import annotations

from pydantic import Field

from mihakk.schemas.record import Record

FORMAT = 3
"""Generation of a lake's tables: raised by every change after which the same input gives other tables, so
that an older program refuses what a newer one wrote. 1 until November 2026."""
OLDEST_FORMAT = 1
"""Oldest generation that is read as it stands; shards of an older one are made again."""


class ShardCounts(Record):
    """Accounting of one shard or one stage; always `read = kept + rejected + merged`."""

    read: int = 0
    """Records read from the stage before."""
    kept: int = 0
    """Of those, how many stand behind at least one row written."""
    rejected: int = 0
    merged: int = 0
    """Duplicates folded into a kept record."""
    written: int = 0
    """Rows written to this stage's main table; differs from `kept` where a record yields many rows."""
    reasons: dict[str, int] = Field(default_factory=dict)
    """Rejections and merges per reason."""
    notes: dict[str, int] = Field(default_factory=dict)
    """Anything else counted, e.g. `canonical.kashida` or `skipped.shuffled.too_short`."""


def source_of(shard: str) -> str:
    """The use of a source that a shard's records come from: `sayings` of `sayings-00003`."""
    return shard.rpartition("-")[0]


class ShardManifest(Record):
    """One finished shard: present only if its parts are whole."""

    shard: str
    digest: str
    """Digest of everything that could change the parts: inputs, config, code version."""
    parts: dict[str, str]
    """Table name to sha256 of the part's bytes."""
    counts: ShardCounts
    seconds: float
    started: str
    """UTC, ISO 8601."""
    format: int = 1
    """`FORMAT` of the code that wrote it."""

    @property
    def source(self) -> str:
        """The use of a source that its records come from."""
        return source_of(self.shard)


class StageManifest(Record):
    """One finished stage."""

    stage: str
    config_digest: str
    code_version: str
    inputs: dict[str, str]
    """Shard to digest of the input it read."""
    shards: tuple[ShardManifest, ...]
    counts: ShardCounts
    seconds: float
    peak_memory_mb: float = 0.0
    rejected: str = ""
    """sha256 of `rejected.parquet`; empty where an earlier version wrote it."""
    format: int = 1
    """`FORMAT` of the code that wrote it."""
