"""Answered calls, kept for good: one JSON line each, written before the answer counts.

A folder holds any number of journals (`<name>.jsonl`, one per shard or purpose). Look-ups go over all of
them, so a rebuild reuses every reply whose key is unchanged. Lines hold the raw reply, token usage, latency
and time, which never enter a table. Only keys and file offsets stay in memory, about 200 bytes a call.

Two further kinds of lines stand among the calls: `{"unusable": ...}` marks calls whose request got no usable
reply, and `{"ask_again": ...}` names such a mark whose calls no longer count, so that they are asked anew.
Each line is sealed (`mihakk.machinery.lake.seal`); one that rotted counts as absent, and its call is asked
again.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic import Field

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.lake.mirror import Mirror
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.schemas.record import Record

FSYNC_EVERY = 64
FSYNC_SECONDS = 2.0
PREFIX = b'{"key":"'
MARK = b'{"unusable":'
AGAIN = b'{"ask_again":'


class Entry(Record):
    """One answered call."""

    key: str
    """Digest of everything that could change the answer: full payload with schema, model id and revision."""
    model: str
    revision: str
    text: str
    """The reply as it came."""
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    """Prompt tokens the server had already read."""
    latency: float
    """Seconds from sending to the last byte."""
    at: str
    """UTC, ISO 8601, when the answer was complete."""
    response_model: str = ""
    """The model that answered, as the server names it; empty where it names none, and in older journals."""
    system_fingerprint: str = ""
    """The server's word for weights and settings together, likewise."""
    meta: dict[str, Any] = Field(default_factory=dict)
    """What the caller wants kept beside: item, content hash, prompt name, version and hash, sampling."""


class Mark(Record):
    """Calls of one request that led to no usable reply."""

    unusable: str
    """Id of the mark."""
    tag: str
    """The caller's id of the request."""
    calls: tuple[tuple[str, str], ...]
    """Key and time of each call; the time is empty where the server gave no reply to keep."""
    problem: str
    """Why the last reply is unusable."""


def entries_of(folder: Path) -> Iterator[Entry]:
    """Every entry of a folder of journals, which are only read; damaged lines are left out."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                if (entry := _parse(line)) is not None:
                    yield entry


def now() -> str:
    """The present moment as journals write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """Appends to `<folder>/<name>.jsonl` and finds entries in every journal of the folder.

    A line cut short by a killed run is skipped when read and closed off when appended to. If another process
    is writing the same journal, this one writes beside it (`<name>.2.jsonl`, ...). A folder that mirrors one
    of an object store (`mihakk.machinery.lake.mirror`) is kept in step with it whenever lines are synced to
    disk.

    Raises:
        ExternalFailure: The folder can't be written (full disk, read-only).
    """

    def __init__(self, folder: Path, name: str = "journal") -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._places: dict[bytes, list[tuple[int, int]]] = {}
        """Key -> where its replies stand; more than one where another model answered first."""
        self._marks: dict[str, Mark] = {}
        self._asked_again: set[str] = set()
        self._standing: dict[tuple[str, tuple[tuple[str, str], ...]], Mark] = {}
        """Marks whose requests were not asked anew."""
        self._readers: list[BinaryIO] = []
        self._unsynced = 0
        self._synced_at = time.monotonic()
        self._mirror = Mirror.of(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.path, self._out = own_file(folder, name)
            for path in sorted(folder.glob("*.jsonl")):
                self._index(path)
            self._drop(self._marks[name] for name in self._asked_again if name in self._marks)
            self._standing = {
                (mark.tag, mark.calls): mark
                for name, mark in self._marks.items()
                if name not in self._asked_again
            }
        except OSError as error:
            raise ExternalFailure(
                f"can't keep the journal in {folder}: {error}. Make the folder writable, or set MIHAKK_LAKE"
            ) from error
        self._own = sorted(folder.glob("*.jsonl")).index(self.path)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        try:
            return bytes.fromhex(key) in self._places
        except ValueError:  # somebody else's name for a call
            return False

    def get(self, key: str, by: Collection[str] = ()) -> Entry | None:
        """The first entry of that key, or None; a damaged line counts as absent.

        Args:
            key: Digest as in `Entry.key`.
            by: Names of the model that may have answered, all where empty. Replies of another don't count;
                those of which no name is recorded do.
        """
        raw = bytes.fromhex(key)
        for place in tuple(self._places.get(raw, ())):
            with self._lock:
                reader = self._readers[place[0]]
                reader.seek(place[1])
                line = reader.readline()
            entry = _parse(line)
            if entry is None or entry.key != key:
                with self._lock:
                    self._forget(raw, place)
            elif not by or entry.response_model in ("", *by):
                return entry
        return None

    def append(self, entry: Entry) -> None:
        """Writes one answered call; when this returns, killing the process can't lose it."""
        line = PREFIX + entry.key.encode() + b'",' + _body(entry)[1:]
        with self._lock:
            place = self._own, self._write(seal(line) + b"\n")
            self._places[bytes.fromhex(entry.key)] = [place]

    def mark_unusable(self, keys: Sequence[str], tag: str, problem: str, by: Collection[str] = ()) -> None:
        """Notes that the calls of those keys gave their request no usable reply; once for the same calls."""
        entries = [self.get(key, by) for key in keys]
        calls = tuple((key, entry.at if entry else "") for key, entry in zip(keys, entries, strict=True))
        with self._lock:
            if (tag, calls) in self._standing:
                return
            mark = Mark(unusable=uuid.uuid4().hex, tag=tag, calls=calls, problem=problem)
            self._write(seal(orjson.dumps(mark.model_dump(mode="json"))) + b"\n")
            self._marks[mark.unusable] = self._standing[tag, calls] = mark

    def ask_again(self) -> int:
        """Lets every request that got no usable reply be asked anew; the replies stay in the file.

        Returns:
            How many requests.
        """
        with self._lock:
            chosen = list(self._standing.values())
            self._standing.clear()
            for mark in chosen:
                self._write(seal(AGAIN + orjson.dumps(mark.unusable) + b"}") + b"\n")
                self._asked_again.add(mark.unusable)
            self._drop(chosen)
            return len(chosen)

    def times_asked_again(self, tags: Iterable[str]) -> dict[str, int]:
        """How often requests of those tags had to be asked anew; tags that never had to be are left out."""
        counts = Counter(self._marks[name].tag for name in self._asked_again if name in self._marks)
        return {tag: counts[tag] for tag in sorted(set(tags)) if counts[tag]}

    def entries(self) -> Iterator[Entry]:
        """Every entry of the folder, journal by journal; damaged lines are left out."""
        return entries_of(self.folder)

    def close(self) -> None:
        """Syncs to disk and releases the file; safe to call twice."""
        with self._lock:
            if self._out.closed:
                return
            self._sync()
            if self._mirror:
                self._mirror.merge(self.path)
            self._out.close()
            for reader in self._readers:
                reader.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: bytes) -> int:
        """Appends a line and returns where it begins; the lock is held by whoever calls."""
        offset = None
        try:
            offset = int(self._out.seek(0, os.SEEK_END))
            written = self._out.write(line)
            while written < len(line):
                written += self._out.write(line[written:])
            self._unsynced += 1
            if self._unsynced >= FSYNC_EVERY or time.monotonic() - self._synced_at > FSYNC_SECONDS:
                self._sync()
        except OSError as error:
            # A piece of a line would spoil the next one that fits; nobody else writes this file.
            with suppress(OSError):
                if offset is not None:
                    self._out.truncate(offset)
            raise ExternalFailure(
                f"can't write the journal {self.path}: {error}. "
                "Free space there and run again; answers already written are kept"
            ) from error
        return offset

    def _forget(self, key: bytes, place: tuple[int, int]) -> None:
        left = [one for one in self._places.get(key, ()) if one != place]
        if left:
            self._places[key] = left
        else:
            self._places.pop(key, None)

    def _drop(self, marks: Iterable[Mark]) -> None:
        """Forgets the calls of marks, and finds the later reply of a key that has one already."""
        dropped = {call for mark in marks for call in mark.calls}
        for key in {key for key, _ in dropped}:
            self._places.pop(bytes.fromhex(key), None)
        if not dropped or not self._readers:
            return
        wanted = {key.encode(): key for key, _ in dropped}
        for number, reader in enumerate(self._readers):
            offset = reader.seek(0)
            for line in reader:
                if line.startswith(PREFIX) and line[8:72] in wanted:
                    entry = _parse(line)
                    if entry is not None and (entry.key, entry.at) not in dropped:
                        self._places.setdefault(bytes.fromhex(entry.key), []).append((number, offset))
                offset += len(line)

    def _index(self, path: Path) -> None:
        reader = path.open("rb")
        number = len(self._readers)
        self._readers.append(reader)
        offset = 0
        for line in reader:
            if line.startswith(PREFIX) and line.endswith(b"}\n") and line[72:73] == b'"':
                key = line[8:72]
                with suppress(ValueError):  # a torn line that was closed off later
                    raw = bytes.fromhex(key.decode("ascii"))
                    self._places.setdefault(raw, []).append((number, offset))
            elif line.startswith((MARK, AGAIN)):
                self._note(line)
            offset += len(line)

    def _note(self, line: bytes) -> None:
        with suppress(ValueError):
            found = unsealed(line)
            if "ask_again" in found:
                self._asked_again.add(str(found["ask_again"]))
            else:
                mark = Mark.model_validate(found)
                self._marks[mark.unusable] = mark

    def _sync(self) -> None:
        if self._unsynced:
            os.fsync(self._out.fileno())
            if self._mirror:
                self._mirror.push(self.path)
        self._unsynced = 0
        self._synced_at = time.monotonic()


def own_file(folder: Path, name: str) -> tuple[Path, Any]:
    """Opens `<name>.jsonl` for appending, or the first `<name>.<n>.jsonl` that no other process writes.

    It stays locked until it is closed or its process dies; a line that a killed one left torn is closed off.

    Raises:
        ExternalFailure: All of them are written by others.
    """
    for number in range(1, 1000):
        path = folder / (f"{name}.jsonl" if number == 1 else f"{name}.{number}.jsonl")
        out = path.open("ab", buffering=0)
        try:
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            out.close()
            continue
        _close_torn_line(path, out)
        return path, out
    raise ExternalFailure(
        f"a thousand processes write journals named {name} in {folder}: stop some and run again"
    )


def _close_torn_line(path: Path, out: Any) -> None:
    size = path.stat().st_size
    if size == 0:
        return
    with path.open("rb") as reader:
        reader.seek(size - 1)
        if reader.read(1) != b"\n":
            out.write(b"\n")


def _body(entry: Entry) -> bytes:
    return orjson.dumps(entry.model_dump(mode="json", exclude={"key"}))


def _parse(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate(unsealed(line))
    except ValueError:
        return None
