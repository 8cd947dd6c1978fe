"""Shared words of couplets, and rhymes."""

import pytest

from mihakk.machinery.text import Couplet, join, key, poem_rhyme, rhyme, split_mudawwar
from mihakk.machinery.text.rhyme import parted_by_radif, ridf

CASES = [
    ("بِالـ", "ـخَيلِ تَساقى", Couplet("بِال", "خَيلِ تَساقى", True)),
    ("أَنَّـ ", " ـني ما عِشتُ", Couplet("أَنَّ", "ني ما عِشتُ", True)),
    ("من الجـ", "ـوع", Couplet("من الج", "وع", True)),
    ("قال بال", "ـلسانِ", Couplet("قال بال", "لسانِ", True)),
    ("قال بالـــ", "لسانِ", Couplet("قال بال", "لسانِ", True)),
    ("إن ما بال\u200d", "لسان", Couplet("إن ما بال", "لسان", True)),
    ("لا يقا|", "س بشيء", Couplet("لا يقا", "س بشيء", True)),
    ("لا يقا", "|س بشيء", Couplet("لا يقا", "س بشيء", True)),
    ("رب الخَل|قَ", "كلهم", Couplet("رب الخَل", "قَ كلهم", True)),
    ("ما له لا", "يقا|س بشيء", Couplet("ما له لا يقا", "س بشيء", True)),
    # not joins: a silent split, a blank, a bar between words, the Hijri heh, an edge with no other hemistich
    ("كلما أقبل الذ", "ي غاب", Couplet("كلما أقبل الذ", "ي غاب", False)),
    ("إذا الشعب ـــــ", "أراد", Couplet("إذا الشعب ـــــ", "أراد", False)),
    ("صدر | آخر", "عجز", Couplet("صدر | آخر", "عجز", False)),
    ("قال الـ", "", Couplet("قال الـ", "", False)),
]


@pytest.mark.parametrize(("sadr", "ajuz", "couplet"), CASES)
def test_split(sadr, ajuz, couplet):
    assert split_mudawwar(sadr, ajuz) == couplet
    assert split_mudawwar(*couplet[:2])[:2] == couplet[:2]


def test_join_makes_the_shared_word_whole():
    assert join("وَرَبُّ الخَل", "قِ طُرّا", mudawwar=True) == "وَرَبُّ الخَلقِ طُرّا"
    assert join("قفا نبك ", " بسقط اللوى") == "قفا نبك بسقط اللوى"
    assert join("", "بسقط اللوى") == "بسقط اللوى"


RHYMES = [
    ("أَرَبي", "ب"),
    ("الكَذِبِ", "ب"),
    ("يَطلُبُ", "ب"),
    ("كَتَبوا", "ب"),
    ("كِتابا", "با"),
    ("كِتابُهُ", "به"),
    ("كِتابُها", "بها"),
    ("مَدرَسَه", "سه"),
    ("رَحمَةٍ", "ت"),
    ("عَصاها", "ها"),
    ("وُجوهُ", "ه"),
    ("الهُدى", "دا"),
    ("العَلِيِّ", "ي"),
    ("ظَبْيُ", "ي"),
    ("السَماءُ", "ء"),
    ("شَيئا", "ءا"),
    ("!،", ""),
]


@pytest.mark.parametrize(("ending", "expected"), RHYMES)
def test_rawi(ending, expected):
    assert rhyme(f"قال {ending}" if expected else ending, "ar") == expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("بِالي", "ا"), ("أَهلي", ""), ("قُلوبُهُ", "و"), ("جَميلا", "و"), ("الجَوَلِ", ""), ("الأَحْلاَمُ", "ا"), ("ـ", "")],
)
def test_ridf_is_the_long_vowel_before_the_rawi(ending, expected):
    assert ridf(ending, "ar") == expected


@pytest.mark.parametrize(
    ("one", "other", "parted"),
    [
        ("خم گیسو نهاده ایم", "کرشمه جادو نهاده ایم", False),
        ("خم گیسو نهاده ایم", "دل خونین نهاده ایم", True),
        ("شبستان است", "تنگ است", True),
        ("سفر نکرد", "حذر نکرد", False),
        ("نهاده ایم", "خم گیسو نهاده ایم", True),
        ("سر کوی", "روی", False),
    ],
)
def test_what_stands_before_a_radif_rhymes_or_parts(one, other, parted):
    assert parted_by_radif(one, other) == parted_by_radif(other, one) == parted


def test_persian_rhyme_is_the_qafiye_and_the_radif():
    endings = ["دلم خراب کجا", "شبی حساب کجا", "می ناب کجا", "سؤال و جواب کجا؟"]
    assert poem_rhyme(endings, "fa") == "اب كجا"
    assert key(poem_rhyme(endings, "fa"), "fa") == "ابكجا"
    assert rhyme("به سوی بهار", "fa") == "ار"


def test_a_poem_without_a_rhyme_has_none():
    assert poem_rhyme(["درخت", "آسمان", "گل", "کوه"], "fa") == ""
    assert poem_rhyme(["قمرُ", "شمسِ", "نجمِ", "ليلِ"], "ar") == ""
    assert poem_rhyme([], "fa") == poem_rhyme([], "ar") == ""


def test_one_stray_line_does_not_hide_the_rhyme():
    assert poem_rhyme(["البدرُ", "الشعرُ", "عمري", "الفجرِ", "قلبي"], "ar") == "ر"
