"""What holds for every text: hypothesis draws from all the characters the tables know, and then some."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text import (
    canonical,
    canonicalize,
    corruption,
    join,
    key,
    repair_mojibake,
    split_mudawwar,
    tokens,
    words,
    words_key,
)
from mihakk.machinery.text import codepoints as cp

LANGUAGES = st.sampled_from(languages("items"))
ARABIC = "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهويىٱ"
PERSIAN = "آأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی"
TYPED = cp.TYPED_MARKS + cp.TATWEEL * 4 + "   "
INVISIBLE = (
    cp.BIDI_CONTROLS + cp.ZERO_WIDTH + cp.SOFT_HYPHEN + cp.ZWNJ * 6 + cp.ZWJ * 3 + cp.SPACES + "\x00\x9d"
)
FORMS = "".join([*cp.FORM_LETTERS, *cp.FORM_MARKS, *cp.KEPT_FORMS])
EVERYTHING = st.text(
    st.sampled_from(ARABIC + PERSIAN + cp.LETTERS)
    | st.sampled_from(TYPED)
    | st.sampled_from(INVISIBLE + cp.LINE_BREAKS + cp.MARKS)
    | st.sampled_from(FORMS)
    | st.sampled_from("abz09٣۴.,_|()«»؟…'e\u0301\u0308-#")
    | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


@given(EVERYTHING, LANGUAGES)
@example("ي\u0654\u0651", "fa")
@example("ا\ufdf2 ا\u064e\ufdf2", "ar")
@example("ب ِ ِج ِد", "ar")
@example("ب\ufe70\ufe76\u200f\ufe71", "ar")
@example("ب\u200c\u064e\u200c\u064f\u200cب", "fa")
@example("ه\u200d\u200d ه\u200d\u200cب", "fa")
def test_idempotent_and_nfc(raw, language):
    text, changes = canonicalize(raw, language)
    assert canonicalize(text, language) == (text, {})
    assert unicodedata.is_normalized("NFC", text)
    assert (text == raw) == (not changes)


@given(EVERYTHING, LANGUAGES)
def test_the_fast_path_is_the_same(raw, language):
    assert canonical(raw, language) == canonicalize(raw, language).text


@given(EVERYTHING, LANGUAGES)
def test_the_key_survives(raw, language):
    text = canonical(raw, language)
    assert key(text, language) == key(raw, language)
    assert words_key(text, language) == words_key(raw, language)
    assert key(key(raw, language), language) == key(raw, language)
    assert words_key(raw, language).replace(" ", "") == key(raw, language)


def boundaries(text):
    """Where words end, simply: the letters before each stretch of white space, marks and signs left out."""
    ends, seen = [], 0
    for part in text.split():
        letters = sum(c.isalnum() and c not in cp.FORM_MARKS and c != cp.TATWEEL for c in spelled(part))
        seen += letters
        if letters:
            ends.append(seen)
    return ends


def spelled(part):
    """One character a letter: ligatures spelt out, whatever alef stands before the ligature of الله."""
    bare = "".join(c for c in part if c not in cp.MARKS and c not in INVISIBLE)
    composed = unicodedata.normalize("NFC", bare.replace("ا\ufdf2", "\ufdf2").replace("ٱ\ufdf2", "\ufdf2"))
    return "".join(cp.FORM_LETTERS.get(c, c) for c in composed)


@given(EVERYTHING, LANGUAGES)
def test_words_are_neither_joined_nor_split(raw, language):
    assert boundaries(canonical(raw, language)) == boundaries(raw)


@given(st.text(st.sampled_from(ARABIC + PERSIAN + TYPED + INVISIBLE + "١٢۱۲، ."), max_size=40))
def test_letters_come_out_in_the_language_asked_for_and_no_others_come_in(raw):
    assert not set(canonical(raw, "ar")) & (set("یکۀہھ") | set("پچژگ") - set(raw))
    assert not set(canonical(raw, "fa")) & (set("يكىۀہھ") | set("ة") - set(raw))


@given(st.text(st.sampled_from(ARABIC + cp.TYPED_MARKS + " "), max_size=40), LANGUAGES)
def test_marks_are_never_lost(raw, language):
    """Of composed letters only marks and letters remain to be counted, hamza and madda being parts of letters."""
    text = canonical(raw, language)
    count = lambda t: sum(c in cp.VOCALISATION for c in t)  # noqa: E731
    assert count(text) == count(raw)


@given(st.lists(EVERYTHING.map(lambda text: "".join(text.split())), max_size=4), LANGUAGES)
def test_lines_are_independent(lines, language):
    whole = canonical("\n".join(lines), language)
    parts = [canonical(line, language) for line in lines]
    assert [line for line in whole.split("\n") if line] == [part for part in parts if part]


@given(EVERYTHING, EVERYTHING)
def test_splitting_loses_no_letter(sadr, ajuz):
    split = split_mudawwar(sadr, ajuz)
    assert key(join(*split[:2], mudawwar=split.mudawwar), "ar") == key(sadr + ajuz, "ar") or "\ufdf2" in ajuz
    if not split.mudawwar:
        assert split[:2] == (sadr, ajuz)


@given(EVERYTHING)
def test_tokens_hold_every_letter_in_order(raw):
    assert key("".join(words(raw)), "fa") == key("".join(tokens(raw)), "fa") == key(raw, "fa")
    assert all(word in tokens(raw) for word in words(raw))


@given(EVERYTHING)
def test_damage_is_where_it_is_said_to_be(raw):
    assert all(raw[d.start : d.end] == d.found != "" for d in corruption(raw))


@given(EVERYTHING, st.sampled_from(["cp1256", "latin-1", "cp1252"]))
def test_a_repair_is_the_text_that_was_misread(text, encoding):
    try:
        misread = text.encode().decode(encoding)
    except UnicodeDecodeError:
        return
    repair = repair_mojibake(misread)
    if repair is not None and len(repair.steps) == 1 and "utf-8" in repair.steps[0]:
        assert repair.text == text


@pytest.mark.parametrize("form", sorted(cp.FORM_LETTERS))
def test_no_letter_form_brings_a_space(form):
    assert not any(c.isspace() for c in cp.FORM_LETTERS[form])


@pytest.mark.parametrize("language", languages("items"))
def test_no_letter_variant_becomes_another(language):
    """Characters are replaced one after the other, in any order."""
    variants = pack(language).writing.variants
    assert not set("".join(variants.values())) & variants.keys()
    assert not set("".join(cp.FORM_LETTERS.values())) & (cp.FORM_LETTERS.keys() | cp.FORM_MARKS.keys())


@pytest.mark.parametrize(
    "piece", ["\u064e", "ب", "ی", "ـ", "بـ", "\u200c", "ب\u200c\u064e", " \u064e", "<a", "&a", ") a "]
)
def test_no_text_takes_more_than_its_length_calls_for(piece):
    """Twenty times the text may take some forty times as long, not four hundred."""

    def cost(size):
        text, best = piece * size, float("inf")
        for _ in range(3):
            start = time.process_time()
            for language in ("ar", "fa"):
                canonicalize(text, language)
                words_key(text, language)
            tokens(text)
            corruption(text)
            split_mudawwar(text, text)
            best = min(best, time.process_time() - start)
        return best

    assert cost(20_000) < 60 * max(cost(1_000), 0.002)
