"""Real couplets, ghazals and books, beside what camel-tools, pyarabic and Ganjoor say of them."""

import gzip
import json
import tarfile
import unicodedata
from collections import Counter

import pytest

from mihakk.machinery.text import (
    canonical,
    canonicalize,
    key,
    poem_rhyme,
    rhyme,
    split_mudawwar,
    strip_marks,
    tokens,
    words_key,
    wrong_letters,
)
from mihakk.machinery.text import codepoints as cp


@pytest.fixture(scope="module")
def couplets(shared_data):
    """All 47,124 couplets of MetRec as (sadr, ajuz)."""
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" ", 1)[1] for line in file]
    return [tuple(line.split(" # ", 1)) for line in lines]


@pytest.fixture(scope="module")
def hemistichs(couplets):
    return [half for couplet in couplets for half in couplet]


def poems(path):
    with tarfile.open(path) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith(".json"):
                file = tar.extractfile(member)
                assert file is not None
                poem = json.load(file)
                if isinstance(poem, dict) and poem.get("Verses"):
                    yield poem


@pytest.fixture(scope="module")
def ghazals(shared_data):
    found = [
        p for p in poems(shared_data / "ganjoor" / "hafez_ghazals_raw.tar.gz") if "/ghazal/sh" in p["FullUrl"]
    ]
    assert len(found) == 495
    return found


def test_couplets_change_only_where_they_are_faulty(hemistichs):
    forms = [canonicalize(half, "ar") for half in hemistichs]
    changes = sum((Counter(form.changes) for form in forms), Counter())
    assert set(changes) == {"detached_mark", "kashida", "nfc", "space", "zero_width"}
    assert 4000 < changes["kashida"] < 5125  # of 5,125 tatweels in the file, the others mark shared words
    assert changes["zero_width"] == 1
    assert 20 <= changes["detached_mark"] <= 35
    assert all(not wrong_letters(form.text, "ar") for form in forms)
    untouched = [half for half, form in zip(hemistichs, forms, strict=True) if form.changes.keys() <= {"nfc"}]
    assert all(canonical(half, "ar") == unicodedata.normalize("NFC", half) for half in untouched)
    assert len(untouched) > 93000


def test_keys_of_couplets_survive(hemistichs):
    for half in hemistichs:
        text = canonical(half, "ar")
        assert key(half, "ar") == key(text, "ar")
        assert words_key(half, "ar") == words_key(text, "ar")
        assert canonical(text, "ar") == text


def test_normalising_shows_duplicates_that_spelling_hid(couplets):
    exact = len(couplets) - len(set(couplets))
    folded = len(couplets) - len({key(" ".join(couplet), "ar") for couplet in couplets})
    assert 50 <= exact <= 100
    assert folded > 2 * exact


def test_shared_words_are_read_from_their_tatweels(couplets):
    split = [split_mudawwar(*couplet) for couplet in couplets if len(couplet) == 2]
    found = [couplet for couplet in split if couplet.mudawwar]
    assert 200 < len(found) < 300
    edges = [half.strip() for couplet in found for half in (couplet.sadr[-1:], couplet.ajuz[:1])]
    assert cp.TATWEEL not in edges
    left = [canonical(half, "ar") for couplet in split for half in couplet[:2]]
    # What stays: a tatweel before the first word or behind the last, and ornament at the end of a word.
    assert sum(cp.TATWEEL in half for half in left) == 10


def test_camel_tools_agrees_where_it_destroys_nothing(hemistichs):
    normalize = pytest.importorskip("camel_tools.utils.normalize")
    dediac = pytest.importorskip("camel_tools.utils.dediac")
    tokenizers = pytest.importorskip("camel_tools.tokenizers.word")
    plain = [half for half in hemistichs[::6] if not canonicalize(half, "ar").changes.keys() - {"nfc"}]
    for half in plain:
        text = canonical(half, "ar")
        assert text == normalize.normalize_unicode(half)
        folded = dediac.dediac_ar(text)
        folded = normalize.normalize_teh_marbuta_ar(
            normalize.normalize_alef_maksura_ar(normalize.normalize_alef_ar(folded))
        )
        assert key(text, "ar") == key(folded, "ar")
        if not set(folded) & set("ءؤئ" + cp.TATWEEL) and folded.replace(" ", "").isalpha():
            assert words_key(text, "ar") == folded
    sample = [half for half in plain if cp.TATWEEL not in half]
    agreed = sum(tokens(half) == tokenizers.simple_word_tokenize(half) for half in sample)
    assert agreed / len(sample) > 0.999


def test_pyarabic_strips_the_same_marks(hemistichs):
    araby = pytest.importorskip("pyarabic.araby")
    for half in hemistichs:
        assert strip_marks(half) == araby.strip_tashkeel(half)
        text = canonical(half, "ar")
        if cp.TATWEEL not in text and "detached_mark" not in canonicalize(half, "ar").changes:
            assert (
                strip_marks(text).split()
                == araby.strip_tatweel(araby.strip_tashkeel(half)).strip("\ufeff").split()
            )


def test_ghazals_keep_what_their_editors_typed(ghazals):
    verses = [verse["Text"] for ghazal in ghazals for verse in ghazal["Verses"]]
    forms = [canonicalize(verse, "fa") for verse in verses]
    for verse, form in zip(verses, forms, strict=True):
        assert canonical(form.text, "fa") == form.text
        assert Counter(form.text)[cp.HAMZA_ABOVE] >= Counter(verse)[cp.HAMZA_ABOVE]
        assert not set(form.text) & set("يكى\u00a0\u00ad\u200e\u06c0")
    changes = sum((Counter(form.changes) for form in forms), Counter())
    assert changes["zwnj"] < 0.1 * sum(verse.count(cp.ZWNJ) for verse in verses)


def test_rhymes_of_ghazals_are_those_ganjoor_gives(ghazals):
    agreed = 0
    for ghazal in ghazals:
        first = [verse["Text"] for verse in ghazal["Verses"] if verse["Position"] == "Right"][:1]
        second = [verse["Text"] for verse in ghazal["Verses"] if verse["Position"] == "Left"]
        found = poem_rhyme([*first, *second], "fa").replace(" ", "")
        agreed += found == key(ghazal["RhymeLetters"], "fa")
    assert agreed >= 475


def test_odd_poems_are_kept_whole(shared_data):
    odd = list(poems(shared_data / "ganjoor" / "edge_cases_raw.tar.gz"))
    assert len(odd) == 11
    for poem in odd:
        for verse in poem["Verses"]:
            text = canonical(verse["Text"] or "", "fa")
            assert key(text, "fa") == key(verse["Text"] or "", "fa")


def test_justified_hemistichs_lose_their_kashida_and_share_a_rhyme(shared_data):
    path = shared_data / "fannorflop" / "sample_generated_explanation.json"
    for poem in json.loads(path.read_text(encoding="utf-8")):
        lines = [line for line in poem["content"].splitlines() if line and not line.isdigit()]
        forms = [canonicalize(line, "ar") for line in lines]
        assert any(form.changes.get("kashida") for form in forms)
        assert not any(cp.TATWEEL in form.text for form in forms)
        endings = {rhyme(line, "ar") for line in lines[1::2]}
        assert endings == {poem_rhyme(lines[1::2], "ar")}


def test_a_book_of_idioms_loses_only_its_marks_of_direction(shared_data):
    path = shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    changes = sum((Counter(canonicalize(line, "ar").changes) for line in lines), Counter())
    assert changes == {"bidi_control": 60, "space": 45}
