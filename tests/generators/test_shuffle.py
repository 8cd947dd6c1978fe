"""What a shuffled hemistich promises, for any words."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mihakk.generators.parts.shuffle import LEAST_WORDS, OUT_OF_PLACE, shuffled_words, units
from mihakk.machinery.text import word_keys

WORDS = st.lists(st.text("ابتجدرسشقکلمنهوی", min_size=1, max_size=5), min_size=1, max_size=9)
SIGNS = {"می", "نمی", "همی"}


@given(WORDS, st.integers())
@example(["ا", "ا", "اا", "می", "اا"], 1)
@example(["ا", "ا", "می", "ا"], 0)
def test_a_true_permutation_with_the_last_word_moved(found: list[str], seed: int) -> None:
    line = " ".join(found)
    mixed = shuffled_words(line, "fa", Random(seed))
    joined = not SIGNS.isdisjoint(found)
    if isinstance(mixed, str):
        assert mixed == ("too_short" if len(found) < LEAST_WORDS else "words_alike") or joined
        return
    before, after = (word_keys(part, "fa") for part in mixed)
    assert mixed[0] == line
    assert sorted(before) == sorted(after)
    assert before[-1] != after[-1]
    assert joined or sum(a != b for a, b in zip(before, after, strict=True)) >= OUT_OF_PLACE


@given(st.permutations(list("ابتجدرسش")), st.integers())
def test_different_words_can_always_be_shuffled(letters: list[str], seed: int) -> None:
    assert isinstance(shuffled_words(" ".join(letters), "fa", Random(seed)), tuple)


@given(st.lists(st.sampled_from("ابتجدرسش"), min_size=3, unique=True), st.data())
def test_a_sign_of_tense_stays_before_its_verb(letters: list[str], data: st.DataObject) -> None:
    verb, sign = data.draw(st.sampled_from(letters)), data.draw(st.sampled_from(sorted(SIGNS)))
    line = " ".join(f"{sign} {word}" if word == verb else word for word in letters)
    mixed = shuffled_words(line, "fa", Random(data.draw(st.integers())))
    assert mixed == "too_short" if len(letters) < LEAST_WORDS else f"{sign} {verb}" in mixed[1]


@pytest.mark.parametrize("line", ["یک دو سه", "یار", ""])
def test_short_lines_are_left_out(line: str) -> None:
    assert shuffled_words(line, "fa", Random(0)) == "too_short"


def test_words_that_read_the_same_are_no_change() -> None:
    assert shuffled_words("یار یارِ یار یار", "fa", Random(0)) == "words_alike"


def test_punctuation_stays_behind() -> None:
    mixed = shuffled_words("دوش، دیدم که ملائک درِ میخانه زدند!", "fa", Random(0))
    assert not isinstance(mixed, str)
    assert mixed[0] == "دوش دیدم که ملائک درِ میخانه زدند"
    assert "!" not in mixed[1]


def test_an_english_compound_is_one_word_and_a_dash_parts_two() -> None:
    assert units("Were an all-eating shame, and o'er-read;", "en") == [
        "were",
        "an",
        "all-eating",
        "shame",
        "and",
        "o'er-read",
    ]
    assert units("Take all--hast thou then", "en") == ["take", "all", "hast", "thou", "then"]
