"""What a hub and this repository have sealed and printed, as a build heeds it.

What is printed is public: its digests need no key. What is sealed is kept under the secret of blind releases:
without it, whoever has the digests can test no guess with them, and learns only how many there are.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import orjson

from mihakk.machinery.settings import REFERENCE, SAMPLES
from mihakk.machinery.unpacked import strings
from mihakk.releases.content.fingerprints import (
    POEM,
    as_poem,
    fingerprints,
    own_marks,
    poem_marks,
    readings,
    shown_marks,
    work_marks,
)
from mihakk.releases.content.split import LABELS, source_work
from mihakk.schemas.item import ChoiceItem, Item

BYTES = 16
"""Of a digest."""
WAITS = "waits_for_seal"
"""Why an item is left out: a blind release of the hub has sealed its text."""
PRINTED = "blind_printed"
"""Why an item can't be sealed: this hub or this repository has printed its text with the gold."""
Works = Mapping[str, Sequence[str]]
"""Id of a poem -> the lines of all its couplets, and of poems merged with it: they share its labels."""

_REMEMBERED = 1 << 18
"""Fingerprints that are kept as sealed by nobody."""


def open_digest(mark: str) -> bytes:
    """Digest of a fingerprint of what is printed."""
    return hashlib.sha256(mark.encode()).digest()[:BYTES]


def sealed_digest(key: bytes, mark: str) -> bytes:
    """Digest of a fingerprint of what is sealed."""
    # Keyed once: a copy takes half of what `hmac.digest` does, and there are millions.
    found = _keyed(key).copy()
    found.update(mark.encode())
    return found.digest()[:BYTES]


@lru_cache(maxsize=4)
def _keyed(key: bytes) -> hmac.HMAC:
    return hmac.new(key, b"text\x1f", "sha256")


@dataclass(frozen=True)
class Seals:
    """What is printed, and what is sealed by which benchmark."""

    printed: tuple[Container[bytes], ...] = ()
    """Digests of what releases of the hub have printed; this repository's data are known anyway."""
    sealed: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    """Benchmark -> digests of what it keeps sealed."""
    own: str = ""
    """The benchmark that is built, where it is blind: it may seal again what it has sealed."""
    key: bytes = b""
    """The secret; empty where nothing is sealed."""
    ended: frozenset[bytes] = frozenset()
    """Digests of what was sealed once: it may be printed, and not be sealed again."""
    works: Works = field(default_factory=dict)
    """The poems of the items that are built."""
    _poems: dict[str, frozenset[str]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _nobodys: set[str] = field(default_factory=set, init=False, compare=False, repr=False)
    """Fingerprints that were looked for and that nobody has sealed: most stand in many rows."""

    def waiting(self, items: Iterable[tuple[Item, Mapping[str, Any]]]) -> dict[str, str]:
        """Id of an item that must wait, each given with its row as released -> who sealed its text."""
        told = ((item.id, row_tells(row) | self.poem(item) | self.marks(item)) for item, row in items)
        found = ((name, self.sealed_by(marks, self.own)) for name, marks in told)
        return {name: other for name, other in found if other}

    @property
    def others(self) -> bool:
        """Whether any other benchmark keeps something sealed."""
        return not self.sealed.keys() <= {self.own}

    def has_sealed(self, marks: Iterable[str]) -> bool:
        """Whether this benchmark itself has sealed any of it."""
        sealed = self.sealed.get(self.own, frozenset())
        return bool(sealed) and any(sealed_digest(self.key, mark) in sealed for mark in marks)

    def sealed_by(self, marks: Iterable[str], allowed: str = "") -> str:
        """A benchmark other than `allowed` that has sealed any of it; empty where none has."""
        if not self.sealed:
            return ""
        unknown = {mark: sealed_digest(self.key, mark) for mark in marks if mark not in self._nobodys}
        found = [name for name, own in self.sealed.items() if not own.isdisjoint(unknown.values())]
        if not found:
            if len(self._nobodys) > _REMEMBERED:
                self._nobodys.clear()
            self._nobodys.update(unknown)
        return min((name for name in found if name != allowed), default="")

    def quoted(self, row: Mapping[str, Any]) -> str:
        """The benchmark that has sealed a text of a row that is to be printed; empty where none has."""
        return self.sealed_by(row_tells(row)) if self.sealed else ""

    def marks(self, item: Item) -> frozenset[str]:
        """Fingerprints of what is sealed with an item: its texts; where a label is asked, its whole poem."""
        own = sealed_marks(item.model_dump())
        return own | self.poem(item) if is_label(item) else own

    def poem(self, item: Item) -> frozenset[str]:
        """What stands for the whole poem that an item is of; nothing where it is of none."""
        name = source_work(item)
        if name not in self._poems:
            self._poems[name] = poem_marks(self.works.get(name, ()))
        return self._poems[name]

    def is_printed(self, marks: Collection[str]) -> bool:
        """Whether the hub, or this repository's own data, has printed any of it, or told its gold."""
        if not marks:
            return False  # this repository's data are not read then
        lines = {mark.removeprefix(POEM) for mark in marks}
        every = lines.union(marks)
        return (
            not repository_marks().isdisjoint(lines)
            or any(open_digest(mark) in one for mark in every for one in self.printed)
            or (bool(self.ended) and any(sealed_digest(self.key, mark) in self.ended for mark in every))
        )


def row_tells(row: Mapping[str, Any]) -> frozenset[str]:
    """Fingerprints of what an open row tells of: its lines, and the poems that they are of."""
    marks = shown_marks(row)
    return as_poem(marks) | marks


def is_label(item: Item) -> bool:
    """Whether an item asks for a class that a whole poem has."""
    return isinstance(item, ChoiceItem) and bool(LABELS & set(item.option_kinds))


def sealed_marks(row: Mapping[str, Any]) -> frozenset[str]:
    """Fingerprints of what is sealed with an opened row or item, as far as the row itself tells."""
    is_class = LABELS & set(row.get("option_kinds") or ())
    own = own_marks(row)
    return frozenset(own | as_poem(own) | work_marks(row) if is_class else own)


def question_digests(rows: Iterable[Mapping[str, Any]]) -> frozenset[bytes]:
    """What sealed questions show as they are published, and the poems that it is of; under no secret."""
    marks = set[str]().union(*map(own_marks, rows))
    return frozenset(sealed_digest(b"", mark) for mark in as_poem(marks) | marks)


@cache
def repository_marks() -> frozenset[str]:
    """Fingerprints of this repository's own data, and of the poems whose metre stands there."""
    # A build repairs the encoding of a sample, which is no less told for that.
    told = (text for path in sorted(SAMPLES.glob("*.jsonl")) for text in _strings_of(path))
    marks = fingerprints(form for text in told for form in readings(text))
    for path in sorted(REFERENCE.glob("*.tsv")):
        marks |= set(_poems_named(path))
    lines = (
        line for path in sorted(REFERENCE.glob("*.yaml")) for line in path.read_text("utf-8").splitlines()
    )
    # Short ones are names and words.
    return frozenset(marks | {mark for mark in fingerprints(lines) if not mark.startswith("=")})


def _strings_of(path: Any) -> Iterator[str]:
    for line in path.read_bytes().splitlines():
        yield from strings(orjson.loads(line))


def _poems_named(path: Any) -> Iterator[str]:
    """Works whose labels a table of the reference data gives by their ids."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        for row in rows:
            for column, prefix in _ID_COLUMNS.items():
                if row.get(column):
                    yield f"work {prefix}{row[column]}"


_ID_COLUMNS = {"ghazal": "hafez-", "ganjoor_id": "ganjoor-"}
"""Column of a reference table that names poems -> what their record ids begin with."""
