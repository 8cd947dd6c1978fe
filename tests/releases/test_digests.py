"""Digests in sorted files: as a set has them, in any order and however often they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.releases.content import digests
from mihakk.releases.content.digests import DigestSorter, SortedDigests
from mihakk.releases.content.seals import open_digest


@pytest.mark.parametrize("held", [0, 7, 1 << 16])
def test_digests_are_kept_as_a_sorted_set(held: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(digests, "HELD", held)
    monkeypatch.setattr(
        digests, "PIECE", digests.PARTS * digests.BYTES * 4
    )  # parts go to disk, pieces end early
    every = [open_digest(str(number % 700)) for number in range(2_000)]
    with DigestSorter() as sorter:
        sorter.add(every[:100])
        assert list(sorter.sorted()) == sorted(set(every[:100]))
        sorter.add(every)
        found = sorter.sorted()
    assert list(found) == sorted(set(every))
    assert b"".join(found.pieces()) == b"".join(sorted(set(every)))
    assert every[0] in found
    assert open_digest("another") not in found
    path = tmp_path / "digests"
    path.write_bytes(b"".join(found.pieces()) + b"what follows")
    assert list(SortedDigests.at(path, len(found))) == list(found)


def test_of_nothing_there_is_nothing() -> None:
    with DigestSorter() as sorter:
        found = sorter.sorted()
    assert len(found) == 0
    assert open_digest("a") not in found
    assert list(found.pieces()) == []
