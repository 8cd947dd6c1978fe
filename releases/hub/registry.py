"""The registry of an embedded Hub: what its benchmarks, in all their versions, have sealed or printed.

It lies in the hidden folder `.registry` of the Hub, on its private side. A version enters it before it is
published. What an open version prints is read from the version itself, once something is sealed or to be.
What a blind one sealed is not: a Hub whose registry is damaged, or lacks a blind version, publishes nothing.
Once anything is sealed the index is signed under the secret, so that an edited one is a damaged one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from pydantic import Field, ValidationError, model_serializer

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.whole import write_whole
from mihakk.releases.content.blind import find_answers, opened_rows, read_answers
from mihakk.releases.content.checksum import file_digest
from mihakk.releases.content.digests import DigestSorter, SortedDigests
from mihakk.releases.content.fingerprints import POEM, as_poem
from mihakk.releases.content.seals import (
    BYTES,
    Seals,
    open_digest,
    sealed_digest,
    sealed_marks,
)
from mihakk.releases.content.secret import blind_key, keyed
from mihakk.releases.printed import Printed, as_row, digests_of, printed, printed_digests, rows_of
from mihakk.schemas.record import Record

if TYPE_CHECKING:
    from mihakk.releases.assemble import AssembledRelease

FOLDER = ".registry"
INDEX = "index.json"
READER = 2
"""Which reader a version was read by; a later one sees more, and an entry of an earlier one is completed."""
UNREAD = 0
"""In place of a reader: nothing was sealed yet, and only the poems are kept, which builds alone know."""
NAMED = 20
"""Rows that a message names."""
_NOBODY_READS = (
    "can't be read (damaged, encrypted, or larger than its file says), so nobody can tell what it prints"
)
REMEDY = "restore the folder from a copy, or run `mihakk seal rebuild`"


class Entry(Record):
    """One version in the index."""

    printed: int
    """Digests of what it prints: the first ones in its file."""
    sealed: int
    """Digests of what it seals, under the secret: the others."""
    digest: str
    """SHA-256 of the file."""
    reader: int = 1
    """`READER` of the Mihakk that read it."""

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        """As the signature of an index has it that knows no readers."""
        said = {"printed": self.printed, "sealed": self.sealed, "digest": self.digest}
        return said if self.reader == 1 else {**said, "reader": self.reader}


class Index(Record):
    """What the registry holds."""

    key: str = ""
    """Digest under the secret that all seals are under; empty while nothing is sealed."""
    versions: dict[str, Entry] = Field(default_factory=dict)
    """`NAME@VERSION` -> its entry."""
    ended: tuple[str, ...] = ()
    """Versions whose golds may be told."""
    mac: str = ""
    """Digest of the rest under the secret; empty while nothing is sealed."""

    @property
    def has_sealed(self) -> bool:
        """Whether any version ever sealed anything."""
        return any(entry.sealed for entry in self.versions.values())

    def signed(self, key: bytes) -> Index:
        """The same with its digest under the secret, where there is one."""
        rest = orjson.dumps(self.model_dump(exclude={"mac"}), option=orjson.OPT_SORT_KEYS).decode()
        return self.model_copy(update={"mac": keyed(key, "index", rest) if key else ""})


class Digests(NamedTuple):
    """What a version prints and seals."""

    printed: SortedDigests = SortedDigests()
    sealed: frozenset[bytes] = frozenset()


class Registry:
    """The registry of one Hub; whoever uses it holds the Hub's lock."""

    def __init__(self, hub: Path) -> None:
        self.folder = hub / FOLDER
        self.before: dict[str, Digests] = {}
        """What stood of a version before a restart: builds know more than releases tell."""

    def index(self) -> Index:
        """The index; an empty one where there is no registry yet.

        Raises:
            UsageError: It is damaged.
        """
        path = self.folder / INDEX
        if not path.exists():
            return Index()
        try:
            return Index.model_validate(orjson.loads(path.read_bytes()))
        except (OSError, ValueError, ValidationError) as error:
            raise UsageError(
                f"{path} is damaged: nothing is built or published without it; {REMEDY}"
            ) from error

    def digests(self, version: str, entry: Entry) -> Digests:
        """What a version prints and seals.

        Raises:
            UsageError: Its file is missing or damaged.
        """
        path = self._file(version)
        if not path.is_file() or file_digest(path) != entry.digest:
            raise UsageError(
                f"{path} is missing or damaged: nothing is built or published without it; {REMEDY}"
            )
        with path.open("rb") as file:
            file.seek(entry.printed * BYTES)
            sealed = frozenset(iter(lambda: file.read(BYTES), b""))
            return Digests(SortedDigests(file, entry.printed), sealed)

    def key(self) -> bytes:
        """The secret that the seals of this Hub are under; empty while nothing is sealed.

        Raises:
            UsageError: It is not set, or another one is; or the index is not as it was written.
        """
        index = self.index()
        mark = index.key
        if not mark and not index.has_sealed:
            return b""
        try:
            key = blind_key()
        except UsageError as error:
            raise UsageError(
                f"a benchmark of this hub is blind; without its secret nobody knows what must wait: {error}"
            ) from error
        if mark and keyed(key, "registry", "") != mark:
            raise UsageError(
                "this is not the secret that the blind benchmarks of this hub are sealed under: set theirs "
                "(MIHAKK_BLIND_KEY or MIHAKK_BLIND_KEY_FILE), or use another hub"
            )
        if not hmac.compare_digest(index.mac, index.signed(key).mac):
            why = (
                "was changed by something else" if index.mac else "is not signed, as an older Mihakk left it"
            )
            raise UsageError(
                f"{self.folder / INDEX} {why}: nothing is built or published before it is known "
                f"what is sealed; {REMEDY}"
            )
        return key

    def seals(self, name: str, *, blind: bool = False) -> Seals:
        """What a version of a benchmark has to heed: what others printed, and what anybody sealed.

        Args:
            blind: Whether the version seals anything itself.
        """
        index = self.index()
        printed: list[SortedDigests] = []
        ended: set[bytes] = set()
        sealed: dict[str, frozenset[bytes]] = {}
        for version, entry in index.versions.items():
            own, found = version.partition("@")[0], self.digests(version, entry)
            if own != name:
                printed.append(found.printed)
            if version in index.ended:
                ended |= found.sealed
            elif found.sealed:
                sealed[own] = sealed.get(own, frozenset()) | found.sealed
        key = self.key() or (blind_key() if blind else b"")
        return Seals(tuple(printed), sealed, name if blind else "", key, frozenset(ended))

    def sealed_by(self) -> dict[str, str]:
        """Version with a standing seal -> digest of its entry."""
        index = self.index()
        return {
            version: entry.digest
            for version, entry in index.versions.items()
            if entry.sealed and version not in index.ended
        }

    def add(self, version: str, found: Digests, key: bytes = b"", reader: int = READER) -> None:
        """Enter a version, in place of what stood under its name."""
        index = self.index()
        sealed, digest = sorted(found.sealed), hashlib.sha256()
        for piece in chain(found.printed.pieces(), sealed):
            digest.update(piece)
        entry = Entry(
            printed=len(found.printed), sealed=len(sealed), digest=digest.hexdigest(), reader=reader
        )
        if index.versions.get(version) == entry and self._file(version).is_file():
            return
        key = self.key() or key
        self._write(self._file(version), chain(found.printed.pieces(), sealed))
        mark = keyed(key, "registry", "") if found.sealed else index.key
        versions = {**index.versions, version: entry}
        self._keep(index.model_copy(update={"versions": versions, "key": mark}), key)

    def end(self, versions: Iterable[str]) -> None:
        """Say that the golds of versions may be told."""
        index, key = self.index(), self.key()
        self._keep(index.model_copy(update={"ended": tuple(sorted({*index.ended, *versions}))}), key)

    def restart(self) -> None:
        """Empty the index; which seals have ended stays where it is as it was written."""
        try:
            index = self.index()
        except UsageError:
            index = Index()
        try:
            key, ended = self.key(), index.ended
        except UsageError:
            key, ended = b"", ()
        for version, entry in index.versions.items():
            with suppress(UsageError):
                whole = self.digests(version, entry)
                same = bool(whole.sealed) and keyed(blind_key(), "registry", "") == index.key
                self.before[version] = whole if same else Digests(whole.printed)
        self._keep(Index(ended=ended, key=index.key if key else ""), key)

    def _file(self, version: str) -> Path:
        return self.folder / f"{version}.digests"

    def _keep(self, index: Index, key: bytes) -> None:
        data = index.signed(key).model_dump()
        self._write(self.folder / INDEX, orjson.dumps(data, option=orjson.OPT_INDENT_2))

    def _write(self, path: Path, data: bytes | Iterable[bytes]) -> None:
        """Whole or not at all, and for the owner alone.

        Raises:
            ExternalFailure: The disk is full, or the folder can't be written.
        """
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, data, 0o600)
        except OSError as error:
            raise ExternalFailure(
                f"{path} can't be written ({error.strerror}). Nothing was published: free space, or make "
                "the folder writable, and run the same command again"
            ) from error


def enter(registry: Registry, release: AssembledRelease) -> None:
    """Enter a release that is to be published.

    Raises:
        UsageError: It prints what a seal covers, or seals what is printed.
    """
    blind, name = bool(release.seals), f"{release.name}@{release.version}"
    if not (blind or release.has_answers or registry.index().has_sealed):
        with DigestSorter() as poems:
            poems.add(map(open_digest, release.poems))
            registry.add(name, Digests(poems.sorted()), reader=UNREAD)
        return
    seals = registry.seals(release.name, blind=blind)
    with DigestSorter() as shown:
        require_unsealed(release, seals, shown)
        there = shown.sorted()
        # Of poems what is not printed already: a line that is printed tells as much.
        untold = (mark for mark in release.poems if open_digest(mark.removeprefix(POEM)) not in there)
        shown.add(map(open_digest, untold))
        there = shown.sorted()
    if other := seals.sealed_by(release.seals, release.name):
        raise UsageError(
            f"{release.name} {release.version} shows texts that {other} has sealed: build it again"
        )
    if seals.is_printed(release.seals):
        raise UsageError(
            f"{release.name} {release.version} seals texts that were printed meanwhile: build it again"
        )
    sealed = frozenset(sealed_digest(seals.key, mark) for mark in release.seals)
    registry.add(name, Digests(there, sealed), seals.key)


def require_unsealed(release: AssembledRelease, seals: Seals, shown: DigestSorter | None = None) -> None:
    """Raise `UsageError` where a release prints what is sealed, and note what it prints in `shown`."""
    blind = bool(release.seals)
    told: list[tuple[str, str]] = []
    for one in printed(release.folder):
        if one.is_unread:
            raise UsageError(
                f"{release.name} {release.version}: {one.place} {_NOBODY_READS}: leave it out, or write it "
                "again"
            )
        if one.is_sealed:
            if not blind:
                raise UsageError(
                    f"{release.name} {release.version} is blind, and nothing says what it seals: "
                    "build it again"
                )
            other = seals.sealed_by(one.marks, release.name)
        else:
            if shown is not None:
                shown.add(map(open_digest, one.marks))
            if not (blind or seals.sealed):
                continue
            tells = one.marks | as_poem(one.marks)
            own = not release.seals.isdisjoint(tells)
            other = release.name if own else seals.sealed_by(tells)
        if other:
            told.append((one.place, other))
    if told:
        counts = Counter(other for _, other in told)
        what = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items()))
        places = list(dict.fromkeys(place for place, _ in told))
        where = ", ".join(places[:NAMED])
        more = f" and {len(places) - NAMED} more places" if len(places) > NAMED else ""
        raise UsageError(
            f"{release.name} {release.version} prints texts that are sealed ({what}), in {where}{more}: "
            "build it again so that these items wait, or take the rows out of the benchmark and audit it "
            "again; what somebody wrote (a title, a note, the reason of an override) has to be said "
            "without them. `mihakk seal end` says that the golds may be told"
        )


def require_untold(seals: Seals, why: str) -> None:
    """Raise `UsageError` where the reason of a withdrawal, which all may read, holds a sealed text."""
    if other := seals.quoted(as_row([why], "why")):
        raise UsageError(
            f"the reason holds a text that {other} has sealed, and everybody will read it: name items by "
            "their ids, and say what is wrong without their texts"
        )


def adopt(registry: Registry, version: str, folder: Path) -> None:
    """Enter a version that stands on the Hub, and in no registry, or there unread or as an older one read it.

    Raises:
        UsageError: It is blind: its files do not tell what it sealed. Or nobody can tell what it prints.
    """
    known = registry.index().versions.get(version)
    if any(row.get("sealed") for row in rows_of(folder)):
        why = "lacks" if known is None or not known.sealed else "was written by a Mihakk that read less of"
        raise UsageError(
            f"the registry of this hub {why} {version}, which is blind: nothing is built or published before "
            f"it is known what is printed and sealed; {REMEDY}"
        )
    before = registry.digests(version, known).printed if known is not None else SortedDigests()
    read = printed(folder)
    if known is not None and known.reader == UNREAD:
        read = _readable(version, read)
    registry.add(version, Digests(digests_of(read, before)))


def _readable(version: str, read: Iterable[Printed]) -> Iterator[Printed]:
    """What was read of a version, and `UsageError` where something can't be."""
    for one in read:
        if one.is_unread:
            raise UsageError(
                f"{version}: {one.place} {_NOBODY_READS}, and nothing is sealed beside it: build what is "
                "blind in another hub (MIHAKK_HUB)"
            )
        yield one


def read_again(registry: Registry, version: str, folder: Path, golds: Path, identity: str) -> None:
    """Enter a version by its files, its golds and what stood of it; `UsageError` where golds are shut."""
    before = registry.before.get(version, Digests())
    found = Digests(printed_digests([folder], before.printed))
    key = b""
    asked = {row["id"] for row in rows_of(folder) if row.get("sealed")}
    if asked:
        key = blind_key()
        opened = (row for _, _, row in opened_rows(folder, read_answers(find_answers(golds), identity)))
        marks = frozenset[str]().union(*(sealed_marks(row) for row in opened if row["id"] in asked))
        sealed = frozenset(sealed_digest(key, mark) for mark in marks)
        found = Digests(found.printed, sealed | before.sealed)
    registry.add(version, found, key)
