"""What each stage leaves in the ledger at the end of a run: which rows stand, which went and why."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

from mihakk.machinery.ids import SCORED_FIELDS
from mihakk.machinery.lake import Stage
from mihakk.machinery.lake.ledger import Ledger, Line, Moves, Note, parts_digest, text_key
from mihakk.machinery.text import key
from mihakk.machinery.unpacked import strings
from mihakk.pipeline.build import Build
from mihakk.schemas.manifest import StageManifest
from mihakk.schemas.rejection import without_notes
from mihakk.schemas.stages import (
    AUDITED,
    CHECKED,
    CURATED,
    GENERATED,
    NORMALIZED,
    RELEASED,
    REVIEWED,
    SCRAPED,
)

RECORDS = ("poems", "idioms")
_DETAIL = 160
"""Characters of the evidence of a rejection that are kept."""
_SHOWN = 12
"""Characters from which a text of a rejected row can be found again."""


def ledger_of(build: Build) -> Ledger:
    """The benchmark's ledger."""
    return Ledger(build.lake.storage)


def note_stage(build: Build, manifest: StageManifest, run: str) -> Note | None:
    """Adds what a finished stage changed to the ledger; None where all its parts are as they were noted."""
    ledger, stage = ledger_of(build), build.stage(manifest.stage)
    before = ledger.latest(stage.name)
    shards = {shard.shard: parts_digest(shard.parts) for shard in manifest.shards}
    known = before.shards if before else None
    if known == shards:
        return None
    counts: dict[str, Moves] = {}
    for shard in manifest.shards:
        mine = counts.get(shard.source, Moves())
        counts[shard.source] = Moves(
            seen=mine.seen + shard.counts.written, rejected=mine.rejected + shard.counts.rejected
        )
    note = Note(
        run=run,
        stage=stage.name,
        code=manifest.code_version,
        config=manifest.config_digest[:16],
        shards=shards,
        moves=counts,
        version=_version(stage, manifest) if stage.name == RELEASED else "",
    )
    if before is None:
        begun = note.at.isoformat(timespec="microseconds")
        note = note.model_copy(update={"first": any(one.started < begun for one in manifest.shards)})
    else:
        # What the audit calls its settings holds a digest of its input too.
        names = ("code",) if stage.name == AUDITED else ("code", "config")
        causes = (name for name in names if getattr(before, name) != getattr(note, name))
        note = note.model_copy(update={"causes": tuple(causes)})
    changed = [name for name in shards if (known or {}).get(name) != shards[name]]
    return ledger.add(note, (line for shard in changed for line in _lines(stage, shard)))


def _version(stage: Stage, manifest: StageManifest) -> str:
    for shard in manifest.shards:
        found = stage.part("release", shard.shard, ["version"])
        if found is not None and found.num_rows:
            return str(found["version"][0].as_py())
    return ""


def _lines(stage: Stage, shard: str) -> Iterator[Line]:
    yield from _TOLD.get(stage.name, _nothing)(stage, shard)
    gone: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(stage, "rejected", shard, "record", "reason", "detail", "kept", "body"):
        gone.setdefault(row["record"], []).append(row)
    for name, rows in gone.items():
        said = rows[0]
        yield Line(
            name,
            shard,
            "out",
            ",".join(dict.fromkeys(row["reason"] for row in rows)),
            ref=said["kept"] or "",
            place=_place(name, said["detail"] or "") if stage.name == SCRAPED else "",
            detail=without_notes(said["reason"], said["detail"] or "")[:_DETAIL],
            keys=b"".join(_texts(said["body"])) if stage.name == SCRAPED else b"",
        )


def _place(name: str, detail: str) -> str:
    """Where a row stands that never became a record: its name, or what its rejection says first."""
    head = detail.partition(": ")[0]
    return head if "#" in head and " " not in head else name


def _texts(body: str) -> Iterator[bytes]:
    """Keys of the texts in a row that was rejected before it had any."""

    try:
        plain = orjson.loads(body)
    except orjson.JSONDecodeError:
        plain = body
    for text in {one for one in strings(plain) if len(one) >= _SHOWN}:
        if folded := key(text, "ar"):
            yield text_key(folded)


def _nothing(_: Stage, __: str) -> Iterator[Line]:
    yield from ()


def _rows(stage: Stage, table: str, shard: str, *columns: str) -> list[dict[str, Any]]:
    part = stage.part(table, shard)
    if part is None or not part.num_rows:
        return []
    found: list[dict[str, Any]] = (
        part.select([n for n in columns if n in part.column_names]) if columns else part
    ).to_pylist()
    return found


def _content(row: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(row, default=str), digest_size=8).digest()


def _read(stage: Stage, shard: str, *, dated: bool) -> Iterator[Line]:
    """Records as they stand; of where they come from only the place counts, not when it was fetched."""
    for table in RECORDS:
        for row in _rows(stage, table, shard):
            origin = row.pop("provenance")
            place = origin["url"] if dated else ""
            yield Line(row["id"], shard, "in", place=place, content=_content(row))


def _normalized(stage: Stage, shard: str) -> Iterator[Line]:
    for row in _rows(stage, "poems", shard, "id", "couplets"):
        halves = (one[half] for one in row["couplets"] for half in ("first", "second"))
        keys = b"".join(text_key(half["key"]) for half in halves if half and half["key"])
        yield Line(row["id"], shard, "in", keys=keys)
    for row in _rows(stage, "idioms", shard, "id", "phrase"):
        yield Line(row["id"], shard, "in", keys=text_key(row["phrase"]["key"]))


def _generated(stage: Stage, shard: str) -> Iterator[Line]:
    for row in _rows(stage, "items", shard, "id", "origin", *SCORED_FIELDS):
        origin = (row.pop("origin")["records"] or [""])[0]
        yield Line(row["id"], shard, "in", ref=origin, content=_content(row))


def _checked(stage: Stage, shard: str) -> Iterator[Line]:
    found: dict[str, set[str]] = {}
    for row in _rows(stage, "findings", shard, "check", "severity", "subject"):
        if row["severity"] != "report" and row["subject"] != "*":
            found.setdefault(row["subject"], set()).add(row["check"])
    for name, checks in found.items():
        yield Line(name, shard, "said", ",".join(sorted(checks)))


def _audited(stage: Stage, shard: str) -> Iterator[Line]:
    for row in _rows(stage, "verdicts", shard, "item", "status", "rules"):
        if row["status"] != "pass":
            fired = sorted(name for name, fires in row["rules"] if fires)
            yield Line(row["item"], shard, "said", f"{row['status']}:{','.join(fired)}")


def _reviewed(stage: Stage, shard: str) -> Iterator[Line]:
    for row in _rows(stage, "resolutions", shard, "item", "outcome", "by", "votes"):
        if row["outcome"] != "none":
            yield Line(row["item"], shard, "said", f"{row['outcome']}:{row['by']}:{row['votes']}")


_TOLD: dict[str, Callable[[Stage, str], Iterator[Line]]] = {
    SCRAPED: partial(_read, dated=True),
    NORMALIZED: _normalized,
    CURATED: partial(_read, dated=False),
    GENERATED: _generated,
    CHECKED: _checked,
    AUDITED: _audited,
    REVIEWED: _reviewed,
}
