"""The files of an external audit: its cleaned copy, and tables whose rows name their place."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline.external_changes import ChangedRow, changes, name_of_stay, settled_as
from pipeline.external_people import write_review_tables
from pipeline.external_summary import Audited, Outcome
from schemas.audit import Audit, Verdict
from schemas.finding import Finding
from schemas.record import Record
from validators.external.places import with_names

if TYPE_CHECKING:
    from validators.external.places import RowPlace

TABLES = ("changes", "removed", "reported", "repairs", "findings", "audits", "verdicts")


class ReportedRow(Record):
    """A row that stays though a check that only counts objected to it."""

    item: str
    checks: tuple[str, ...] = Field(min_length=1)
    details: tuple[str, ...]
    """What each of the checks said, in their order."""


class OutsideVerdict(Verdict):
    """The verdict on a row, and what becomes of it."""

    outcome: Outcome
    people: str = ""
    """What people settled of the row: `keep`, `discard` or `fix`; empty where they have not."""
    merged_into: str = ""
    """Name of the equal row that stands for this one."""


def write_tables(audited: Audited, folder: Path) -> dict[str, str]:
    """Writes all tables, the cleaned copy and the queue for people into the folder.

    Returns:
        Name of each file's content to its path; `clean` is missing where no item passed.
    """
    from annotation.screens.queue import write_queue
    from mihakk.lake.columns import write_table
    from validators.external.clean import write_clean, write_removed
    from validators.external.repair import CellRepair

    benchmark, places, outcomes = audited.benchmark, audited.places, audited.outcomes
    passed = [name for name, outcome in outcomes.items() if outcome == "pass"]
    suffix = Path(benchmark.source).suffix
    clean = folder / (f"clean{suffix}" if suffix else "clean")
    if passed:
        write_clean(benchmark, passed, clean)
    elif clean.is_dir():  # what an earlier run left here
        shutil.rmtree(clean)
    else:
        clean.unlink(missing_ok=True)
    removed = {v.item: list(v.reasons) for v in audited.verdicts if outcomes[v.item] != "pass"}
    write_removed(benchmark, removed, folder / "removed.parquet", outcomes, audited.merged)
    reported = _reported(audited.findings, set(passed))
    _write(folder / "reported.parquet", reported, ReportedRow, "item", places)
    _write(folder / "findings.parquet", audited.findings, Finding, "subject", places)
    _write(folder / "audits.parquet", audited.audits, Audit, "item", places)
    judged = [
        OutsideVerdict(
            **verdict.model_dump(),
            people=settled_as(verdict.item, audited),
            outcome=outcomes[verdict.item],
            merged_into=name_of_stay(verdict.item, audited),
        )
        for verdict in audited.verdicts
    ]
    _write(folder / "verdicts.parquet", judged, OutsideVerdict, "item", places)
    write_table(folder / "repairs.parquet", benchmark.repairs, CellRepair)
    readable = [
        finding.model_copy(update={"detail": with_names(finding.detail, places)})
        for finding in audited.findings
    ]
    waiting = [verdict for verdict in audited.verdicts if verdict.item not in audited.merged]
    _write(folder / "changes.parquet", changes(audited), ChangedRow, "item", places)
    write_review_tables(folder, audited, readable)
    write_queue(folder / "review_queue.json", benchmark.items, waiting, readable, audited.audits)
    names = [f"{name}.parquet" for name in TABLES] + ["review_queue.json", "summary.json", "report.html"]
    return {Path(name).stem: str(folder / name) for name in ([clean.name] if passed else []) + names}


def _reported(findings: Sequence[Finding], passed: set[str]) -> list[ReportedRow]:
    said: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.subject in passed:
            said[finding.subject].append(finding)
    return [
        ReportedRow(item=item, checks=tuple(f.check for f in found), details=tuple(f.detail for f in found))
        for item, found in said.items()
    ]


def _write(
    path: Path,
    records: Sequence[Record],
    model: type[Record],
    subject: str,
    places: Mapping[str, RowPlace],
) -> None:
    """The records as a table, each with the place of the item it is about; empty for the whole set."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mihakk.lake.columns import arrow_schema, to_table
    from validators.external.places import RowPlace

    table = to_table(records, model)
    found = [places.get(getattr(record, subject)) for record in records]
    for field in arrow_schema(RowPlace):
        values: list[Any] = [getattr(place, field.name) if place else None for place in found]
        table = table.append_column(field, pa.array(values, field.type))
    pq.write_table(table, path, compression="zstd")
