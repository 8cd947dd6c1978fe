"""The smallest sample of each kind of damage, and a sound text that tempts the finder."""

import json

import pytest

from mihakk.machinery.text import corruption
from mihakk.machinery.text.corruption import FINDERS

SAMPLES = [
    ("replacement_character", "قا\ufffdل", "\ufffd"),
    ("private_use", "دل\ue821م", "\ue821"),
    ("presentation_form", "\ufefbزم", "\ufefb"),
    ("bidi_control", "\u202bقال\u202c", "\u202b"),
    ("invisible_character", "می\u00adکرد", "\u00ad"),
    ("control_character", "قا\x00ل", "\x00"),
    ("font_slot", "غ\u063bس", "\u063b"),
    ("markup", "که &quot;صبر", "&quot;"),
    ("markup", "شعر</div", "</div"),
    ("orphan_mark", "في ِما", "ِ"),
    ("orphan_mark", "َقال", "َ"),
    ("competing_marks", "ل\u0650\u064eكدود", "\u0650\u064e"),
    ("competing_marks", "الل\u0651\u0651ه", "\u0651\u0651"),
    ("reversed_lam_alef", "في األرض", "األرض"),
    ("reversed_lam_alef", "واإلنسان", "واإلنسان"),
    ("tanwin_for_yeh", "فً\u0647ا", "ً\u0647"),
    ("tanwin_for_yeh", "عم\u064cر", "\u064cر"),
    ("tanwin_for_yeh", "أن \u064cكون", "\u064cك"),
    ("visual_order", "ةسردم", "ةسردم"),
    ("visual_order", "ملقلا دلولا ةيبرعلا", "ةيبرعلا"),
    ("visual_order", "ملقلا دلولا تيبلا", "ملقلا دلولا تيبلا"),
    ("visual_order", "قوله تعالى ) قوم ( هو", ") قوم ("),
    ("repeated_character", "ممممم", "ممم"),
    ("mojibake", "ظ‚ظپط§ ظ†ط¨ظƒ", "ظ‚ظپط§ ظ†ط¨ظƒ"),
]
SOUND = [
    "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ",
    "نمی‌دانم خانهٔ دوست کجاست؟ (۲۰)",
    "ابتعد بعيدًا هدًى وجزءًا، وجاء عمرٌو وحده",
    "هههههه يا سلاااام",
    "علامة \u25cc\u064e وعلامة ـَ",
    "الله ﷺ قال: ____ ..... ـــــ",
    "قال (نعم) ثم (لا)",
    "قولاً وفعلا شغلاً مهلا كلا",
    "الآن والأرض والإنسان والآداب",
    "5 < 6 & 7 > 3",
]


@pytest.mark.parametrize(("kind", "text", "found"), SAMPLES)
def test_each_kind(kind, text, found):
    damages = [damage for damage in corruption(text) if damage.kind == kind]
    assert found in [damage.found for damage in damages]
    assert all(text[damage.start : damage.end] == damage.found for damage in damages)


def test_every_finder_has_a_sample():
    assert {kind for kind, _, _ in SAMPLES} == set(FINDERS)


@pytest.mark.parametrize("text", SOUND)
def test_sound_text(text):
    assert corruption(text) == []


def test_known_defects_of_the_exams(shared_data):
    """13 questions with bidi embeddings; 57 where tanwin stands for yeh, and one more in an option."""
    with open(shared_data / "exams" / "exams_arabic_562.jsonl", encoding="utf-8") as file:  # noqa: PTH123
        rows = [json.loads(line) for line in file]
    kinds = [{damage.kind for damage in corruption("\n".join(map(str, row.values())))} for row in rows]
    assert sum("bidi_control" in found for found in kinds) == 13
    assert 57 <= sum("tanwin_for_yeh" in found for found in kinds) <= 60
    assert sum(bool(found) for found in kinds) < 90
