"""What a rule says about a record, an item or a whole set."""

from __future__ import annotations

from typing import Literal, get_args

from mihakk.schemas.record import Record

Severity = Literal["block", "flag", "report"]
"""block: never released, costs no model call; flag: goes to people; report: counted only."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The gravest first."""


class Finding(Record):
    """One check's objection to one subject."""

    check: str
    """Id of the check, e.g. `CH03`; never reused."""
    severity: Severity
    subject: str
    """Id of the item or record; `*` for the whole set."""
    detail: str
    """What is wrong, with the evidence, in one or two sentences."""
    where: str = ""
    """Field the evidence stands in, e.g. `options[2]`; empty for the whole subject."""
