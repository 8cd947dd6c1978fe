"""Pairs to groups with one kept member each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from mihakk.dedup._near import Pair


class Group(NamedTuple):
    """Texts that are the same; the first in the input is kept."""

    kept: int
    merged: tuple[int, ...]
    similarity: float
    """Lowest similarity among the pairs that tie the group together."""


def groups(pairs: Iterable[Pair]) -> list[Group]:
    """Connected groups of pairs, in the order of their kept members."""
    parent: dict[int, int] = {}

    def root(member: int) -> int:
        parent.setdefault(member, member)
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    lowest: dict[int, float] = {}
    for pair in pairs:
        left, right = sorted((root(pair.first), root(pair.second)))
        parent[right] = left
        lowest[left] = min(lowest.get(left, 1.0), lowest.get(right, 1.0), pair.similarity)
    members: dict[int, list[int]] = defaultdict(list)
    for member in parent:
        members[root(member)].append(member)
    return [
        Group(kept=kept, merged=tuple(sorted(set(found) - {kept})), similarity=lowest[kept])
        for kept, found in sorted(members.items())
    ]
