"""Where one benchmark's review keeps what people did."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Stores:
    """Folders of one benchmark's review, beside its stages, for they outlive every rebuild."""

    decisions: str
    labels: str
    people: str
    rejected: str
    queued: str
    campaigns: str
    """Questions drawn for campaigns."""
    voided: str
    known: str
    """Calibration: questions with known answers."""
    rounds: str
    calibrated: str
    """What people answered to known questions."""
    guidelines: str
    answers: str
    """What the lead answered to annotators' questions."""
    suspects: str
    """Items that systems' answers speak against."""
    words: str
    """What people wrote in their own words; nothing else holds it."""

    @classmethod
    def under(cls, folder: str) -> Stores:
        """The stores of the benchmark in that folder: `<lake>/<benchmark>`, or wherever its stages lie."""
        root = folder.rstrip("/")
        rest = (f"{root}/review/{one.name}" for one in fields(cls)[1:])
        return cls(f"{root}/decisions", *rest)
