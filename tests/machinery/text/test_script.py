"""Shares of scripts and letters of the wrong language."""

from mihakk.machinery.text import arabic_share, canonical, script_shares, wrong_letters


def test_shares():
    assert script_shares("قالَ ـــ 12!") == {"arabic": 1, "latin": 0, "other": 0}
    assert script_shares("قال abc Ж") == {"arabic": 3 / 7, "latin": 3 / 7, "other": 1 / 7}
    assert arabic_share("... 12") == 0
    assert arabic_share("ﻻ") == 1
    assert script_shares("é")["latin"] == script_shares("ﬁ")["latin"] == 1


def test_wrong_letters():
    assert wrong_letters("کتاب علی", "ar") == {"ک": 1, "ی": 1}
    assert wrong_letters("كتاب علي موسى", "fa") == {"ك": 1, "ي": 1, "ى": 1}
    assert wrong_letters("پیتزا", "ar") == {"ی": 1}
    assert wrong_letters("رحمةً أؤئ", "fa") == {}
    assert wrong_letters("a word: كل", "en") == {"ك": 1, "ل": 1}
    assert wrong_letters(canonical("کتاب علی", "ar"), "ar") == {}
