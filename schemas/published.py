"""What a build published."""

from __future__ import annotations

from mihakk.schemas.record import Record


class Published(Record):
    """One version of a benchmark on a Hub, as the build that made it saw it."""

    name: str
    version: str
    commit: str
    """40 hexadecimal digits."""
    location: str
    """Repository name; the embedded Hub's folder depends on the machine and is not recorded."""
    items: int
    files: int


class SealedItem(Record, extra="ignore"):
    """An item of a work in the test split of a blind version, as it stood then; for the lake alone.

    An older Mihakk kept more of it.
    """

    item: str
    """Empty for a work of which the version had no item."""
    work: str
    """The poem or idiom it asks about."""
    state: str
    """Digest of that record as its source gave it, and of what people settled about it."""
    content_hash: str
    """Of the item as the checks saw it."""
