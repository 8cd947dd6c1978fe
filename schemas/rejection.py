"""Records that left the pipeline, with the reason."""

from __future__ import annotations

from mihakk.schemas.record import Record

REASON = r"^(?:[a-z0-9_]+|check_[A-Z]{2}\d{2})$"
"""What reasons look like: a snake_case name, or the check that blocked the record."""


class Rejection(Record):
    """One record that a stage did not pass on."""

    record: str
    """Its id, or the best name it had."""
    source: str = ""
    reason: str
    """As `REASON`, e.g. `poet_unknown`, `check_TX01`."""
    detail: str
    """The evidence in one sentence."""
    kept: str = ""
    """For a duplicate: id of the record that stands for it."""
    body: str = ""
    """The record as JSON, so that nothing is lost."""


def without_notes(reason: str, detail: str) -> str:
    """The evidence of a discard without the notes of people that earlier versions put behind it."""
    return detail.partition("; notes: ")[0] if reason.startswith("discarded_") else detail


class Cluster(Record):
    """A set of records found to be the same, and the one kept; or couplets that only look alike, all kept."""

    kept: str
    """The first of them."""
    merged: tuple[str, ...]
    """The others: gone by method `exact` and `near`, still there by `similar` and `half`."""
    level: str
    """`couplet`, `poem` or `idiom`."""
    method: str
    """`exact`, `near`, `similar` (less alike than the config asks) or `half` (one hemistich in common)."""
    similarity: float
    """Lowest similarity of one of the others to the first, 0 to 1; of the hemistichs by method `half`."""
    contested: tuple[str, ...] = ()
    """Of poems: labels (`era`, `genre`, `metre`) that their editors give differently."""
