"""What an editor or a page adds around verse: notes, glosses, headings, a place and a date."""

from __future__ import annotations

import re
from typing import Final

from mihakk.machinery.text._tokens import words

HEADING_WORDS: Final = 10
"""Most words of a heading."""
_DIGIT: Final = "[0-9٠-٩۰-۹]"
NUMBERED: Final = re.compile(rf"^\W*{_DIGIT}+\W*$")
BRACKETED: Final = re.compile(r"^\s*(?:\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|﴿[^﴾]*﴾)\s*+[.:؛]?\s*+$")
NOTE: Final = re.compile(
    r"^\W*(?:ملاحظة|ملاحظه|هامش|الهامش|هوامش|المصدر|مصدر القصيدة|المراجع|تعليق|حاشية|الحاشية|شرح البيت"
    r"|عدد الأبيات|مناسبة القصيدة|نبذة عن|القافية|البحر|توضیح|پانویس|حاشیه|یادداشت|نسخه ?بدل|در نسخهٔ?|منبع)"
    r"\s*(?:[:：]|$)"
)
ADDRESS: Final = re.compile(r"^\W*(?:https?://|www\.)\S+\s*$")
"""Where a page lies, and nothing else."""
FOOTNOTE: Final = re.compile(rf"^\s*[\[(]?{_DIGIT}{{1,3}}[\])]?\s*[-–—.:)\]]\s*\S+\s*:")
HEADING: Final = re.compile(
    r"^\W*(?:(?:و?قال|وله|ولها|وأنشد|و?قالت|و?كتب|و?قلت)(?:\s(?:أيضا|أيضًا|يمدح|يهجو|يرثي|في|من|يصف|رحمه|فيه|على|إلى|رثاء|مدح)"
    r"(?!\w)|\s*:)|(?:القصيدة|قصيدة|المقطع|مقطع|الفصل|فصل|الباب|الجزء|النشيد|غزل|قصیده|رباعی|قطعه|بخش|حکایت|باب)"
    rf"\s+(?:شمار[هة]ٔ?\s*)?(?:رقم\s*)?(?:{_DIGIT}+|الأول|الثاني|الثالث|الرابع|الخامس|السادس|السابع|الثامن|التاسع|العاشر"
    r"|الأولى|الثانية|اول|دوم|سوم|چهارم|پنجم)(?!\w)|(?:تمت|نهاية)\s(?:القصيدة|بحمد))"
)
_DATED: Final = re.compile(r"(?:1[0-9]|20|١[٠-٩]|٢٠|۱[۰-۹]|۲۰)[0-9٠-٩۰-۹]{2}\W*$")
"""A text that ends in a year."""
_DATE_WORDS: Final = 6


def is_dated(line: str) -> bool:
    """A few words that end in a year: where and when a poem was written."""
    return _DATED.search(line) is not None and len(words(line)) <= _DATE_WORDS
