"""audit/cleaned.json: what the cleaned release of a benchmark says of itself, and what marks it as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from pydantic import Field

from mihakk.releases.release_facts import AgreementFact, AuditorFact, MissRateFact, ReleaseFacts
from mihakk.releases.stored_record import read_stored
from mihakk.schemas.audit import AuditState
from mihakk.schemas.record import Record

FILE = "audit/cleaned.json"


class CleanedTable(Record):
    """One table of the benchmark, as the release holds it."""

    path: str
    """Its file below the release."""
    sheet: str = ""
    """Its sheet, in a workbook."""
    format: str
    config: str = ""
    """Name that `datasets.load_dataset` takes; empty where it can't read the table beside the others."""
    split: str = ""
    rows: int
    original_rows: int
    """Readable or not."""
    options: dict[str, Any] = Field(default_factory=dict)
    """What the reader must be told: `sep`, `encoding`, `column_names`."""


class CleanedRecord(Record):
    """Everything that card, changelog and gates of a cleaned release are made from."""

    name: str
    title: str
    version: str
    source: str
    """What was audited: a file's or folder's name, or `owner/name` on the Hub."""
    revision: str = ""
    """Commit or tag on the Hub."""
    original: str
    """Digest of the benchmark's rows as they were read."""
    data: str
    """Digest of the cleaned files and of the errata."""
    licence: str
    attribution: str = ""
    languages: tuple[str, ...]
    tables: tuple[CleanedTable, ...]
    changes: dict[str, int]
    """Rows per kind of difference from the original."""
    audit_states: dict[AuditState, int]
    """Rows of the release per state of the audit."""
    policy: str
    auditors: tuple[AuditorFact, ...] = ()
    agreement: AgreementFact | None = None
    """Of the people, on the decision."""
    miss_rate: MissRateFact | None = None
    reviewed: int = 0
    """Rows that people settled."""

    @property
    def facts(self) -> ReleaseFacts:
        """The same as a build's release has it, for what cards and gates share."""
        return ReleaseFacts(
            code_version="",
            auditors=self.auditors,
            agreement=self.agreement,
            miss_rate=self.miss_rate,
            unresolved=self.changes.get("waits", 0),
        )

    @property
    def rows(self) -> int:
        """Rows in the release."""
        return sum(table.rows for table in self.tables)

    @property
    def rows_by_split(self) -> dict[str, dict[str, int]]:
        """Config, or file without one, -> split -> rows in the release."""
        rows: dict[str, dict[str, int]] = {}
        for one in self.tables:
            splits = rows.setdefault(one.config or one.path, {})
            splits[one.split] = splits.get(one.split, 0) + one.rows
        return rows

    @property
    def original_rows(self) -> int:
        """Rows of the benchmark."""
        return sum(table.original_rows for table in self.tables)


def read_cleaned(folder: Path) -> CleanedRecord | None:
    """The record of a release folder; None where it has none. `ExternalFailure` where it can't be read."""
    return read_stored(folder / FILE, CleanedRecord, "audit the benchmark again")


def write_cleaned(record: CleanedRecord, folder: Path) -> None:
    """Write the record into a release folder."""
    data = orjson.dumps(record.model_dump(mode="json"), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + b"\n")
