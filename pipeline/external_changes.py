"""The differences between a cleaned copy and its benchmark, row by row, with the evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from pipeline.external_summary import Audited
from schemas.record import Record
from validators.external.places import with_names

Change = Literal["blocked", "waits", "merged", "discarded", "unreadable", "corrected", "repaired"]
_OF_OUTCOME: dict[str, Change] = {
    "block": "blocked",
    "flag": "waits",
    "unjudged": "waits",
    "merged": "merged",
    "discarded": "discarded",
}


class ChangedRow(Record):
    """One difference between a benchmark and its cleaned copy, with what explains it."""

    item: str
    """Empty for a row that could not be read."""
    change: Change
    evidence: tuple[str, ...]


def changes(audited: Audited) -> list[ChangedRow]:
    """Every row that is not in the cleaned copy as it stood, and why."""
    said, cells = _said(audited), _cells(audited)
    found = []
    for name, outcome in audited.outcomes.items():
        if outcome in _OF_OUTCOME:
            found.append(
                ChangedRow(item=name, change=_OF_OUTCOME[outcome], evidence=_why(name, audited, said))
            )
        elif name in audited.corrected:
            evidence = (f"people corrected {audited.corrected[name]}",)
            found.append(ChangedRow(item=name, change="corrected", evidence=evidence))
        elif name in cells:
            found.append(ChangedRow(item=name, change="repaired", evidence=tuple(cells[name])))
    return found + [
        ChangedRow(item="", change="unreadable", evidence=(f"{bad.record}: {bad.detail}",))
        for bad in audited.benchmark.rejected
    ]


def settled_as(item: str, audited: Audited) -> str:
    """What people settled of an item: `keep`, `discard` or `fix`; empty where they have not."""
    told = audited.people.get(item)
    if item in audited.corrected:
        return "fix"
    return told.outcome if told and told.outcome in ("keep", "discard") else ""


def name_of_stay(item: str, audited: Audited) -> str:
    """Name of the equal row that stands for a merged one; empty for any other."""
    stays = audited.merged.get(item)
    return audited.places[stays].name if stays else ""


def _why(name: str, audited: Audited, said: Mapping[str, list[str]]) -> tuple[str, ...]:
    if name in audited.merged:
        return (f"equals {name_of_stay(name, audited)}",)
    told = audited.people.get(name)
    if told is None:
        return tuple(said[name]) or ("no usable reply of an auditor",)
    return (f"people: {told.outcome} by {told.by}, {told.votes} votes {told.reason}".rstrip(), *said[name])


def _said(audited: Audited) -> dict[str, list[str]]:
    """What checks and auditors hold against each item."""
    said: dict[str, list[str]] = defaultdict(list)
    for finding in audited.findings:
        if finding.severity != "report":
            said[finding.subject].append(f"{finding.check}: {with_names(finding.detail, audited.places)}")
    for audit in audited.audits:
        for issue in audit.issues:
            said[audit.item].append(f"{audit.auditor}, {issue.criterion}: {issue.explanation}")
        if audit.blind_differs:
            said[audit.item].append(f"{audit.auditor} answered without seeing the gold: {audit.blind_answer}")
    return said


def _cells(audited: Audited) -> dict[str, list[str]]:
    """Cells of each item that were repaired, before and after."""
    at = {(place.table, place.row): name for name, place in audited.places.items()}
    cells: dict[str, list[str]] = defaultdict(list)
    for one in audited.benchmark.repairs:
        name = at.get((one.table, one.row))
        if one.applied and name:
            cells[name].append(f"{one.column}: {one.before!r} became {one.after!r}")
    return cells
