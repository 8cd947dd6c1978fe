"""The tables beside the items: verdicts, scores, findings, errata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mihakk.machinery.lake.columns import arrow_schema
from mihakk.releases.content.item_tables import BATCH_ROWS, batched, write_batches
from mihakk.releases.versions.diff import Change, ReleaseDiff
from mihakk.schemas.audit import AUDIT_STATES, CRITERIA, Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection, without_notes
from mihakk.schemas.review import Resolution, ReviewedContent, Vote

_TEXT = pa.string()
_VERDICTS = pa.schema(
    [
        ("item", _TEXT),
        ("released", pa.bool_()),
        ("status", _TEXT),
        ("audited", pa.bool_()),
        ("audit_state", _TEXT),
        ("policy", _TEXT),
        ("reasons", pa.list_(_TEXT)),
        ("rules", pa.list_(pa.struct([("rule", _TEXT), ("fired", pa.bool_())]))),
        ("review", _TEXT),
        ("review_by", _TEXT),
        ("review_reason", _TEXT),
        ("review_votes", pa.int32()),
    ]
)
_SCORES = pa.schema(
    [
        ("item", _TEXT),
        ("auditor", _TEXT),
        ("status", _TEXT),
        ("total", pa.int32()),
        *((criterion, pa.int32()) for criterion in CRITERIA),
        ("issues", pa.list_(pa.struct([("criterion", _TEXT), ("explanation", _TEXT)]))),
        ("problem", _TEXT),
        ("reply_key", _TEXT),
    ]
)
_REVIEWED = pa.schema(
    [
        *((name, _TEXT) for name in ("item", "content_hash", "language", "stratum")),
        ("stratum_items", pa.int32()),
        ("unflagged_items", pa.int32()),
        ("sampled", pa.bool_()),
        ("votes_needed", pa.int32()),
        ("scores", pa.list_(pa.struct([("auditor", _TEXT), ("criterion", _TEXT), ("score", pa.int32())]))),
    ]
)
_VOTES = pa.schema(
    [
        *((name, _TEXT) for name in ("item", "content_hash")),
        *((name, pa.int32()) for name in ("vote", "voter")),
        *((name, _TEXT) for name in ("decision", "reason")),
        *((name, pa.list_(_TEXT)) for name in ("met", "unmet")),
        *((name, pa.bool_()) for name in ("first", "last", "adjudicator")),
    ]
)
_BLIND = (pa.field("blind_answer", _TEXT), pa.field("blind_differs", pa.bool_()))


def _write(rows: Iterable[dict[str, Any]], schema: Any, path: Path) -> None:
    write_batches(_batches(rows, schema), schema, path)


def _batches(rows: Iterable[dict[str, Any]], schema: Any) -> Iterator[Any]:
    return (pa.RecordBatch.from_pylist(part, schema=schema) for part in batched(rows, BATCH_ROWS))


def _write_sorted(rows: Iterable[dict[str, Any]], schema: Any, path: Path, *by: str) -> None:
    """Sorted as columns: as records, the rows of a large set take ten times the room."""
    table = pa.Table.from_batches(_batches(rows, schema), schema=schema)
    order = pc.sort_indices(table, [(name, "ascending") for name in by])
    parts = (table.take(order.slice(at, BATCH_ROWS)) for at in range(0, table.num_rows, BATCH_ROWS))
    write_batches((part.combine_chunks().to_batches()[0] for part in parts), schema, path)


def write_verdicts(
    verdicts: Iterable[Verdict], resolutions: Iterable[Resolution], released: set[str], path: Path
) -> None:
    """Write what rules, auditors and people said of every item, released or not."""
    decided = {resolution.item: resolution for resolution in resolutions}

    def row(verdict: Verdict) -> dict[str, Any]:
        people = decided.get(verdict.item) or Resolution(item=verdict.item, outcome="none")
        return {
            **verdict.model_dump(exclude={"rules"}),
            "audited": verdict.audit_state == "both",
            "audit_state": AUDIT_STATES[verdict.audit_state],
            "released": verdict.item in released,
            "rules": [{"rule": name, "fired": fired} for name, fired in sorted(verdict.rules.items())],
            "review": people.outcome,
            "review_by": people.by,
            "review_reason": people.reason,
            "review_votes": people.votes,
        }

    _write_sorted(map(row, verdicts), _VERDICTS, path, "item")


def write_scores(audits: Iterable[Audit], path: Path) -> None:
    """Write each auditor's ten scores of every item it saw, and its blind answers where any was asked for."""

    def row(audit: Audit) -> dict[str, Any]:
        scores = {str(criterion): score for criterion, score in audit.scores.items()}
        return audit.model_dump(exclude={"scores"}) | scores | {"total": audit.total}

    blind = any(audit.blind_answer for audit in audits)
    schema = pa.schema([*_SCORES, *_BLIND]) if blind else _SCORES
    _write_sorted(map(row, audits), schema, path, "item", "auditor")


def write_findings(findings: Iterable[Finding], path: Path) -> None:
    """Write what the checks objected to."""
    ordered = sorted(findings, key=lambda one: (one.check, one.subject, one.where, one.detail))
    _write((one.model_dump() for one in ordered), arrow_schema(Finding), path)


def write_review(reviewed: Sequence[ReviewedContent], votes: Sequence[Vote], folder: Path) -> None:
    """Write what people judged and how they voted; nothing where nobody was asked."""
    if not reviewed:
        return

    def row(content: ReviewedContent) -> dict[str, Any]:
        scores = [
            {"auditor": auditor, "criterion": criterion, "score": score}
            for auditor, said in sorted(content.scores.items())
            for criterion, score in sorted(said.items())
        ]
        return content.model_dump(exclude={"scores"}) | {"scores": scores}

    _write(map(row, reviewed), _REVIEWED, folder / "reviewed.parquet")
    _write((one.model_dump() for one in votes), _VOTES, folder / "votes.parquet")


class Erratum(Record):
    """Something left out of a release, why, and on what evidence."""

    id: str
    """Of an item, or of a record no item was made from."""
    reason: str
    evidence: str
    source: str = ""
    kept: str = ""
    """For a duplicate: what stands for it."""
    last_version: str = ""
    """The last release that had the item; empty for what was never released."""


def errata(
    removed: Iterable[Rejection],
    released: set[str],
    previous: Path | None,
    changes: ReleaseDiff | None,
    *,
    blind: bool = False,
) -> list[Erratum]:
    """The errata of a release, sorted: what this build left out, and every item that earlier releases had.

    An item that `changes` since the release before call removed is named even if the build is silent.
    A blind one names nothing that no version had: how many questions were made of a record and are not asked
    may tell what a check says of their golds. The lake keeps what became of them. Nor does it say anew why an
    item left that an earlier version had lost: a later reason may rest on labels of others.
    """
    gone = {} if changes is None else {one.id: one for one in changes.changes if one.kind == "removed"}
    before = changes.old if changes is not None else ""
    last = dict.fromkeys(gone, before)
    earlier = [] if previous is None else read_removed(previous)
    last |= {one.id: one.last_version for one in earlier if one.last_version and one.id not in gone}
    rows = [
        Erratum(
            id=one.record,
            reason=one.reason,
            evidence=one.detail,
            source=one.source,
            kept=one.kept,
            last_version=last.get(one.record, ""),
        )
        for one in removed
    ]
    if blind:
        told = {one.id for one in earlier if one.last_version} - gone.keys()
        rows = [one for one in rows if one.last_version and one.id not in told]
    stated = {one.id for one in rows}
    # Of a sealed question no verdict is printed.
    seen = "" if blind else "see audit/verdicts.parquet"
    rows += [
        Erratum(id=name, reason=one.reason, evidence=seen, last_version=before)
        for name, one in gone.items()
        if name not in stated
    ]
    stated |= gone.keys()
    rows += [one for one in earlier if one.last_version and one.id not in stated | released]
    return sorted(rows, key=lambda one: (one.id, one.reason, one.evidence))


def write_removed(rows: Iterable[Erratum], path: Path) -> None:
    """Write the errata."""
    _write((one.model_dump() for one in rows), arrow_schema(Erratum), path)


def read_removed(folder: Path) -> list[Erratum]:
    """The errata of a release folder, without the notes of people that earlier versions published there."""
    path = folder / "errata" / "removed.parquet"
    rows = [Erratum(**row) for row in pq.read_table(path).to_pylist()] if path.is_file() else []
    return [one.model_copy(update={"evidence": without_notes(one.reason, one.evidence)}) for one in rows]


def write_changes(diff: ReleaseDiff, path: Path) -> None:
    """Write the changes since the release before."""
    _write((change.model_dump() for change in diff.changes), arrow_schema(Change), path)


def read_changes(folder: Path) -> list[Change]:
    """What a release folder lists against the version before; nothing of a first version."""
    path = folder / "errata" / "changes.parquet"
    return [Change(**row) for row in pq.read_table(path).to_pylist()] if path.is_file() else []
