"""A language is told by function words and letters together; short and even texts are left open."""

from __future__ import annotations

import pytest

from mihakk.machinery.text.language import LanguageEvidence, language_evidence, words_of

ARABIC = "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ بِسِقطِ اللِوى بَينَ الدَخولِ فَحَومَلِ فَتوضِحَ فَالمِقراةِ لَم يَعفُ رَسمُها لِما نَسَجَتها مِن جَنوبٍ وَشَمأَلِ تَرى بَعَرَ الأَرآمِ في عَرَصاتِها وَقيعانِها كَأَنَّهُ حَبُّ فُلفُلِ كَأَنّي غَداةَ البَينِ يَومَ تَحَمَّلوا لَدى سَمُراتِ الحَيِّ ناقِفُ حَنظَلِ"
PERSIAN = "یوسف گم‌گشته باز آید به کنعان غم مخور کلبهٔ احزان شود روزی گلستان غم مخور ای دل غمدیده حالت به شود دل بد مکن وین سر شوریده باز آید به سامان غم مخور دور گردون گر دو روزی بر مراد ما نرفت دائما یک‌سان نباشد حال دوران غم مخور"
MIXED = "الا یا ایها الساقی ادر کأسا و ناولها که عشق آسان نمود اول ولی افتاد مشکل‌ها به بوی نافه‌ای کاخر صبا زان طره بگشاید ز تاب جعد مشکینش چه خون افتاد در دل‌ها"
"""A couplet of Hafez that opens with an Arabic hemistich, and the next."""
URDU = "ہزاروں خواہشیں ایسی کہ ہر خواہش پہ دم نکلے بہت نکلے مرے ارمان لیکن پھر بھی کم نکلے نکلنا خلد سے آدم کا سنتے آئے ہیں لیکن بہت بے آبرو ہو کر ترے کوچے سے ہم نکلے"
IRAQI = "گال له اشگد صار لك هنا گاعد چنت اظن انت صاحبي وانت چذاب يا حريمة انباگت الچلمات من فوگ الشفايف"
ENGLISH = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate"
TYPED_ARABIC = str.maketrans("یکہھے", "يكهھي")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ARABIC, "ar"),
        (PERSIAN, "fa"),
        (PERSIAN.translate(TYPED_ARABIC), "fa"),
        (PERSIAN.translate(str.maketrans("یکپچگژ", "يكبجكز")), "fa"),
        (URDU, "ur"),
        (URDU.translate(TYPED_ARABIC), "ur"),
        (ENGLISH, "en"),
    ],
    ids=[
        "vocalised",
        "Persian",
        "Arabic keyboard",
        "no Persian letter",
        "Urdu",
        "Urdu, Arabic keyboard",
        "English",
    ],
)
def test_the_language_of_a_few_lines_is_told(text: str, language: str) -> None:
    assert language_evidence(text).language == language


@pytest.mark.parametrize(
    "text", ["", "چ", "گلب", "پژ چگ " * 40, "الوقت من ذهب", "از ماست که بر ماست", IRAQI, MIXED, "12 %"]
)
def test_letters_alone_and_few_words_tell_no_other_language(text: str) -> None:
    assert language_evidence(text).other_than("ar") == ""
    assert language_evidence(text).other_than("fa") in ("", "ar")


def test_evidence_of_short_texts_adds_up() -> None:
    sayings = [
        "از ماست که بر ماست",
        "هر که بامش بیش برفش بیشتر",
        "نه سیخ بسوزد نه کباب",
        "کار نیکو کردن از پر کردن است",
    ]
    assert {language_evidence(one).language for one in sayings} == {""}
    assert sum(map(language_evidence, sayings), LanguageEvidence()).language == "fa"


def test_an_explanation_lends_its_words_and_none_of_its_letters() -> None:
    assert language_evidence("اللي فات مات", "What is past is dead: said to one who " * 5).language == ""
    assert language_evidence("العاقل یکفیه الاشاره", PERSIAN).language == "fa"


def test_english_is_compared_with_the_script_of_a_text_whose_words_are_not_told() -> None:
    assert language_evidence("قلبي " * 12).other_than("en") == "ar"
    assert language_evidence(ENGLISH).other_than("en") == ""
    assert language_evidence(ENGLISH).other_than("fa") == "en"


def test_the_words_it_was_told_by_are_named_as_written() -> None:
    assert words_of("fa", PERSIAN)[:3] == ["به", "شود", "گر"]
