"""Packed items: the same items, in order, as often as they are asked for."""

from __future__ import annotations

import pytest

from mihakk.releases.content import packed as module
from mihakk.releases.content.packed import PackedItems, PlacedItems
from tests.releases.release_material import hafez_items


@pytest.mark.parametrize("whole", [3, 11, 12, 8192])
def test_packed_items_are_the_items_however_they_are_read(
    whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WHOLE", whole)
    items = list(hafez_items(12))
    packed = PackedItems(iter(items))
    assert list(packed) == list(packed) == items
    assert packed[-1] == items[-1]
    assert packed[2:5] == items[2:5]
    assert list(packed.by_id()) == sorted(items, key=lambda item: item.id)
    assert not PackedItems(())
    placed = PlacedItems(packed)
    placed.add(3, "test", "group", "keep", "both")
    (one,) = placed
    assert (one.item, one.split, one.group, one.verdict, one.audit_state) == (
        *(items[3], "test", "group"),
        *("keep", "both"),
    )
