"""The files of an external audit: its cleaned copy, and tables whose rows name their place."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import Field

from mihakk.machinery.groups import grouped
from mihakk.pipeline.external_people import waiting, write_review_tables
from mihakk.pipeline.external_summary import Audited
from mihakk.releases.cleaned.errata import STAY, RowErratum
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.record import Record
from mihakk.validators.external.clusters import Cluster
from mihakk.validators.external.places import RowPlace, rejected_places, with_names

TABLES = ("changes", "removed", "reported", "repairs", "clusters", "findings", "audits", "verdicts")
LEFT_OUT = {"block": "blocked", "flag": "waits", "unjudged": "waits"}
"""What outcomes that leave a row out are called in the tables of changes, where it is not the same."""


class ReportedRow(Record):
    """A row that stays though a check that only counts objected to it."""

    item: str
    checks: tuple[str, ...] = Field(min_length=1)
    details: tuple[str, ...]
    """What each of the checks said, in their order."""


class ChangedRow(RowErratum):
    """A row that the cleaned copy does not hold as it stood, or against a rule that blocks it, and why."""

    source: str
    item: str
    """Empty for a row that could not be read."""
    outcome: str
    """Of the item, or `unreadable`."""
    merged_into: str = ""
    reasons: tuple[str, ...]
    """Check ids and rules of the verdict."""


def write_tables(audited: Audited, folder: Path) -> dict[str, str]:
    """Writes all tables, the cleaned copy and the queue for people into the folder.

    Returns:
        Name of each file's content to its path; `clean` is missing where no item passed.
    """
    from mihakk.annotation.screens.queue import write_queue
    from mihakk.machinery.lake.columns import write_table
    from mihakk.validators.external.clean import write_clean
    from mihakk.validators.external.repair import CellRepair

    benchmark, places, passed = audited.benchmark, audited.places, audited.passed
    suffix = Path(benchmark.source).suffix
    clean = folder / (f"clean{suffix}" if suffix else "clean")
    if passed:
        write_clean(benchmark, passed, clean)
    elif clean.is_dir():  # what an earlier run left here
        shutil.rmtree(clean)
    else:
        clean.unlink(missing_ok=True)
    _write(folder / "reported.parquet", _reported(audited.findings, passed), ReportedRow, "item", places)
    _write(folder / "clusters.parquet", audited.clusters, Cluster, "example", places)
    _write(folder / "findings.parquet", audited.findings, Finding, "subject", places)
    _write(folder / "audits.parquet", audited.audits, Audit, "item", places)
    rows = [verdict.item for verdict in audited.verdicts]
    became: dict[str, Sequence[str]] = {
        "outcome": [audited.outcomes[name] for name in rows],
        "people": [audited.settled_as(name) for name in rows],
        "merged_into": [_stay(name, audited) for name in rows],
    }
    _write(folder / "verdicts.parquet", audited.verdicts, Verdict, "item", places, more=became)
    _write_changes(changed_rows(audited), folder)
    write_table(folder / "repairs.parquet", benchmark.repairs, CellRepair)
    readable = [
        finding.model_copy(update={"detail": with_names(finding.detail, places)})
        for finding in audited.findings
    ]
    write_review_tables(folder, audited, readable)
    write_queue(folder / "review_queue.json", benchmark.items, waiting(audited), readable, audited.audits)
    names = [f"{name}.parquet" for name in TABLES] + ["review_queue.json", "summary.json", "report.html"]
    return {Path(name).stem: str(folder / name) for name in ([clean.name] if passed else []) + names}


def changed_rows(audited: Audited) -> list[ChangedRow]:
    """Every row that is not in the cleaned copy as it stood, in order, with the evidence."""
    said, repaired = _said(audited), _repaired(audited)
    found: list[ChangedRow] = []
    for verdict in audited.verdicts:
        name, outcome = verdict.item, audited.outcomes[verdict.item]
        at, row = audited.benchmark.place[name]
        table = audited.benchmark.tables[at]
        if outcome != "pass":
            change, evidence = LEFT_OUT.get(outcome, outcome), _why(name, audited, said[name])
        elif name in audited.corrected:
            change, evidence = "corrected", [f"people corrected {audited.corrected[name]}"]
        elif name in repaired:
            change, evidence = "repaired", repaired[name]
        elif verdict.status == "block":
            change, evidence = "rescued", _why(name, audited, said[name])
        else:
            continue
        found.append(
            ChangedRow(
                **audited.places[name].model_dump(),
                item=name,
                change=change,
                evidence=tuple(evidence),
                before=_json(table.original(row)),
                after=_json(table.rows[row]) if change in STAY else "",
                outcome=outcome,
                merged_into=_stay(name, audited),
                reasons=tuple(sorted(verdict.reasons)),
            )
        )
    found += [
        ChangedRow(
            **place.model_dump(),
            item="",
            change="unreadable",
            evidence=(f"{bad.reason}: {bad.detail}",),
            before=bad.body,
            after="",
            outcome="unreadable",
            reasons=(bad.reason,),
        )
        for bad, place in rejected_places(audited.benchmark)
    ]
    return sorted(found, key=lambda one: one.place)


def _stay(item: str, audited: Audited) -> str:
    """Name of the equal row that stands for a merged one; empty for any other."""
    stays = audited.merged.get(item)
    return audited.places[stays].name if stays else ""


def _why(name: str, audited: Audited, said: Sequence[str]) -> list[str]:
    if name in audited.merged:
        return [f"equals {_stay(name, audited)}"]
    told = audited.people.get(name)
    if told is None:
        return list(said) or ["no usable reply of an auditor"]
    return [f"people: {told.outcome} by {told.by}, {told.votes} votes {told.reason}".rstrip(), *said]


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


def _repaired(audited: Audited) -> dict[str, list[str]]:
    """Cells of each item that were repaired, before and after."""
    at = {(place.table, place.row): name for name, place in audited.places.items()}
    cells: dict[str, list[str]] = defaultdict(list)
    for one in audited.benchmark.repairs:
        name = at.get((one.table, one.row))
        if one.applied and name:
            cells[name].append(f"{one.column}: {one.before!r} became {one.after!r}")
    return cells


def _json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=str)


def _reported(findings: Sequence[Finding], passed: Collection[str]) -> list[ReportedRow]:
    said = grouped((one for one in findings if one.subject in passed), lambda one: one.subject)
    return [
        ReportedRow(item=item, checks=tuple(f.check for f in found), details=tuple(f.detail for f in found))
        for item, found in said.items()
    ]


def _write_changes(changed: Sequence[ChangedRow], folder: Path) -> None:
    """`changes.parquet` with the evidence, and `removed.parquet` with what is left out, as it stood."""
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import to_table

    place = list(RowPlace.model_fields)
    told = to_table(changed, ChangedRow).select(["item", "change", "evidence", *place])
    pq.write_table(told, folder / "changes.parquet", compression="zstd")
    names = [*place, "item", "outcome", "merged_into", "reasons", "before"]
    left = to_table([one for one in changed if one.change not in STAY], ChangedRow).select(names)
    pq.write_table(left.rename_columns([*names[:-1], "body"]), folder / "removed.parquet", compression="zstd")


def _write(
    path: Path,
    records: Sequence[Record],
    model: type[Record],
    subject: str,
    places: Mapping[str, RowPlace],
    *,
    more: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """The records as a table, each with the place of the item it is about; empty for the whole set.

    `more` are columns of text between the two.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import arrow_schema, to_table

    table = to_table(records, model)
    for name, values in more.items():
        table = table.append_column(name, pa.array(values, pa.string()))
    found = [places.get(getattr(record, subject)) for record in records]
    for field in arrow_schema(RowPlace):
        at: list[Any] = [getattr(place, field.name) if place else None for place in found]
        table = table.append_column(field, pa.array(at, field.type))
    pq.write_table(table, path, compression="zstd")
