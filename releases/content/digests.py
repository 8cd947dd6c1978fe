"""Digests by the million, sorted: in files that are looked up where they lie, never all in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO

from mihakk.releases.content.seals import BYTES

PARTS = 64
"""Parts that are sorted one after the other."""
HELD = 1 << 16
"""Digests that wait in memory for their part, and so are written once however often they come."""
PIECE = 1 << 22
"""Bytes that are read at once."""


class SortedDigests:
    """Digests in their order, each once, at the beginning of a file."""

    def __init__(self, file: IO[bytes] | None = None, count: int = 0) -> None:
        # A file of nothing can't be mapped.
        self._map = mmap(file.fileno(), count * BYTES, access=ACCESS_READ) if file and count else None
        self._count = count

    @classmethod
    def at(cls, path: Path, count: int) -> SortedDigests:
        """The first so many of a file, which may be replaced meanwhile."""
        with path.open("rb") as file:
            return cls(file, count)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> bytes:
        if self._map is None or not 0 <= place < self._count:
            raise IndexError(place)
        return self._map[place * BYTES : (place + 1) * BYTES]

    def __iter__(self) -> Iterator[bytes]:
        return (self[place] for place in range(self._count))

    def __contains__(self, digest: object) -> bool:
        if not isinstance(digest, bytes):
            return False
        place = bisect_left(self, digest)
        return place < self._count and self[place] == digest

    def pieces(self) -> Iterator[bytes]:
        """All of them in a row, some megabytes at a time."""
        whole = self._map
        for start in range(0, len(whole) if whole else 0, PIECE):
            assert whole is not None
            yield whole[start : start + PIECE]
            whole.madvise(MADV_DONTNEED)  # what was read stays in no process's memory


class DigestSorter:
    """Takes digests in any order, each as often as it comes; those that begin alike share a part on disk."""

    def __init__(self) -> None:
        self._fresh: set[bytes] = set()
        self._files = ExitStack()
        parts = (SpooledTemporaryFile(max_size=PIECE // PARTS) for _ in range(PARTS))  # noqa: SIM115
        self._parts = [self._files.enter_context(part) for part in parts]

    def __enter__(self) -> DigestSorter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, digests: Iterable[bytes]) -> None:
        """Some more."""
        self._fresh.update(digests)
        if len(self._fresh) > HELD:
            self._file()

    def _file(self) -> None:
        for digest in self._fresh:
            self._parts[digest[0] * PARTS >> 8].write(digest)
        self._fresh.clear()

    def sorted(self) -> SortedDigests:
        """All that came so far."""
        self._file()
        with TemporaryFile() as whole:
            for part in self._parts:
                part.seek(0)
                data = part.read()
                whole.write(b"".join(sorted({data[at : at + BYTES] for at in range(0, len(data), BYTES)})))
            whole.flush()
            return SortedDigests(whole, whole.tell() // BYTES)
