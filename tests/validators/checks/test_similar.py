"""Items that are nearly the same, against comparing every item with every other."""

from __future__ import annotations

from array import array
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.validators.checks.gathering import Fingerprint
from mihakk.validators.checks.similar import SHOWN, near_items, similar_pairs

SETS = ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6), (1, 2, 3, 4), (2, 3, 4, 5), (7, 8, 9), (1, 9))


@settings(max_examples=80)
@given(
    st.dictionaries(
        st.text("xyz", min_size=1, max_size=4), st.frozensets(st.integers(0, 14), min_size=1), max_size=14
    ),
    st.sampled_from([0.5, 0.8, 0.9, 1.0]),
)
def test_no_similar_pair_is_missed_and_none_is_invented(
    sets: dict[str, frozenset[int]], similar: float
) -> None:
    lists = {name: sorted(members) for name, members in sets.items()}
    expected = {
        (one, other)
        for one, other in combinations(sorted(sets), 2)
        if len(sets[one] & sets[other]) >= similar * len(sets[one] | sets[other])
    }
    assert {(one, other) for one, other, _ in similar_pairs(lists, similar)} == expected


def test_sets_that_share_nothing_are_no_pairs() -> None:
    assert list(similar_pairs({"a": [1, 2], "b": [3], "c": []}, 0.5)) == []


def mark(number: int, task: str, words: int, body: int, pair: str) -> Fingerprint:
    nothing: frozenset[int] = frozenset()
    return Fingerprint(
        f"i{number:02}",
        task,
        pair,
        "",
        "",
        0,
        body,
        body,
        nothing,
        nothing,
        (),
        short_answer=False,
        words=words,
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["t", "u"]),
            st.integers(0, len(SETS) - 1),
            st.integers(1, 4),
            st.sampled_from(["", "", "p", "q"]),
        ),
        max_size=30,
    ),
    st.sampled_from([0.5, 0.8, 1.0]),
)
def test_neighbours_are_those_of_every_comparison(
    drawn: list[tuple[str, int, int, str]], similar: float
) -> None:
    # A pair has one body and one set of words, being one item in two orders.
    whole = {pair: (task, words, body) for task, words, body, pair in drawn if pair}
    prints = [
        mark(n, *(whole[pair] if pair else (task, words, body)), pair)
        for n, (task, words, body, pair) in enumerate(drawn)
    ]
    shingles = {
        task: {m.words: array("I", SETS[m.words]) for m in prints if m.task == task and m.words}
        for task in ("t", "u")
    }
    expected = {}
    for one in prints:
        found = [
            (other.item, overlap)
            for other in prints
            if other.task == one.task and other.body != one.body and not one.twin(other)
            if one.words and other.words
            if (overlap := jaccard(SETS[one.words], SETS[other.words])) >= similar
        ]
        if found:
            expected[one.item] = tuple(sorted(found, key=lambda pair: (-pair[1], pair[0]))[:SHOWN])
    assert near_items(prints, shingles, similar)[0] == expected


def jaccard(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return len({*one} & {*other}) / len({*one, *other})


@pytest.mark.parametrize("count", [SHOWN, 40])
def test_of_many_neighbours_the_first_are_named(count: int) -> None:
    prints = [mark(n, "t", 1, n, "") for n in range(count + 1)]
    near, _ = near_items(prints, {"t": {1: array("I", SETS[1])}}, 0.8)
    assert [name for name, _ in near["i00"]] == ["i01", "i02", "i03", "i04", "i05"]
