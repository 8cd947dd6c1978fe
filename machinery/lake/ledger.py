"""What became of every row, run by run: files beside the stages that are added and never changed.

`<lake>/<benchmark>/ledger/<run>-<stage>-<digest>.parquet` holds what differs from the runs before: a stage of
which no part changed writes none, so a night that does nothing costs nothing. The newest line about a row and
event counts; one without a mark says that it no longer holds.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake.columns import read_parquet
from mihakk.machinery.lake.storage import Storage
from mihakk.schemas.record import Record

FOLDER = "ledger"
KEY_BYTES = 6
"""Of the digest by which a text is found again: a false hit among a million texts has odds of 1 in 10^8."""
CONTENT_BYTES = 6
"""Of a mark: they differ where a row changed; the others tell where in its source it stands."""
_MARK_BYTES = 8
_NOTE = b"mihakk.note"
_ROWS = 10_000
"""Lines of a row group."""
_SAID = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("shard", _SAID),
        ("event", _SAID),
        ("reason", _SAID),
        ("ref", pa.string()),
        ("place", pa.string()),
        ("detail", pa.string()),
        ("keys", pa.binary()),
        ("mark", pa.binary(_MARK_BYTES)),
    ]
)

Event = Literal["in", "out", "said"]
"""in: the stage passed it on; out: it rejected or merged it; said: what it found or decided about it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a stage at the end of a run."""

    id: str
    shard: str
    event: Event
    reason: str = ""
    """Of `out` why, of `said` what."""
    ref: str = ""
    """What it was made from; of a duplicate, what stands for it."""
    place: str = ""
    """Where in its source it stands."""
    detail: str = ""
    keys: bytes = field(default=b"", repr=False)
    """`text_key` of each of its texts, one after the other."""
    content: bytes = field(default=b"", repr=False)
    """What of it is compared with the runs before, besides the rest; not kept."""

    def mark(self) -> bytes:
        """Digest of all but shard and place, then of the place: a row that only moved has not changed."""
        head = "\x1f".join((self.reason, self.ref, self.detail)).encode("utf-8", "surrogatepass")
        what = hashlib.blake2b(head + b"\x1f" + self.keys + self.content, digest_size=CONTENT_BYTES)
        place = self.place.encode("utf-8", "surrogatepass")
        return what.digest() + hashlib.blake2b(place, digest_size=_MARK_BYTES - CONTENT_BYTES).digest()


class Moves(Record):
    """What a run changed of one source's rows in one stage."""

    seen: int = 0
    """Rows that stand now."""
    new: int = 0
    changed: int = 0
    vanished: int = 0
    rejected: int = 0
    """Rows that stand rejected now."""


class Note(Record):
    """What stands at the head of one file of the ledger."""

    run: str
    """UTC start of the run."""
    stage: str
    code: str
    """Digest of the code behind the stage."""
    config: str
    """Digest of its part of the config."""
    shards: dict[str, str]
    """Shard to the digest of its parts."""
    moves: dict[str, Moves] = Field(default_factory=dict)
    """By source."""
    causes: tuple[str, ...] = ()
    """What of `code` and `config` differs from the note before."""
    first: bool = False
    """Rows that an earlier run had made are noted for the first time: what seems new may be old."""
    version: str = ""
    """Of the last stage: the release that stands."""

    @property
    def at(self) -> datetime:
        """When the run began."""
        return datetime.strptime(self.run, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)


def text_key(key: str) -> bytes:
    """By what a text is found again, from its comparison key (`mihakk.machinery.text.key`)."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


class Ledger:
    """One benchmark's ledger."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._read: dict[str, tuple[Note, pa.Table]] = {}
        """Files that questions have gone through: they never change, and one answer takes many questions."""

    def notes(self, stage: str = "", after: str = "") -> list[Note]:
        """The heads of all files, of one stage and of runs after another if they are named, oldest first."""
        names = self._names(stage)
        return [self._note(name) for name in names if name.partition("-")[0] > after]

    def latest(self, stage: str, until: str = "") -> Note | None:
        """The head of a stage's newest file, of no run after `until` if it is named."""
        names = [name for name in self._names(stage) if not until or name.partition("-")[0] <= until]
        return self._note(names[-1]) if names else None

    def add(self, note: Note, lines: Iterable[Line]) -> Note:
        """Writes what differs from the runs before and gives the note with what moved.

        Args:
            note: Its `moves` hold what stands; new, changed and vanished are counted here.
            lines: Of the shards that are not as the newest note of the stage has them, all.
        """
        before = self.latest(note.stage)
        known = before.shards if before else {}
        changed = {shard for shard, digest in note.shards.items() if known.get(shard) != digest}
        old = self._standing(note.stage, changed | (known.keys() - note.shards.keys())) if before else {}
        counts = {source: one.model_dump() for source, one in note.moves.items()}

        def moved(shard: str, event: str, what: str) -> None:
            if event == "in":
                mine = counts.setdefault(shard.rpartition("-")[0], Moves().model_dump())
                mine[what] += 1

        def differing() -> Iterator[tuple[Line, bytes | None]]:
            for line in lines:
                mark = line.mark()
                _, stood = old.pop((line.id, line.event), ("", None))
                if stood is None or mark[:CONTENT_BYTES] != stood[:CONTENT_BYTES]:
                    moved(line.shard, line.event, "new" if stood is None else "changed")
                if mark != stood:
                    yield line, mark
            for (name, event), (shard, _) in old.items():
                moved(shard, event, "vanished")
                yield Line(name, shard, event), None

        sink = io.BytesIO()
        with pq.ParquetWriter(sink, _SCHEMA, compression="zstd") as writer:
            for batch in _batches(differing()):
                writer.write_batch(batch)
            moves = {source: Moves(**one) for source, one in sorted(counts.items())}
            note = note.model_copy(update={"moves": moves})
            writer.add_key_value_metadata({_NOTE: note.model_dump_json(exclude_defaults=True).encode()})
        data = sink.getvalue()
        self._storage.write(self._path(f"{note.run}-{note.stage}-{_name_digest(data)}.parquet"), data)
        return note

    def lines(self, chosen: pc.Expression, stage: str = "") -> Iterator[tuple[Note, dict[str, Any]]]:
        """Lines that an expression chooses, of one stage if it is named, oldest first.

        One whose `mark` is None says that the line before of its row and event holds no longer.
        """
        for note, table in self._tables(stage):
            for row in table.filter(chosen).to_pylist():
                yield note, row

    def with_text(self, keys: Collection[bytes]) -> set[str]:
        """Ids of the rows that had one of the texts in any run."""
        found: set[str] = set()
        for _, whole in self._tables():
            table = whole.filter(pc.greater(pc.binary_length(whole["keys"]), 0))
            for row, held in zip(table["id"].to_pylist(), table["keys"].to_pylist(), strict=True):
                if any(held[at : at + KEY_BYTES] in keys for at in range(0, len(held), KEY_BYTES)):
                    found.add(row)
        return found

    def _tables(self, stage: str = "") -> Iterator[tuple[Note, pa.Table]]:
        for name in self._names(stage):
            if name not in self._read:
                self._read[name] = self._note(name), self._table(name)
            yield self._read[name]

    def _standing(self, stage: str, shards: set[str]) -> dict[tuple[str, Event], tuple[str, bytes]]:
        """What the runs before left in some shards: row and event to shard and mark."""
        found: dict[tuple[str, Event], tuple[str, bytes]] = {}
        for name in self._names(stage):
            table = self._table(name, ["id", "event", "shard", "mark"])
            columns = (table[column].to_pylist() for column in table.column_names)
            for row, event, shard, mark in zip(*columns, strict=True):
                if mark is None:
                    found.pop((row, event), None)
                else:
                    found[row, event] = shard, mark
        return {row: state for row, state in found.items() if state[0] in shards}

    def _names(self, stage: str = "") -> list[str]:
        names = self._storage.list(self._path())
        return [name for name in names if name.endswith(".parquet") and (not stage or f"-{stage}-" in name)]

    def _table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        data = self._storage.read(self._path(name))
        if not name.endswith(f"-{_name_digest(data)}.parquet"):
            raise self._damaged(name, "its digest is not that in its name")
        return read_parquet(data, columns)

    def _note(self, name: str) -> Note:
        try:
            with self._storage.open(self._path(name)) as file:
                metadata = pq.read_metadata(file).metadata
            return Note.model_validate_json((metadata or {})[_NOTE])
        except (pa.ArrowInvalid, OSError, KeyError, ValidationError) as error:
            raise self._damaged(name, str(error).partition("\n")[0]) from error

    def _damaged(self, name: str, what: str) -> UsageError:
        return UsageError(
            f"{self._path(name)} is damaged ({what}): restore it from a backup, "
            "or delete it; then what it told of is forgotten"
        )

    def _path(self, *parts: str) -> str:
        return self._storage.path(FOLDER, *parts)


def _batches(lines: Iterator[tuple[Line, bytes | None]]) -> Iterator[pa.RecordBatch]:
    rows: list[dict[str, Any]] = []
    for line, mark in lines:
        rows.append({name: getattr(line, name) for name in _SCHEMA.names[:-1]} | {"mark": mark})
        if len(rows) == _ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)
            rows = []
    yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)


def _name_digest(data: bytes) -> str:
    """What a file's name says of its bytes."""
    return hashlib.sha256(data).hexdigest()[:12]


def parts_digest(parts: Mapping[str, str]) -> str:
    """What `Note.shards` holds of a shard's parts."""
    return hashlib.blake2b(repr(sorted(parts.items())).encode(), digest_size=6).hexdigest()
