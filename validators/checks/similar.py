"""Items whose words overlap nearly wholly, found exactly."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from mihakk.validators.checks.gathering import Fingerprint

Name = TypeVar("Name", int, str)
Near = dict[str, tuple[tuple[str, float], ...]]

SHOWN: Final = 5
"""Neighbours kept per item; a group of thousands needs no list of all with each of its members."""


def near_items(
    prints: Iterable[Fingerprint], shingles: Mapping[str, Mapping[int, array[int]]], similar: float
) -> tuple[Near, set[tuple[str, str]]]:
    """By item id, the items of its task that overlap by at least `similar`, best first; no copies, no twins.

    Beside them the pairs that overlap so and are each right about what the other offers as wrong.

    Args:
        prints: All items.
        shingles: By task, the different sets of word pairs by their hash.
        similar: Least overlap (Jaccard), above 0 and at most 1.
    """
    holders: dict[tuple[str, int], list[Fingerprint]] = defaultdict(list)
    for mark in prints:
        if mark.words:
            holders[mark.task, mark.words].append(mark)
    alike: dict[tuple[str, int], list[tuple[float, int]]] = {
        place: [(1.0, place[1])] for place, held in holders.items() if len({mark.body for mark in held}) > 1
    }
    for task in sorted(shingles):
        for one, other, overlap in similar_pairs(shingles[task], similar):
            alike.setdefault((task, one), [(1.0, one)]).append((overlap, other))
            alike.setdefault((task, other), [(1.0, other)]).append((overlap, one))
    named = {(task, words): _named(holders[task, words]) for task, words in alike}
    near: Near = {}
    opposed: set[tuple[str, str]] = set()
    for (task, words), sets in alike.items():
        others = [(overlap, their) for overlap, its in sets for their in named[task, its]]
        for mark in holders[task, words]:
            found = []
            for overlap, their in others:
                if their.body == mark.body or mark.twin(their):
                    continue
                if _two_questions(mark, their):
                    opposed.add((min(mark.item, their.item), max(mark.item, their.item)))
                else:
                    found.append((their.item, overlap))
            if found:
                near[mark.item] = nearest(found)
    return near, opposed


def nearest(found: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """The first of some items with their overlap, best first."""
    return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0]))[:SHOWN])


def _two_questions(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether each is right about what the other offers as wrong: two questions on one list of options."""
    return (
        one.prompt != other.prompt
        and one.gold.isdisjoint(other.gold)
        and (one.gold <= other.options and other.gold <= one.options)
        and bool(one.gold and other.gold)
    )


def _named(held: Sequence[Fingerprint]) -> list[Fingerprint]:
    """Of items with the same words, as many as neighbours are shown: the first few of each body."""
    bodies: dict[int, list[Fingerprint]] = defaultdict(list)
    for mark in sorted(held, key=lambda mark: mark.item):
        if len(bodies[mark.body]) < SHOWN:
            bodies[mark.body].append(mark)
    return [mark for marks in list(bodies.values())[: SHOWN + 2] for mark in marks]


def similar_pairs(sets: Mapping[Name, Sequence[int]], similar: float) -> Iterator[tuple[Name, Name, float]]:
    """All pairs whose Jaccard overlap is at least `similar`, by prefix filtering.

    Two sets that overlap this much share one of the rarest members of each, so only those that meet in such a
    member are compared.

    Args:
        sets: Distinct members by name.
        similar: Least overlap, above 0 and at most 1.
    """
    names = sorted(name for name in sets if len(sets[name]))
    meeting: dict[int, list[int]] = defaultdict(list)
    for row, prefix in _prefixes([sets[name] for name in names], similar):
        own = frozenset(sets[names[row]])
        for other in sorted({other for member in prefix for other in meeting[member]}):
            theirs = sets[names[other]]
            if min(len(own), len(theirs)) < similar * max(len(own), len(theirs)):
                continue
            shared = len(own.intersection(theirs))
            overlap = shared / (len(own) + len(theirs) - shared)
            if overlap >= similar:
                yield names[other], names[row], overlap
        for member in prefix:
            meeting[member].append(row)


def _prefixes(sets: Sequence[Sequence[int]], similar: float) -> Iterator[tuple[int, list[int]]]:
    """Of each set, its rarest members: one more than it could lack of a set that overlaps enough."""
    import numpy as np

    if not sets:
        return
    # Numbers of 32 bits suffice, and of millions of members there are several arrays.
    sizes = np.fromiter(map(len, sets), dtype=np.int32, count=len(sets))
    rows = np.repeat(np.arange(len(sets), dtype=np.int32), sizes)
    # A member of no other set can meet nobody: it takes its place in the prefix, and no memory here.
    everything = np.concatenate([np.asarray(members) for members in sets])
    ascending = np.sort(everything)
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    counts = np.diff(starts, append=len(ascending)).astype(np.int32)
    names, counts = ascending[starts[counts > 1]], counts[counts > 1]
    del ascending, starts
    shared = np.isin(everything, names)
    rows, members = rows[shared], np.searchsorted(names, everything[shared]).astype(np.int32)
    del everything
    single = sizes - np.bincount(rows, minlength=len(sets))
    rarity = counts[members]
    order = np.lexsort((members, rarity, rows))
    held = sizes - single
    rank = np.arange(len(order), dtype=np.int32) - np.repeat((np.cumsum(held) - held).astype(np.int32), held)
    longest = sizes - (similar * sizes - 1e-9).astype(np.int32) - single
    kept = order[rank < longest[rows]]
    starts = np.flatnonzero(np.diff(rows[kept], prepend=-1, append=-1)).tolist()
    found = members[kept].tolist()
    for start, end in pairwise(starts):
        yield int(rows[kept[start]]), found[start:end]
