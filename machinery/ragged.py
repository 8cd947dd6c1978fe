"""Lists of numbers of different lengths, held as two columns and worked on all at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


class Ragged(NamedTuple):
    """Lists of numbers of 32 bits."""

    values: Column
    """All lists, one behind the other."""
    ends: Column
    """Where each of them ends."""

    def lengths(self) -> Column:
        """How many numbers each list has."""
        return np.diff(self.ends, prepend=0)

    def take(self, lists: Sequence[int] | Column) -> Ragged:
        """Some of the lists, by their places."""
        lists = np.asarray(lists, dtype=np.int64)
        lengths = self.lengths()[lists]
        ends = np.cumsum(lengths)
        return Ragged(
            self.values[np.arange(lengths.sum()) + np.repeat(self.ends[lists] - ends, lengths)], ends
        )

    def joined(self, places: Ragged) -> Ragged:
        """For each list of places, the lists there as one."""
        taken = self.take(places.values)
        return Ragged(taken.values, np.append(0, taken.ends)[places.ends])

    def where(self, kept: Column) -> Ragged:
        """The lists without some of their numbers."""
        return Ragged(self.values[kept], np.append(0, np.cumsum(kept))[self.ends])

    def owners(self) -> Column:
        """The place of the list that each number is in."""
        return np.repeat(np.arange(len(self.ends)), self.lengths())

    def ascending(self) -> Ragged:
        """The lists sorted."""
        return Ragged(np.sort(self.owners() << 32 | self.values) & 0xFFFFFFFF, self.ends)

    def sets(self) -> Ragged:
        """The different numbers of each list, ascending."""
        return sets(self.owners(), self.values, len(self.ends))

    def arrays(self) -> Iterator[array[int]]:
        """Each list by itself."""
        data = self.values.astype(np.uint32).tobytes()
        for start, end in pairwise([0, *(4 * self.ends).tolist()]):
            yield array("I", data[start:end])


def sets(owners: Column, values: Column, count: int) -> Ragged:
    """The different numbers of each of so many lists, ascending, where each number names its list."""
    # Sorting takes a fortieth of the time of `np.unique`, which fills a hash table first.
    keyed = np.sort(owners << 32 | values)
    keyed = keyed[np.diff(keyed, prepend=-1) != 0]
    return Ragged(keyed & 0xFFFFFFFF, np.searchsorted(keyed >> 32, np.arange(count), side="right"))


class Growing:
    """Lists that are still being written."""

    def __init__(self) -> None:
        self.values, self.ends = array("I"), array("Q")

    def add(self, numbers: Iterable[int]) -> None:
        """Writes one list."""
        self.values.extend(numbers)
        self.ends.append(len(self.values))

    def ragged(self) -> Ragged:
        """What was written so far."""
        return Ragged(np.array(self.values, dtype=np.int64), np.array(self.ends, dtype=np.int64))
