"""Words of vocalised text, beside camel-tools and pyarabic."""

import pytest

from mihakk.machinery.text import strip_marks, tokens, words


def test_a_word_keeps_its_marks_and_joiners():
    assert words("قِفا نَبكِ، مِن ذِكرى!") == ["قِفا", "نَبكِ", "مِن", "ذِكرى"]
    assert words("نمی‌دانم خانهٔ «دوست» کجاست؟") == ["نمی‌دانم", "خانهٔ", "دوست", "کجاست"]
    assert words("بِالـ ـخَيلِ don't 107 ١٠٧") == ["بِالـ", "ـخَيلِ", "don't", "107", "١٠٧"]


def test_a_mark_nobody_could_place_stays_with_its_word():
    assert words("مِن َبَعدِ ٍ") == tokens("مِن َبَعدِ ٍ") == ["مِن", "َبَعدِ"]


def test_punctuation_and_blanks_are_tokens_of_their_own():
    assert tokens("قال: «نعم»!") == ["قال", ":", "«", "نعم", "»", "!"]
    assert tokens("إذا ____ يوماً ..... أراد ـــــ") == ["إذا", "____", "يوماً", ".....", "أراد", "ـــــ"]


@pytest.mark.parametrize(
    "verse",
    [
        "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ",
        "أَلَا لَيْتَ الشَّبَابَ يَعُودُ يَوْمًا، فَأُخْبِرَهُ!",
        "نمی‌دانم چه منزل بود شب جایی که من بودم",
        "قال: «كلّا».",
    ],
)
def test_agrees_with_camel_tools(verse):
    tokenizers = pytest.importorskip("camel_tools.tokenizers.word")
    assert tokens(verse) == tokenizers.simple_word_tokenize(verse)


def test_strip_marks_agrees_with_pyarabic_but_takes_the_superscript_alef():
    araby = pytest.importorskip("pyarabic.araby")
    verse = "أَلَا لَيْتَ الشَّبَابَ يَعُودُ يَوْمًا"
    assert strip_marks(verse) == araby.strip_tashkeel(verse) == "ألا ليت الشباب يعود يوما"
    assert strip_marks("هٰذا") == "هذا" != araby.strip_tashkeel("هٰذا")
    assert strip_marks("خانهٔ") == "خانهٔ"
