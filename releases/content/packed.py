"""Items of a set; a large one's are packed, a tenth of the room, each made anew whenever it is looked at."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, overload

from mihakk.releases.content.item_tables import Placed
from mihakk.schemas.audit import AuditState
from mihakk.schemas.item import ITEM, Item

WHOLE = 8192
"""Items of the largest set that is not packed, some 60 MB: a release goes through its items thirty times."""
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
        some = list(islice(left, WHOLE + 1))
        self._held: Sequence[Item | bytes] = some
        self._known = b"".join(map(ITEM.dump_json, some[:_SAMPLE]))
        self.ids = [item.id for item in some]
        if len(some) > WHOLE:
            self._held = held = list(map(self._pack, some))
            for item in left:
                self.ids.append(item.id)
                held.append(self._pack(item))

    def by_id(self) -> PackedItems:
        """The same items, sorted."""
        order = sorted(range(len(self)), key=self.ids.__getitem__)
        found = PackedItems(())
        found._known = self._known
        found.ids = [self.ids[place] for place in order]
        found._held = [self._held[place] for place in order]
        return found

    def __len__(self) -> int:
        return len(self._held)

    def _member(self, place: int) -> Item:
        return self._item(self._held[place])

    def __iter__(self) -> Iterator[Item]:
        return map(self._item, self._held)

    def _pack(self, item: Item) -> bytes:
        deflate = zlib.compressobj(1, wbits=_RAW, zdict=self._known)
        return deflate.compress(ITEM.dump_json(item)) + deflate.flush()

    def _item(self, held: Item | bytes) -> Item:
        if not isinstance(held, bytes):
            return held
        return ITEM.validate_json(zlib.decompressobj(_RAW, self._known).decompress(held))


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
