"""The registry of an embedded Hub: what its benchmarks, in all their versions, have sealed or printed.

It lies in the hidden folder `.registry` of the Hub, on its private side. A version enters it before it is
published. What an open version printed is read again from the version itself where the registry lacks it.
What a blind one sealed is not: a Hub whose registry is damaged, or lacks a blind version, publishes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson
from pydantic import Field, ValidationError

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.whole import write_whole
from mihakk.releases.content.blind import find_answers, opened_rows, read_answers
from mihakk.releases.content.fingerprints import shown_marks
from mihakk.releases.content.item_tables import rows_of
from mihakk.releases.content.seals import BYTES, Seals, printed_digests, sealed_digest, sealed_marks
from mihakk.releases.content.secret import blind_key, keyed
from mihakk.schemas.record import Record

if TYPE_CHECKING:
    from mihakk.releases.assemble import AssembledRelease

FOLDER = ".registry"
INDEX = "index.json"
REMEDY = "restore the folder from a copy, or run `mihakk seal rebuild`"


class Entry(Record):
    """One version in the index."""

    printed: int
    """Digests of what it prints: the first ones in its file."""
    sealed: int
    """Digests of what it seals, under the secret: the others."""
    digest: str
    """SHA-256 of the file."""


class Index(Record):
    """What the registry holds."""

    key: str = ""
    """Digest under the secret that all seals are under; empty while nothing is sealed."""
    versions: dict[str, Entry] = Field(default_factory=dict)
    """`NAME@VERSION` -> its entry."""
    ended: tuple[str, ...] = ()
    """Versions whose golds may be told."""


class Digests(NamedTuple):
    """What a version prints and seals."""

    printed: frozenset[bytes]
    sealed: frozenset[bytes] = frozenset()


class Registry:
    """The registry of one Hub; whoever uses it holds the Hub's lock."""

    def __init__(self, hub: Path) -> None:
        self.folder = hub / FOLDER

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
        data = path.read_bytes() if path.is_file() else b""
        if sha256(data) != entry.digest:
            raise UsageError(
                f"{path} is missing or damaged: nothing is built or published without it; {REMEDY}"
            )
        found = [data[start : start + BYTES] for start in range(0, len(data), BYTES)]
        return Digests(frozenset(found[: entry.printed]), frozenset(found[entry.printed :]))

    def key(self) -> bytes:
        """The secret that the seals of this Hub are under; empty while nothing is sealed.

        Raises:
            UsageError: It is not set, or another one is.
        """
        mark = self.index().key
        if not mark:
            return b""
        try:
            key = blind_key()
        except UsageError as error:
            raise UsageError(
                f"a benchmark of this hub is blind; without its secret nobody knows what must wait: {error}"
            ) from error
        if keyed(key, "registry", "") != mark:
            raise UsageError(
                "this is not the secret that the blind benchmarks of this hub are sealed under: set theirs "
                "(MIHAKK_BLIND_KEY or MIHAKK_BLIND_KEY_FILE), or use another hub"
            )
        return key

    def seals(self, name: str, *, blind: bool = False) -> Seals:
        """What a version of a benchmark has to heed: what others printed, and what anybody sealed.

        Args:
            blind: Whether the version seals anything itself.
        """
        index = self.index()
        printed: set[bytes] = set()
        ended: set[bytes] = set()
        sealed: dict[str, frozenset[bytes]] = {}
        for version, entry in index.versions.items():
            own, found = version.partition("@")[0], self.digests(version, entry)
            if own != name:
                printed |= found.printed
            if version in index.ended:
                ended |= found.sealed
            elif found.sealed:
                sealed[own] = sealed.get(own, frozenset()) | found.sealed
        key = self.key() if sealed or (blind and ended) else blind_key() if blind else b""
        return Seals(frozenset(printed), sealed, key, frozenset(ended))

    def sealed_by(self) -> dict[str, str]:
        """Version with a standing seal -> digest of its entry."""
        index = self.index()
        return {
            version: entry.digest
            for version, entry in index.versions.items()
            if entry.sealed and version not in index.ended
        }

    def add(self, version: str, found: Digests, key: bytes = b"") -> None:
        """Enter a version, in place of what stood under its name."""
        index = self.index()
        data = b"".join((*sorted(found.printed), *sorted(found.sealed)))
        entry = Entry(printed=len(found.printed), sealed=len(found.sealed), digest=sha256(data))
        if index.versions.get(version) == entry and self._file(version).is_file():
            return
        self._write(self._file(version), data)
        mark = keyed(key, "registry", "") if found.sealed else index.key
        self._keep(index.model_copy(update={"versions": {**index.versions, version: entry}, "key": mark}))

    def end(self, versions: Iterable[str]) -> None:
        """Say that the golds of versions may be told."""
        index = self.index()
        self._keep(index.model_copy(update={"ended": tuple(sorted({*index.ended, *versions}))}))

    def restart(self) -> None:
        """Forget everything but which seals have ended, where that can be read."""
        try:
            ended = self.index().ended
        except UsageError:
            ended = ()
        self._keep(Index(ended=ended))

    def _file(self, version: str) -> Path:
        return self.folder / f"{version}.digests"

    def _keep(self, index: Index) -> None:
        self._write(self.folder / INDEX, orjson.dumps(index.model_dump(), option=orjson.OPT_INDENT_2))

    def _write(self, path: Path, data: bytes) -> None:
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
    blind = bool(release.seals)
    seals = registry.seals(release.name, blind=blind)
    rows = list(rows_of(release.folder))
    if not blind and any(row.get("sealed") for row in rows):
        raise UsageError(
            f"{release.name} {release.version} is blind, and nothing says what it seals: build it again"
        )
    told = Counter(seals.sealed_by(shown_marks(row)) for row in rows if not row.get("sealed"))
    del told[""]
    if told:
        what = ", ".join(f"{count} of {name}" for name, count in sorted(told.items()))
        raise UsageError(
            f"{release.name} {release.version} prints texts that are sealed ({what}): build it again so that "
            "these items wait, or leave them out; `mihakk seal end` says that the golds may be told"
        )
    if other := seals.sealed_by(release.seals, release.name):
        raise UsageError(
            f"{release.name} {release.version} shows texts that {other} has sealed: build it again"
        )
    if seals.is_printed(release.seals):
        raise UsageError(
            f"{release.name} {release.version} seals texts that were printed meanwhile: build it again"
        )
    sealed = frozenset(sealed_digest(seals.key, mark) for mark in release.seals)
    registry.add(f"{release.name}@{release.version}", Digests(printed_digests(rows), sealed), seals.key)


def adopt(registry: Registry, version: str, folder: Path) -> None:
    """Enter a version that stands on the Hub and in no registry.

    Raises:
        UsageError: It is blind: its files do not tell what it sealed.
    """
    rows = list(rows_of(folder))
    if any(row.get("sealed") for row in rows):
        raise UsageError(
            f"the registry of this hub lacks {version}, which is blind: nothing is built or published before "
            f"it is known what is sealed; {REMEDY}"
        )
    registry.add(version, Digests(printed_digests(rows)))


def read_again(registry: Registry, version: str, folder: Path, golds: Path, identity: str) -> None:
    """Enter a version by its tables and its golds; `UsageError` where the golds can't be read."""
    rows = list(rows_of(folder))
    found = Digests(printed_digests(rows))
    key = b""
    if any(row.get("sealed") for row in rows):
        key = blind_key()
        asked = {row["id"] for row in rows if row["sealed"]}
        opened = (row for _, _, row in opened_rows(folder, read_answers(find_answers(golds), identity)))
        marks = frozenset[str]().union(*(sealed_marks(row) for row in opened if row["id"] in asked))
        found = Digests(found.printed, frozenset(sealed_digest(key, mark) for mark in marks))
    registry.add(version, found, key)
