"""Benchmarks and overlays that the tests of overlays share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mihakk.pipeline.external_audit import AuditJob, run_audit
from mihakk.releases.content.checksum import file_digest
from mihakk.releases.overlay.changes import (
    Overlay,
    PatchedTable,
    RowChange,
    row_digests,
    rows_digest,
    write_overlay,
)
from mihakk.releases.overlay.patching import verify
from mihakk.validators.external.table import Table

MAPPING = "question=q,choices=A+B+C,gold=gold,id=name"


ROWS: list[dict[str, Any]] = [
    {"name": "r0", "q": "ما ضد كلمة النور؟", "A": "الظلام", "B": "الضوء", "C": "البرق", "gold": "A"},
    {"name": "r1", "q": "ما جمع كلمة قلم؟", "A": "أقلام", "B": "أقلام", "C": "قلمان", "gold": "A"},
    {"name": "r2", "q": "ما ضد كلمة األرض؟", "A": "السماء", "B": "البحر", "C": "الجبل\nو«التل»", "gold": "A"},
    {"name": "r3", "q": "ما مرادف كلمة ليث؟", "A": "ذئب", "B": "نمر", "C": "أسد", "gold": "E"},
    {"name": "r4", "q": "ما ضد كلمة الحر؟", "A": "البرد", "B": "الدفء", "C": "الصيف", "gold": "A"},
    {"name": "r5", "q": "ما ضد كلمة الحر؟", "A": "البرد", "B": "الدفء", "C": "الصيف", "gold": "A"},
]
"""The second has one option twice, the third a letter out of its place, the fourth a gold that is not there;
the last two are equal but for their ids."""


LINES = {"separators": (",", ": "), "ensure_ascii": False}


def lines(rows: list[dict[str, Any]], end: str = "\n", **style: Any) -> bytes:
    """Rows as JSON lines."""
    return "".join(json.dumps(row, **(LINES | style)) + end for row in rows).encode()


def audited(source: Path, out: Path, mapping: str = MAPPING, **more: Any) -> Path:
    """The folder of an audit by rules that repairs what is certain."""
    options: dict[str, Any] = {"licence": "CC-BY-4.0", "repair": True} | more
    run_audit(AuditJob(source=str(source), mapping=mapping, folder=out, **options), lambda _: None)
    return out


def by_hand(folder: Path, table: Table, *changes: dict[str, Any], **head: Any) -> Path:
    """An overlay of one table; each change names its row."""
    digests = row_digests(table)
    rows = [
        RowChange(table=table.name, digest=digests[one["row"]], reason="corrected", **one) for one in changes
    ]
    gone = {one.row for one in rows if one.action == "exclude"}
    left = rows_digest(digest for number, digest in digests.items() if number not in gone)
    path, whole = table.name, rows_digest(digests.values())
    if table.file is None:
        path += ".parquet"
    elif table.file.is_file():
        whole = file_digest(table.file)
    one = PatchedTable(
        name=table.name, path=path, split="test", rows=len(digests), digest=whole, patched="", patched_rows=left
    )  # fmt: skip
    told: dict[str, Any] = {"name": "bench", "dataset": "owner/bench", "loaded": "files", "mapping": MAPPING}
    told |= {"licence": "CC-BY-4.0"} | head
    overlay = Overlay(title="bench", version="0.1.0", tables=(one,), **told)
    write_overlay(overlay, rows, folder)
    return folder


def kinds(overlay: Path, upstream: Path) -> list[tuple[str, int | None]]:
    return [(one.kind, one.row) for one in verify(overlay, str(upstream))]
