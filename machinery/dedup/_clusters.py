"""Pairs to groups with one kept member each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mihakk.machinery.dedup._near import Pair
from mihakk.machinery.groups import Groups


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
