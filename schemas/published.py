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
