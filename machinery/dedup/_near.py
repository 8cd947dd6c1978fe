"""Pairs of near duplicates: rare letter groups propose, edit distance decides.

Two versions of a verse share letter groups that hardly any other verse has. Each text is filed under its
few rarest groups; texts filed under the same one are compared. Nothing is kept per text but numbers in
arrays, so a million couplets need some hundred megabytes beside the texts themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

from mihakk.machinery.dedup._grams import (
    GRAM,
    count_groups,
    letter_counts,
    rarest,
    sort_unique,
    summed,
)
from mihakk.machinery.groups import Groups

CROWD: Final = 24
"""Texts filed under one group that are all compared with each other; in a larger crowd, neighbours are."""
BLOCK: Final = 1 << 21
"""Pairs compared at a time, which bounds memory."""

Numbers = NDArray[np.int64]


class Pair(NamedTuple):
    """Two texts that are the same; `first` comes before `second` in the input."""

    first: int
    second: int
    similarity: float
    """Normalised Indel similarity of the texts, 0 to 1."""


def near_duplicates(keys: Sequence[str], threshold: float) -> Iterator[Pair]:
    """Pairs of folded texts with an Indel similarity of `threshold` (0 to 1) or more, in their order.

    Equal texts are paired with the first of them, and only that one is compared with others. Texts of fewer
    than five letters are found only where equal; an empty one is nobody's duplicate.
    """
    first: dict[str, int] = {}
    found = [
        Pair(earlier, number, 1.0)
        for number, key in enumerate(keys)
        if key and (earlier := first.setdefault(key, number)) != number
    ]
    distinct = np.fromiter((number for key, number in first.items() if len(key) >= GRAM), dtype=np.int64)
    first.clear()
    if threshold < 1 and len(distinct) > 1:
        texts = [keys[number] for number in distinct]
        filed = rarest(texts, summed([count_groups(texts)]), partial(filed_under, threshold=threshold))
        found += [
            Pair(int(distinct[int(a)]), int(distinct[int(b)]), float(s))
            for a, b, s in filed_together(filed, texts, threshold)
        ]
    yield from sorted(found)


def filed_together(filed: Numbers, texts: Sequence[str], threshold: float) -> NDArray[np.float64]:
    """Rows (text, text, similarity) of texts filed together and at least `threshold` alike, each pair once.

    `filed` are sorted numbers (group << 32 | index into texts), as of `rarest`. What is found under some
    groups does not depend on what is filed under others.
    """
    verified = [_compared(block, texts, threshold) for block in _candidates(filed, texts, threshold)]
    pairs = np.concatenate([np.empty((0, 3)), *verified])
    _, once_each = np.unique(pairs[:, :2], axis=0, return_index=True)
    found: NDArray[np.float64] = pairs[once_each]
    return found


def _candidates(filed: Numbers, texts: Sequence[str], threshold: float) -> Iterator[Numbers]:
    """Blocks of pairs (rows of two numbers, the smaller first) filed together and not plainly apart."""
    letters, lengths = letter_counts(texts)
    for block in _together(filed):
        a, b = np.divmod(sort_unique(block[:, 0] * len(texts) + block[:, 1]), len(texts))
        # What must at least be deleted or inserted: the difference in length, and in every letter's count.
        most = (1 - threshold) * (lengths[a] + lengths[b]) + 1e-9
        possible = np.abs(lengths[a] - lengths[b]) <= most
        a, b, most = a[possible], b[possible], most[possible]
        possible = np.abs(letters[a] - letters[b]).sum(axis=1, dtype=np.int16) <= most
        if possible.any():
            yield np.stack([a[possible], b[possible]], axis=1)


FAR: Final = 0.8
"""Likeness below which so much may differ that texts are filed under more groups."""


def filed_under(letters: int, threshold: float) -> int:
    """How many rare groups a text of so many letters is filed under: 7 for a hemistich, 16 for a couplet."""
    return max(5, min(letters // (2 if threshold < FAR else 3), 16), letters // 32)


def _together(filed: Numbers) -> Iterator[Numbers]:
    """Pairs of texts under the same group, from sorted numbers of (group << 32 | text)."""
    groups, texts = filed >> 32, filed & 0xFFFFFFFF
    waiting: list[Numbers] = []
    size = 0
    for step in range(1, CROWD):
        same = np.flatnonzero(groups[step:] == groups[:-step])
        if not len(same):
            break
        for start in range(0, len(same), BLOCK):
            some = same[start : start + BLOCK]
            pairs = np.stack([texts[some], texts[some + step]], axis=1)
            waiting.append(pairs[pairs[:, 0] != pairs[:, 1]])
            size += len(pairs)
            if size >= BLOCK:
                yield np.concatenate(waiting)
                waiting, size = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _compared(pairs: Numbers, texts: Sequence[str], threshold: float) -> NDArray[np.float64]:
    """Rows (text, text, similarity) of the pairs that are at least `threshold` alike."""
    alike = cpdist(
        [texts[n] for n in pairs[:, 0]],
        [texts[n] for n in pairs[:, 1]],
        scorer=Indel.normalized_similarity,
        score_cutoff=threshold,
        dtype=np.float64,
    )
    kept = alike >= threshold
    return np.column_stack([pairs[kept], alike[kept]])


class Group(NamedTuple):
    """Texts that are the same; the first in the input is kept."""

    kept: int
    merged: tuple[int, ...]
    similarity: float
    """Lowest similarity among the pairs that tie the group together."""


def groups(pairs: Iterable[Pair]) -> list[Group]:
    """Connected groups of pairs, in the order of their kept members."""
    found, lowest = Groups[int](), dict[int, float]()
    for pair in pairs:
        ends = [found.root(pair.first), found.root(pair.second)]
        found.join(*ends)
        lowest[min(ends)] = min(pair.similarity, *(lowest.get(end, 1.0) for end in ends))
    return [
        Group(kept=kept, merged=tuple(members[1:]), similarity=lowest[kept])
        for kept, members in found.members().items()
    ]


LEAST_LETTERS: Final = 8
"""A shorter hemistich is a formula that any poet may use."""


def shared_halves(couplets: Sequence[tuple[str, ...]], threshold: float) -> Iterator[Pair]:
    """Pairs of couplets, each its one or two folded hemistichs, that have one at least `threshold` alike."""
    halves = [half_key(couplet, side) for couplet in couplets for side in (0, 1)]
    yield from of_halves(near_duplicates(halves, threshold))


def half_key(couplet: Sequence[str], side: int) -> str:
    """One hemistich as it is compared; empty where there is none or it is too short to say anything."""
    half = couplet[side] if side < len(couplet) else ""
    return half if len(half) >= LEAST_LETTERS else ""


def of_halves(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs of couplets from pairs of hemistichs (twice the couplet's number, one more for the second)."""
    best: dict[tuple[int, int], float] = {}
    for pair in pairs:
        first, second = pair.first >> 1, pair.second >> 1
        if first != second:
            couple = (min(first, second), max(first, second))
            best[couple] = max(best.get(couple, 0.0), pair.similarity)
    yield from (Pair(first, second, alike) for (first, second), alike in sorted(best.items()))
