"""Items of a large set, packed: a tenth of the room, and each made anew whenever it is looked at."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar, overload

from mihakk.releases.content.item_tables import Placed
from mihakk.schemas.audit import AuditState
from mihakk.schemas.item import ITEM, Item

_SAMPLE = 12
"""Items whose words the others are packed with: all say much the same around their texts."""
_RAW = -15
"""Deflate without head and checksum, which would be a tenth of an item."""


Member = TypeVar("Member")


class _Made(Sequence[Member]):
    """A sequence whose members are made whenever they are looked at."""

    @abstractmethod
    def _member(self, place: int) -> Member: ...

    @overload
    def __getitem__(self, place: int) -> Member: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | Sequence[Member]:
        if isinstance(place, slice):
            return [self._member(one) for one in range(*place.indices(len(self)))]
        return self._member(place)


class PackedItems(_Made[Item]):
    """A sequence of items that may be gone through as often as one likes."""

    def __init__(self, items: Iterable[Item]) -> None:
        left = iter(items)
        some = list(islice(left, _SAMPLE))
        self._known = b"".join(map(ITEM.dump_json, some))
        self.ids: list[str] = []
        self._packed: list[bytes] = []
        for item in chain(some, left):
            self.ids.append(item.id)
            self._packed.append(self._pack(item))

    def by_id(self) -> PackedItems:
        """The same items, sorted."""
        order = sorted(range(len(self)), key=self.ids.__getitem__)
        found = PackedItems(())
        found._known = self._known
        found.ids = [self.ids[place] for place in order]
        found._packed = [self._packed[place] for place in order]
        return found

    def __len__(self) -> int:
        return len(self._packed)

    def _member(self, place: int) -> Item:
        return self._item(self._packed[place])

    def __iter__(self) -> Iterator[Item]:
        return map(self._item, self._packed)

    def _pack(self, item: Item) -> bytes:
        deflate = zlib.compressobj(1, wbits=_RAW, zdict=self._known)
        return deflate.compress(ITEM.dump_json(item)) + deflate.flush()

    def _item(self, packed: bytes) -> Item:
        return ITEM.validate_json(zlib.decompressobj(_RAW, self._known).decompress(packed))


class PlacedItems(_Made[Placed]):
    """Packed items with their places in a release."""

    def __init__(self, items: PackedItems) -> None:
        self._items = items
        self._rows: list[tuple[int, str, str, str, AuditState]] = []

    def add(self, place: int, split: str, group: str, verdict: str, audit_state: AuditState) -> None:
        """One more item, by its place among all."""
        self._rows.append((place, split, group, verdict, audit_state))

    def __len__(self) -> int:
        return len(self._rows)

    def _member(self, place: int) -> Placed:
        at, split, group, verdict, audit_state = self._rows[place]
        return Placed(self._items[at], split, group, verdict, audit_state)
