"""Two texts are one where a reader sees no difference, and never where an operator, digit or sign differs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mihakk.machinery.text.comparison import comparison_key, comparison_words, exact_key, holds_signs
from mihakk.schemas.record import Language

OPERATORS = "+-*/=<>^|&%~!@#$\\×÷±≤≥≠→∧∨¬∈√°"
ALPHABET = st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Mn"])
LANGUAGES = st.sampled_from(["ar", "fa", "en"])


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("J<<a", "J>>a", "en"),
        ("x-2", "x2", "en"),
        ("x + 1", "x+1", "en"),
        ("-5", "5", "ar"),
        ("1.5", "15", "en"),
        ("1,5", "15", "fa"),
        ("n!", "n", "en"),
        ("Q(sqrt(2), sqrt(3))", "Q(sqrt(2)*sqrt(3))", "en"),
        ("Rr", "rr", "en"),
        ("RR", "rr", "en"),
        ("NaCl", "NACL", "en"),
        ("a ab", "aab", "en"),
        ("ما قيمة s + t؟", "ما قيمة s - t؟", "ar"),
        ("if x:\n  y", "if x: y", "en"),
        ("P → Q", "P ∧ Q", "en"),
        ("not (p and q)", "not p and q", "en"),
        ("زاوية 30°", "زاوية 30", "ar"),
        ("الفصيلة A", "الفصيلة a", "ar"),
        ("،", "؛", "ar"),
    ],
)
def test_what_differs_by_a_sign_is_two_texts(one: str, other: str, language: Language) -> None:
    assert comparison_key(one, language) != comparison_key(other, language)
    assert exact_key(one, language) != exact_key(other, language)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Paris is big.", "paris, is big", "en"),
        ("A dog", "a dog", "en"),
        ("well-known facts", "well known facts", "en"),
        ("الرباط، عاصمة المغرب", "الرباط عاصمة المغرب ؟", "ar"),
        ("أحمد", "احمد", "ar"),
        ("می‌شود", "می شود", "fa"),
        ("كم ثمن ٣ كتب؟", "كم ثمن 3 كتب؟", "ar"),
        ("كيف يكشف عنوان IP؟", "كيف يكشف عنوان IP", "ar"),
    ],
)
def test_two_spellings_of_one_prose_are_compared_as_one_but_are_not_the_same_cell(
    one: str, other: str, language: Language
) -> None:
    assert comparison_key(one, language) == comparison_key(other, language)
    assert exact_key(one, language) != exact_key(other, language)


@given(st.text(ALPHABET, max_size=12), st.text(ALPHABET, max_size=12), st.sampled_from(OPERATORS), LANGUAGES)
@example("a", "b", "-", "en")
def test_an_operator_more_is_another_text(before: str, after: str, sign: str, language: Language) -> None:
    # A sign that only NFC composes away would be none; all of these stay.
    assume(unicodedata.normalize("NFC", before + sign + after) == before + sign + after)
    with_it, without = f"{before}{sign}{after}", f"{before}{after}"
    assert exact_key(with_it, language) != exact_key(without, language)
    if before[-1:].isalnum() and after[:1].isalnum() and sign not in "-":
        assert comparison_key(with_it, language) != comparison_key(without, language)


@given(st.text("xyzA()+- ", max_size=8), st.integers(0, 10**6), st.integers(0, 10**6), LANGUAGES)
def test_another_number_is_another_text(around: str, one: int, other: int, language: Language) -> None:
    assume(one != other)
    texts = (f"{around} {one}", f"{around} {other}")
    assert comparison_key(texts[0], language) != comparison_key(texts[1], language)
    assert exact_key(texts[0], language) != exact_key(texts[1], language)


@given(st.text(ALPHABET, max_size=30), st.text(ALPHABET, max_size=30), LANGUAGES)
@example("a  +b", "a +b", "en")
def test_texts_that_are_equal_sign_by_sign_are_compared_as_one(
    one: str, other: str, language: Language
) -> None:
    if exact_key(one, language) == exact_key(other, language):
        assert comparison_key(one, language) == comparison_key(other, language)
    assert comparison_key(f" {one}\n", language) == comparison_key(one, language)
    assert (comparison_key(one, language) == "") == (not one.split())


def test_words_for_comparing_keep_what_is_no_word() -> None:
    assert comparison_words("Find c in Z_3[x]/(x^3 + c).", "en") == [
        *("find", "c", "in", "Z_3[x]/(x^3", "+", "c)"),
    ]
    assert comparison_words("ما، قيمةُ س؟", "ar") == ["ما", "قيمه", "س"]
    assert holds_signs("ما قيمة س؟", "ar")
    assert not holds_signs("ما عاصمة المغرب؟", "ar")
