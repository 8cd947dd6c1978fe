"""What a key forgets, and what it must not."""

import pytest

from mihakk.machinery.text import key, word_keys, words_key

SAME = [
    ("ar", "أَحمَدُ", "احمد"),
    ("ar", "على", "علي"),
    ("ar", "مدرسة", "مدرسه"),
    ("ar", "مؤمن", "مومن"),
    ("ar", "جاء", "جا"),
    ("ar", "شيء", "شئ"),
    ("ar", "هٰذا ٱلرَّحْمٰنِ ۖ", "هذا الرحمن"),
    ("ar", "ﷲ", "الله"),
    ("ar", "اﷲ", "الله"),
    ("ar", "ﻻ", "لا"),
    ("ar", "١٠٧", "107"),
    ("ar", "گوگل", "كوكل"),
    ("fa", "می‌شود", "میشود"),
    ("fa", "خانه‌های ما", "خانه هاي ما"),
    ("fa", "خانۀ ما", "خانهٔ ما"),
    ("fa", "خانۀ ما", "خانه ما"),
    ("fa", "كتاب", "کتاب"),
    ("fa", "۱۰۷", "107"),
    ("en", "Café!", "cafe"),
]
DIFFERENT = [("fa", "گل", "کل"), ("fa", "پر", "بر"), ("ar", "علم", "عمل"), ("ar", "قلب", "كلب")]


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_spellings_of_the_same_words_share_a_key(language, one, other):
    assert key(one, language) == key(other, language) != ""


@pytest.mark.parametrize(("language", "one", "other"), DIFFERENT)
def test_different_words_do_not(language, one, other):
    assert key(one, language) != key(other, language)


def test_word_boundaries():
    text = "قِفا، نَبكِ\u00a0مِن «ذِكرى» ــ حَبيبٍ"
    assert words_key(text, "ar") == "قفا نبك من ذكري حبيب"
    assert word_keys(text, "ar") == words_key(text, "ar").split()
    assert key("می‌روم", "fa") == "ميروم"
    assert words_key("it's 'quoted'", "en") == "its quoted"
    assert words_key("ء ـــ", "ar") == key("ـَ", "ar") == ""
