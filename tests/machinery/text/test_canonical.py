"""One case for each trap of the canonical form, by code point where the eye cannot see it."""

import pytest

from mihakk.machinery.text import canonical, canonicalize, key

CASES = [
    # letters by language
    ("ar", "کتاب علمی", "كتاب علمي", {"kaf": 1, "yeh": 1}),
    ("ar", "هدى الفتى", "هدى الفتى", {}),
    ("ar", "فتی علی", "فتي على", {"yeh": 2}),
    ("ar", "الفَتَی", "الفَتَى", {"yeh": 1}),
    ("ar", "یوم", "يوم", {"yeh": 1}),
    ("fa", "كتاب علي", "کتاب علی", {"kaf": 1, "yeh": 1}),
    ("fa", "موسى", "موسی", {"yeh": 1}),
    ("fa", "رحمة الله", "رحمة الله", {}),
    ("fa", "م\u06beر", "مهر", {"heh": 1}),
    ("fa", "خان\u06c0 ما", "خانه\u0654 ما", {"heh": 1}),
    ("fa", "خان\u06d5\u0654 ما", "خانه\u0654 ما", {"heh": 1}),
    ("fa", "خانه\u0654 ما", "خانه\u0654 ما", {}),
    ("fa", "رئیس", "رئیس", {}),
    ("fa", "ر\u06cc\u0654یس", "رئیس", {"yeh": 1}),
    ("fa", "پا\u064a\u0654يز", "پائیز", {"yeh": 3}),
    ("en", "The كتاب and کتاب", "The كتاب and کتاب", {}),
    # composition
    ("ar", "ا\u0653من ا\u0654حمد", "آمن أحمد", {"nfc": 1}),
    ("ar", "ش\u0651\u064e", "ش\u064e\u0651", {"nfc": 1}),
    ("en", "cafe\u0301", "café", {"nfc": 1}),
    # presentation forms
    ("ar", "\ufefb", "لا", {"presentation_form": 1}),
    ("ar", "\ufdf2", "الله", {"presentation_form": 1}),
    ("ar", "عبد ا\ufdf2", "عبد الله", {"presentation_form": 1}),
    ("ar", "\ufdfa \ufdfc \ufdfd", "\ufdfa \ufdfc \ufdfd", {}),
    ("ar", "\ufbfeد", "يد", {"presentation_form": 1}),
    ("fa", "\ufef3ا\ufedb", "یاک", {"presentation_form": 2}),
    ("fa", "\ufb58", "پ", {"presentation_form": 1}),
    ("ar", "عل\ufeef", "على", {"presentation_form": 1}),
    ("ar", "ب\ufe76ت\ufc60", "ب\u064eت\u064e\u0651", {"presentation_form": 2}),
    ("ar", "خيرا\ufe71", "خيرا\u064b", {"presentation_form": 1}),
    ("ar", "علامة \ufe76", "علامة \ufe76", {}),
    ("en", "\ufb01ne", "fine", {"presentation_form": 1}),
    # invisible characters
    ("ar", "\u202bقال\u202c\u200f \u2067هو\u2069", "قال هو", {"bidi_control": 5}),
    ("fa", "\ufeffای\u200b دل\u2060", "ای دل", {"zero_width": 3}),
    ("fa", "می\u00adکرد", "میکرد", {"soft_hyphen": 1}),
    ("ar", "ق\x00ال\x9d", "قال", {"control": 2}),
    # joiners
    ("fa", "می\u200cشود خانه\u200cها", "می\u200cشود خانه\u200cها", {}),
    ("fa", "می\u200c\u200cشود", "می\u200cشود", {"zwnj": 1}),
    ("fa", "\u200cمی \u200cشود\u200c؟", "می شود؟", {"zwnj": 3}),
    ("fa", "نام\u200cِ تو", "نامِ تو", {"zwnj": 2}),
    ("fa", "نام\u200c ِ تو", "نامِ تو", {"zwnj": 1, "detached_mark": 1}),
    ("fa", "۲۰\u200cساله", "۲۰\u200cساله", {}),
    ("ar", "كل\u200cشيء", "كلشيء", {"zwnj": 1}),
    ("ar", "١٣٤٨ ه\u200d", "١٣٤٨ ه\u200d", {}),
    ("ar", "كت\u200dاب", "كتاب", {"zwj": 1}),
    # kashida and what looks like it
    ("ar", "لَــم أَقـضِ مِنـهُ", "لَم أَقضِ مِنهُ", {"kashida": 4}),
    ("ar", "حََـــرٍّ", "حَ\u064eرٍّ", {"kashida": 3}),
    ("ar", "العِـفَّةــِ وَ", "العِفَّةِ وَ", {"kashida": 3}),
    ("ar", "الكُفَّاـرِ", "الكُفَّارِ", {"kashida": 1}),
    ("ar", "هـٰذا", "هٰذا", {"kashida": 1}),
    ("ar", "شيـ\u0654ا", "شيـ\u0654ا", {}),
    ("fa", "کـ\u200cاو", "ک\u200cاو", {"kashida": 1}),
    ("ar", "بِالـ", "بِالـ", {}),
    ("ar", "ـخيلِ", "ـخيلِ", {}),
    ("ar", "سنة ١٣٤٨هـ", "سنة ١٣٤٨هـ", {}),
    # blanks
    ("ar", "الحمد ـــــ رب", "الحمد ـــــ رب", {}),
    ("ar", "الحمدـــــالله", "الحمدـــــالله", {}),
    ("ar", "إذا الشعب يوما أراد ____", "إذا الشعب يوما أراد ____", {}),
    ("ar", "إذا ..... يوما", "إذا ..... يوما", {}),
    # detached marks
    ("ar", "بِرامَة َ", "بِرامَةَ", {"detached_mark": 1}),
    ("ar", "النَاس ِ تُقْصَدْ", "النَاسِ تُقْصَدْ", {"detached_mark": 1}),
    ("ar", "من جدول ِأعمال", "من جدولِ أعمال", {"detached_mark": 1}),
    ("ar", "أَحْلَى َموَارِدِ", "أَحْلَى مَوَارِدِ", {"detached_mark": 1}),
    ("fa", "دیگران را َمی", "دیگران را مَی", {"detached_mark": 1}),
    ("ar", "مِن َبَعدِ", "مِن َبَعدِ", {}),
    ("ar", "كفاهما ٍسَغَبيْ", "كفاهما ٍسَغَبيْ", {}),
    ("ar", "ِما بِهِ", "ِما بِهِ", {}),
    # white space
    ("fa", " به\u00a0زر\t و\u3000سیم ", "به زر و سیم", {"space_variant": 3, "space": 3}),
    ("fa", "الف \r\n\r\n\r\n\r\nب\n", "الف\n\nب", {"space": 1, "line_break": 1}),
    ("ar", "", "", {}),
    ("ar", " \u200f ", "", {"bidi_control": 1, "space": 1}),
]


@pytest.mark.parametrize(("language", "raw", "text", "changes"), CASES)
def test_each_trap(language, raw, text, changes):
    found = canonicalize(raw, language)
    assert (ascii(found.text), found.changes) == (ascii(text), changes)
    assert canonical(raw, language) == text
    assert canonicalize(text, language) == (text, {})
    assert key(raw, language) == key(text, language)


def test_marks_survive():
    verse = "ٱلْحَمْدُ لِلَّهِ رَبِّ ٱلْعَـٰلَمِينَ ۖ"
    assert canonical(verse, "ar") == "ٱلْحَمْدُ لِلَّهِ رَبِّ ٱلْعَٰلَمِينَ ۖ"
