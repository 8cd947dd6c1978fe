"""A local folder in step with one of an object store, for files that are only appended to.

A store can't append. What this machine appends lies in files of the local folder at once, and goes up in
segments, each an object of its own that is never changed: `<file>@<mirror>.<from>-<to>.jsonl`. What other
machines sent up comes down under the same names. So a killed process loses nothing (its file is there, and
the next run on the machine sends the rest), and a lost machine loses at most what it had not sent.
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.machinery.lake.storage import Storage

ORIGIN: Final = ".origin"
"""File in the local folder: the store's URL and the mirror's own name."""
_SEGMENT: Final = re.compile(r"(?P<stem>.+)@(?P<mirror>[0-9a-f]{12})[.](?P<first>[0-9]+)-(?P<last>[0-9]+)")
_MERGED: Final = 32 << 20
"""Bytes up to which segments become one when a file is closed."""
_MANY: Final = 8


class _Segment(NamedTuple):
    name: str
    stem: str
    mirror: str
    first: int
    last: int


class Mirror:
    """A local folder and the store's folder it mirrors; `mirror` is its own name among all that do."""

    def __init__(self, folder: Path, url: str, mirror: str) -> None:
        self._folder = folder
        self._storage = Storage(url)
        self._mirror = mirror
        self._sent: dict[str, int] = {}

    @classmethod
    def start(cls, folder: Path, url: str) -> Mirror:
        """Makes the local folder a mirror, or takes up the one that is there, and brings both in step."""
        folder.mkdir(parents=True, exist_ok=True)
        origin = folder / ORIGIN
        if not origin.exists():
            fresh = folder / f"{ORIGIN}.{uuid.uuid4().hex}"
            fresh.write_text(f"{url}\n{uuid.uuid4().hex[:12]}\n", encoding="utf-8")
            fresh.replace(origin)
        found = cls.of(folder)
        assert found is not None, "it was written a moment ago"
        found.pull()
        for path in sorted(folder.glob("*.jsonl")):
            found.push(path)
        return found

    @classmethod
    def of(cls, folder: Path) -> Mirror | None:
        """The mirror that a local folder is; None where it is an ordinary folder."""
        origin = folder / ORIGIN
        if not origin.exists():
            return None
        url, mirror = origin.read_text(encoding="utf-8").split("\n")[:2]
        return cls(folder, url, mirror)

    def pull(self) -> None:
        """Downloads what other machines uploaded; what this one uploaded is here already."""
        for segment in self._segments():
            target = self._folder / segment.name
            if segment.mirror == self._mirror or target.exists():
                continue
            data = self._storage.read(self._storage.path(segment.name))
            fresh = target.with_suffix(".tmp")
            fresh.write_bytes(data)
            fresh.replace(target)

    def push(self, path: Path) -> None:
        """Sends up the whole lines of a file that are not there yet.

        Raises:
            ExternalFailure: The store does not answer; the lines stay here and go up with the next push.
        """
        if _SEGMENT.fullmatch(path.stem):
            return
        start = self._sent.get(path.stem)
        if start is None:
            start = max((s.last for s in self._own(path.stem)), default=0)
        with path.open("rb") as file:
            file.seek(start)
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        if data:
            self._storage.write(self._storage.path(self._name(path.stem, start, start + len(data))), data)
        self._sent[path.stem] = start + len(data)

    def merge(self, path: Path) -> None:
        """Replaces many small segments of a file by one: the whole is there before its pieces go."""
        pieces = [s for s in self._own(path.stem) if s.last - s.first < _MERGED]
        if len(pieces) < _MANY:
            return
        first, last = pieces[0].first, pieces[-1].last
        with path.open("rb") as file:
            file.seek(first)
            data = file.read(last - first)
        whole = self._name(path.stem, first, last)
        self._storage.write(self._storage.path(whole), data)
        for piece in pieces:
            if piece.name != whole:
                self._storage.remove(self._storage.path(piece.name))

    def _name(self, stem: str, first: int, last: int) -> str:
        return f"{stem}@{self._mirror}.{first:012d}-{last:012d}.jsonl"

    def _own(self, stem: str) -> list[_Segment]:
        return [s for s in self._segments() if s.mirror == self._mirror and s.stem == stem]

    def _segments(self) -> list[_Segment]:
        found = []
        for name in self._storage.list(self._storage.root):
            if match := _SEGMENT.fullmatch(name.removesuffix(".jsonl")):
                found.append(
                    _Segment(name, match["stem"], match["mirror"], int(match["first"]), int(match["last"]))
                )
        return found
