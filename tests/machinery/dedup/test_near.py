"""Near duplicates are found whatever was changed, and strangers are left apart."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from mihakk.machinery.dedup import Group, Pair, groups, near_duplicates, shared_halves

FIRST = "صلاحکارکجاومنخرابکجا"
SECOND = "ببینتفاوترهکزکجاستتابکجا"
VERSE = FIRST + SECOND
OTHER = "الایاایهاالساقیادرکاساوناولهاکهعشقآساننموداول"
LETTERS = "ابتجحدرسعفقکلمنهوی"
TEXTS = st.lists(st.text(LETTERS, max_size=60), max_size=12)


def couples(keys: list[str], threshold: float) -> set[tuple[int, int]]:
    return {(pair.first, pair.second) for pair in near_duplicates(keys, threshold)}


def test_a_changed_letter_or_a_dropped_word_is_still_the_same_verse() -> None:
    changed = VERSE.replace("خراب", "حراب", 1)
    shortened = VERSE.replace("ببین", "", 1)
    found = list(near_duplicates([VERSE, OTHER, changed, shortened], 0.85))
    assert {(0, 2), (0, 3)} <= {(pair.first, pair.second) for pair in found}
    assert [(group.kept, group.merged) for group in groups(found)] == [(0, (2, 3))]


def test_empty_texts_are_nobodys_duplicates() -> None:
    assert couples(["", "", VERSE], 0.9) == set()


def test_equal_texts_are_paired_with_the_first_of_them() -> None:
    assert list(near_duplicates(["ab", OTHER, VERSE, "ab", VERSE, VERSE], 1.0)) == [
        Pair(0, 3, 1.0),
        Pair(2, 4, 1.0),
        Pair(2, 5, 1.0),
    ]


@given(TEXTS, st.sampled_from([0.7, 0.9]))
def test_every_pair_is_as_alike_as_it_says_and_comes_once_in_order(keys: list[str], threshold: float) -> None:
    found = list(near_duplicates(keys, threshold))
    assert found == sorted(set(found))
    assert len({(pair.first, pair.second) for pair in found}) == len(found)
    for pair in found:
        assert pair.first < pair.second
        assert pair.similarity == pytest.approx(
            Indel.normalized_similarity(keys[pair.first], keys[pair.second])
        )
        assert pair.similarity >= threshold


@given(st.text(LETTERS, min_size=24, max_size=60), st.integers(0, 59), st.sampled_from(LETTERS), TEXTS)
def test_one_wrong_letter_is_always_found(verse: str, place: int, letter: str, crowd: list[str]) -> None:
    place %= len(verse)
    copy = verse[:place] + letter + verse[place + 1 :]
    keys = [*crowd, verse, copy]
    links = groups(near_duplicates(keys, 0.85))
    at = {member: number for number, group in enumerate(links) for member in (group.kept, *group.merged)}
    assert len(crowd) in at
    assert at[len(crowd)] == at[len(crowd) + 1]


def test_a_long_poem_finds_its_other_edition_among_others() -> None:
    draw = random.Random(1)
    poems = ["".join(draw.choice(LETTERS) for _ in range(draw.randrange(400, 4000))) for _ in range(40)]
    edition = "".join(letter for letter in poems[7] if draw.random() > 0.03)
    assert couples([*poems, edition], 0.9) == {(7, 40)}


def test_all_copies_of_a_much_copied_verse_hang_together() -> None:
    draw = random.Random(2)
    copies = [VERSE[:n] + draw.choice(LETTERS) + VERSE[n:] for n in range(len(VERSE)) for _ in range(4)]
    found = groups(near_duplicates(copies, 0.9))
    assert [(group.kept, len(group.merged)) for group in found] == [(0, len(copies) - 1)]


def test_a_shared_hemistich_is_found_in_either_place_and_alone() -> None:
    couplets = [(FIRST, SECOND), (OTHER, FIRST), (SECOND,), ("قصیرا", "قصیرا"), ("قصیرا", OTHER[:20])]
    found = {(pair.first, pair.second): pair.similarity for pair in shared_halves(couplets, 0.9)}
    assert found == {(0, 1): 1.0, (0, 2): 1.0}


@given(st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order_of_pairs(rng: random.Random) -> None:
    pairs = [Pair(0, 3, 0.95), Pair(3, 7, 0.91), Pair(1, 2, 1.0), Pair(4, 5, 0.9)]
    expected = groups(pairs)
    rng.shuffle(pairs)
    assert groups(pairs) == expected
    assert [(g.kept, g.merged) for g in expected] == [(0, (3, 7)), (1, (2,)), (4, (5,))]
    assert expected[0].similarity == 0.91


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_groups_part_the_paired_texts(couples: list[tuple[int, int]]) -> None:
    pairs = [Pair(min(couple), max(couple), 0.9) for couple in couples if couple[0] != couple[1]]
    found: list[Group] = groups(pairs)
    members = [member for group in found for member in (group.kept, *group.merged)]
    assert sorted(members) == sorted({member for pair in pairs for member in pair[:2]})
    assert all(group.kept < min(group.merged) for group in found)
    together = {frozenset(c) for g in found for c in combinations((g.kept, *g.merged), 2)}
    assert all(frozenset(pair[:2]) in together for pair in pairs)
