"""What a cleaned release must meet before it is published."""

from __future__ import annotations

from releases.cleaned_record import CleanedRecord
from releases.gates import Gate, answered_by, capable, full_audit, sampled_misses
from releases.licence import forbids_derivatives, known


def cleaned_gates(record: CleanedRecord) -> tuple[Gate, ...]:
    """How a cleaned release stands to every condition of a publication; all figures are the record's."""
    seen, remedy = record.audit_states.get("both", 0), "Audit without --rules-only and --limit."
    return (
        _licences(record),
        _unresolved(record),
        full_audit(seen, record.rows, of="rows", remedy=remedy),
        capable(record.auditors, remedy="Name two large models of different families by --auditors."),
        answered_by(record.auditors),
        _miss_rate(record),
    )


def _licences(record: CleanedRecord) -> Gate:
    if forbids_derivatives(record.licence):
        found = f"The benchmark's licence {record.licence} forbids derivatives, and a cleaned copy is one."
        remedy = "Keep it to yourself and send the errata to the authors, or ask them for their leave."
    else:
        found = f"The benchmark's licence: {record.licence}."
        remedy = "Read its licence and name it: --licence with its SPDX identifier."
    return Gate(name="licences", passed=known(record.licence), asked=False, found=found, remedy=remedy)


def _unresolved(record: CleanedRecord) -> Gate:
    waiting = record.changes.get("waits", 0)
    return Gate(
        name="unresolved",
        passed=waiting == 0,
        asked=False,
        found=f"{waiting} rows wait for people and are left out until they decide.",
        remedy="`mihakk review push` the folder, have the rows decided, pull, and audit again.",
    )


def _miss_rate(record: CleanedRecord) -> Gate:
    return sampled_misses(
        record.miss_rate,
        of="rows",
        remedy="Set review.miss_rate_sample in audited.json, audit, push, and have the sample reviewed.",
    )
