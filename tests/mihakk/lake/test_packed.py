"""What is packed comes back as it was, and what is no plain data is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.lake._packed import pack, unpack


@dataclass(frozen=True)
class Inner:
    name: str
    hashed: int
    options: frozenset[int]


class Tupled(NamedTuple):
    name: str
    options: frozenset[int]


@dataclass
class Outer:
    groups: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    prints: dict[str, Inner] = field(default_factory=dict)
    near: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    band: tuple[float, float] = (0.0, 1.0)
    words: set[str] = field(default_factory=set)
    tupled: tuple[Tupled, ...] = ()


WORD = st.text(max_size=5)
HASH = st.integers(0, 2**64 - 1)
INNER = st.builds(Inner, WORD, HASH, st.frozensets(HASH, max_size=3))
OUTER = st.builds(
    Outer,
    st.dictionaries(st.tuples(WORD, HASH), st.lists(WORD, max_size=2).map(tuple), max_size=3),
    st.dictionaries(WORD, INNER, max_size=3),
    st.dictionaries(WORD, st.lists(st.tuples(WORD, st.floats(0, 1)), max_size=2).map(tuple), max_size=2),
    st.dictionaries(HASH, st.integers(1, 9), max_size=3).map(Counter),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.sets(WORD, max_size=3),
    st.lists(st.builds(Tupled, WORD, st.frozensets(HASH, max_size=3)), max_size=2).map(tuple),
)


@given(OUTER)
def test_packing_is_undone(value: Outer) -> None:
    assert unpack(Outer, pack(value)) == value


def test_only_plain_data_is_packed() -> None:
    with pytest.raises(TypeError, match="can't be packed"):
        pack(Outer(words={b"bytes"}))  # type: ignore[arg-type]


def test_the_index_of_a_set_is_packed_whole() -> None:
    from collections import Counter as Counts

    from validators.checks.gathering import Fingerprint, Tally
    from validators.checks.setindex import SetIndex

    hashes = frozenset([2**64 - 1, 1])
    mark = Fingerprint(
        "a", "t", "", "s", "", 2**63, 7, hashes, hashes, ("r", "q"), short_answer=True, words=5
    )
    found = SetIndex(
        prints={"a": mark},
        copies={"a": ("b",)},
        near={"a": (("b", 0.9),)},
        tallies={("s", "t", 4): Tally(items=2, positions=Counts([0, 3]), longest_right=0.5)},
        held={("t", "f"): 0.25},
        values={("t", "f"): {2**64 - 1: 3}},
        metres={5: "fa_1"},
        eras={("ar", "poet"): ("x", "y")},
        strangers={"a": ((1, 0.5),)},
        split_of_records={"r": ("dev", "test")},
    )
    assert unpack(SetIndex, pack(found)) == found
