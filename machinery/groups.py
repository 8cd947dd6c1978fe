"""Rows that belong together: by a key, or found pair by pair (union-find)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...
    def __hash__(self) -> int: ...


Name = TypeVar("Name", bound=_Ordered)
Key = TypeVar("Key")
Row = TypeVar("Row")


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> defaultdict[Key, list[Row]]:
    """Key to its rows, both in the order in which they come; of a key without rows the empty list."""
    found: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def components(pairs: Iterable[tuple[Name, Name]]) -> list[Name]:
    """Of each pair the smallest name in all pairs that hang together with it by their names."""
    listed = list(pairs)
    groups = Groups[Name]()
    for first, other in listed:
        groups.join(first, other)
    return [groups.root(first) for first, _ in listed]


class Groups(Generic[Name]):
    """Sets of names that belong together; a group is called by its smallest name."""

    def __init__(self) -> None:
        self._parent: dict[Name, Name] = {}
        self._size: Counter[Name] = Counter()

    def root(self, name: Name) -> Name:
        """The smallest name in the group of `name`."""
        parent = self._parent
        parent.setdefault(name, name)
        top = name
        while parent[top] != top:
            top = parent[top]
        while parent[name] != top:
            parent[name], name = top, parent[name]
        return top

    def add(self, name: Name) -> None:
        """Count one item to the group of `name`."""
        self._size[self.root(name)] += 1

    def join(self, first: Name, second: Name, most: float = float("inf")) -> bool:
        """Put two names in one group unless it would hold more items than `most`; whether they are in one."""
        low, high = sorted((self.root(first), self.root(second)))
        if low == high:
            return True
        if self._size[low] and self._size[high] and self._size[low] + self._size[high] > most:
            return False
        self._parent[high] = low
        if size := self._size.pop(high, 0):
            self._size[low] += size
        return True

    def members(self) -> dict[Name, list[Name]]:
        """Every group, in order, each with its names in order."""
        found: dict[Name, list[Name]] = defaultdict(list)
        for name in sorted(self._parent):
            found[self.root(name)].append(name)
        return dict(found)
