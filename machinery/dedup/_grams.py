"""Letters and letter groups of many texts as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

GRAM: Final = 5
"""Letters in a group; with `BITS` a letter, every group has a number of its own below 2**25."""
BITS: Final = 5
CELLS: Final = 1 << 21
"""Letters counted at a time."""
TABLE: Final = 1 << 17
"""Letters whose groups are ranked at a time: some arrays of so many numbers fit a processor's cache."""
_SPREAD: Final = 2654435761
"""Odd factor that makes the order of equally rare groups arbitrary but the same in every text."""

Numbers = NDArray[np.int64]


LETTERS: Final = ("اليرمندهوبتكکىیئءشعسلزخقفگحجچصپطغظذضثژ", "eaotnirshdlumcyfwgpbvkxjqz")
"""Folded letters by how common they are; of one script, the first 31 have numbers of their own."""


def _letter_numbers() -> NDArray[np.uint8]:
    """Number from 1 to 31 of every code point; rarer letters share them, which only proposes a pair too many.

    The same for every set, so that shards can be worked on apart.
    """
    most = 2**BITS - 1
    numbers = (np.arange(0x110000) % most + 1).astype(np.uint8)
    for script in LETTERS:
        for rank, letter in enumerate(dict.fromkeys(script)):
            numbers[ord(letter)] = rank % most + 1
    return numbers


_NUMBERS: Final = _letter_numbers()


def count_groups(texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """The different letter groups of some texts, sorted, and how often each occurs."""
    batches = _batches(range(len(texts)), texts)
    groups = (_groups(codes)[_inside(lengths)] for codes, lengths in batches)
    return _added(np.unique(found, return_counts=True) for found in groups)


def summed(parts: Iterable[tuple[Numbers, Numbers]]) -> NDArray[np.uint32]:
    """How often each of all possible groups occurs, from the counts of parts of a set; 128 MB at most."""
    counts = np.zeros(1 << (GRAM * BITS), dtype=np.uint32)
    for groups, found in parts:
        counts[groups] += found.astype(np.uint32)
    return counts


def letter_counts(texts: Sequence[str]) -> tuple[NDArray[np.int8], Numbers]:
    """How often each text has each letter, 100 at most (n x 32), and the lengths of the texts (n)."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    width = 2**BITS
    letters = np.empty((len(texts), width), dtype=np.int8)
    done = 0
    for codes, some in _batches(range(len(texts)), texts):
        rows = np.repeat(np.arange(len(some)), some)
        cells = np.bincount(rows * width + _NUMBERS[codes], minlength=len(some) * width)
        letters[done : done + len(some)] = np.minimum(cells, 100).reshape(-1, width)
        done += len(some)
    return letters, lengths


def rarest(texts: Sequence[str], counts: NDArray[np.uint32], filed: Callable[[int], int]) -> Numbers:
    """Each text under its rarest groups that occur more than once: sorted numbers (group << 32 | text).

    Args:
        texts: Of at least `GRAM` letters each.
        counts: How often each of all possible groups occurs in the whole set, as of `summed`.
        filed: How many groups a text of so many letters is filed under.
    """
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    chosen = [np.empty(0, dtype=np.int64)]
    # Texts of about one length are worked on together, so that one table holds them.
    order = np.argsort(lengths, kind="stable")
    for codes, some, numbers in _tables(order, lengths, texts):
        rows, longest = len(some), int(some[-1])
        groups = np.zeros(rows * longest, dtype=np.int64)
        inside = np.arange(longest) <= (some - GRAM)[:, None]
        groups[inside.ravel()] = _groups(codes)[_inside(some)]
        often = counts[groups].astype(np.int64)
        rank = (np.minimum(often, 2**30) << 32) | ((groups * _SPREAD) & 0xFFFFFFFF)
        rank[(often < 2) | ~inside.ravel()] = np.iinfo(np.int64).max
        # A text's own length says how many, or its groups would depend on its neighbours in the table.
        ranked = rank.reshape(rows, longest)
        sizes = np.array([filed(length) for length in range(longest + 1)])
        own = sizes[some]
        most = min(longest, int(own.max()))
        places = np.argpartition(ranked, most - 1, axis=1)[:, :most]
        best = np.take_along_axis(ranked, places, axis=1)
        picked = np.take_along_axis(groups.reshape(rows, longest), places, axis=1)
        inner = np.argsort(best, axis=1, kind="stable")
        best, picked = np.take_along_axis(best, inner, axis=1), np.take_along_axis(picked, inner, axis=1)
        useful = (best < np.iinfo(np.int64).max) & (np.arange(most) < own[:, None])
        chosen.append(((picked << 32) | numbers[:, None])[useful])
    return sort_unique(np.concatenate(chosen))


def _groups(codes: NDArray[np.uint32]) -> Numbers:
    """Number of the group that begins at each letter but the last four of a run of letters."""
    numbers = _NUMBERS[codes].astype(np.int64)
    size = max(0, len(numbers) - GRAM + 1)
    groups = np.zeros(size, dtype=np.int64)
    for place in range(GRAM):
        groups = (groups << BITS) | numbers[place : size + place]
    return groups


def _added(parts: Iterable[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """The different groups of all parts, sorted, and how often each occurs in them together."""
    groups = counts = np.empty(0, dtype=np.int64)
    for more, times in parts:
        groups, counts = np.concatenate([groups, more]), np.concatenate([counts, times])
        order = np.argsort(groups, kind="stable")  # two sorted runs: merged in one go
        groups, counts = groups[order], counts[order]
        starts = (
            np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])) if len(groups) else groups
        )
        groups, counts = groups[starts], np.add.reduceat(counts, starts) if len(starts) else counts
    return groups, counts


def sort_unique(numbers: Numbers) -> Numbers:
    """The different numbers, sorted in place; `numpy.unique` hashes them first and is far slower."""
    numbers.sort()
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def _inside(lengths: Numbers) -> NDArray[np.bool_]:
    """Which places of texts set end to end begin a group that ends in the same text."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    return (np.arange(len(ends)) + GRAM <= ends)[: max(0, len(ends) - GRAM + 1)]


def _batches(order: range | Numbers, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.uint32], Numbers]]:
    """Code points of texts set end to end, some `CELLS` at a time, with the lengths of the texts."""
    batch: list[str] = []
    size = 0
    for number in order:
        batch.append(texts[number])
        size += len(texts[number])
        if size >= CELLS:
            yield _codes(batch)
            batch, size = [], 0
    if batch:
        yield _codes(batch)


def _tables(
    order: Numbers, lengths: Numbers, texts: Sequence[str]
) -> Iterator[tuple[NDArray[np.uint32], Numbers, Numbers]]:
    """As `_batches`, by length and with the texts' numbers: the longest, times their count, fits `TABLE`."""
    start = 0
    while start < len(order):
        ahead = lengths[order[start : start + TABLE // GRAM]]
        fits = int(np.searchsorted(ahead * np.arange(1, len(ahead) + 1), TABLE, side="right"))
        numbers = order[start : start + max(1, fits)]
        codes, some = _codes([texts[number] for number in numbers])
        yield codes, some, numbers
        start += len(numbers)


def _codes(batch: Sequence[str]) -> tuple[NDArray[np.uint32], Numbers]:
    lengths = np.fromiter(map(len, batch), dtype=np.int64, count=len(batch))
    return np.frombuffer("".join(batch).encode("utf-32-le"), dtype=np.uint32), lengths
