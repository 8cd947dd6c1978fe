"""Entries of a set spread over files, and their likenesses found by passes on an engine."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mihakk.curation.duplicates import LEVELS, PARTS_OF, SLOTS, Comparable, DuplicateCluster, entries, keys
from mihakk.machinery.dedup import Pair
from mihakk.machinery.dedup.passes import Part
from mihakk.machinery.dedup.spread import DuplicatePasses, Wanted
from mihakk.machinery.ids import digest
from mihakk.machinery.lake.scratch import Scratch
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem

PART_TEXTS: Final = 4_000
"""Couplets worked on at a time; more in a set of millions, so that there are at most `MOST_PARTS` parts."""
MOST_PARTS: Final = 128
_ENTRY: Final = pa.schema(
    [
        ("id", pa.string()),
        ("owner", pa.string()),
        ("halves", pa.list_(pa.string())),
        ("labels", pa.list_(pa.string())),
    ]
)

Records = Callable[..., Iterable[Poem | Idiom]]
"""Reads the records of one shard; a function of a module, so that it can be sent to workers."""


def write_entries(
    scratch: Scratch, inputs: object, config: CurateConfig, records: Records, arguments: tuple[object, ...]
) -> str:
    """The entries of one shard, a batch per level."""

    def make() -> list[pa.RecordBatch]:
        return [
            pa.RecordBatch.from_pylist([row._asdict() for row in rows], schema=_ENTRY)
            for rows in entries(records(*arguments), config)
        ]

    return scratch.made("entries", inputs, make)


def read_keys(
    scratch: Scratch, files: Sequence[str], name: str, start: int, gone: frozenset[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Texts compared under a name and their numbers; the first entry has the number `start`."""
    level = PARTS_OF.get(name, name)
    rows = [row for file in files for row in _read(scratch, file, level)]
    texts = keys({level: rows}, name, gone)
    first = SLOTS.get(name, 1) * start
    places = [place for place, text in enumerate(texts) if text]
    return np.asarray(places, dtype=np.int64) + first, [texts[place] for place in places]


class SpreadEntries:
    """The set's entries by number, see `mihakk.curation.duplicates.Compared`.

    `files` hold the entries of the `shards`, in the order of the sources, as `write_entries` wrote them.
    """

    def __init__(
        self, scratch: Scratch, spread: DuplicatePasses, shards: Sequence[str], files: Sequence[str]
    ) -> None:
        self._scratch = scratch
        self._spread = spread
        self._shards = shards
        self._files = files
        counts = [scratch.sizes(file) for file in files]
        self._starts = {
            level: [0, *accumulate(sizes[place] for sizes in counts)] for place, level in enumerate(LEVELS)
        }
        self.homes: dict[str, str] = {}
        """Owner to shard, of every entry that was asked for."""

    def pairs(self, thresholds: Mapping[str, float], gone: frozenset[str]) -> dict[str, list[Pair]]:
        """Pairs by what is compared."""
        wanted = {name: Wanted(self._parts(name, gone), least) for name, least in thresholds.items()}
        return self._spread.near_duplicates(wanted)

    def entries(self, level: str, numbers: Iterable[int]) -> dict[int, Comparable]:
        """The entries of those numbers; one shard in memory at a time."""
        starts, found = self._starts[level], {}
        held, rows = -1, list[Comparable]()
        for number in sorted(numbers):
            place = bisect_right(starts, number) - 1
            if place != held:
                held, rows = place, _read(self._scratch, self._files[place], level)
            found[number] = entry = rows[number - starts[place]]
            self.homes[entry.owner] = self._shards[place]
        return found

    def by_shard(self, found: Iterable[DuplicateCluster]) -> dict[str, list[DuplicateCluster]]:
        """Clusters by every shard that holds one of their entries."""
        shards: dict[str, list[DuplicateCluster]] = {}
        for each in found:
            for shard in dict.fromkeys(self.homes[entry.owner] for entry in (each.kept, *each.others)):
                shards.setdefault(shard, []).append(each)
        return shards

    def _parts(self, name: str, gone: frozenset[str]) -> list[Part]:
        level = PARTS_OF.get(name, name)
        starts = self._starts[level]
        size = max(PART_TEXTS, -(-self._starts["couplet"][-1] // MOST_PARTS))
        parts: list[Part] = []
        first = 0
        while first < len(self._files):
            # Parts are cut by couplets at every level: a part of poems is as large as that of their couplets.
            ahead = self._starts["couplet"][first] + size
            last = max(first + 1, bisect_right(self._starts["couplet"], ahead) - 1)
            last = min(last, len(self._files))
            files = list(self._files[first:last])
            if starts[last] > starts[first]:
                arguments = (self._scratch, files, name, starts[first], gone)
                parts.append(Part(digest([files, name, starts[first], sorted(gone)]), read_keys, arguments))
            first = last
        return parts


def _read(scratch: Scratch, file: str, level: str) -> list[Comparable]:
    rows = scratch.read(file, LEVELS.index(level)).to_pylist()
    return [Comparable(row["id"], row["owner"], tuple(row["halves"]), tuple(row["labels"])) for row in rows]
