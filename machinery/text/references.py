"""References of an entry to other entries, and whether anything of a meaning is left beside them."""

from __future__ import annotations

import re
from typing import Final

from mihakk.machinery.text._tokens import words

_QUOTED: Final = '«(?:[^«»]|«[^«»]*»)*»|"[^"\n]*"|“[^“”\n]*”|‘[^‘’\n]*’'
AR_LETTER: Final = (
    r"(?:ال)?(?:[أا]لف|همز[ةه]|با[ءه]?|تا[ءه]?|ثا[ءه]?|جيم|حا[ءه]?|خا[ءه]?|دال|ذال|را[ءه]?|زا[يءى]?|سين|شين|صاد|ضاد"
    r"|طا[ءه]?|ظا[ءه]?|عين|غين|فا[ءه]?|قاف|كاف|لام|ميم|نون|ها[ءه]?|واو|يا[ءه]?)"
    r"(?:\s+(?:ال)?(?:مهمل[ةه]|معجم[ةه]|موحد[ةه]|مثنا[ةه]|مثلث[ةه]|تحتي[ةه]|فوقي[ةه]|مع الألف))*"
)
_SEE: Final = {
    "ar": r"و?[فل]?[اأ]نظر(?:ه|ها|هما)?|و?[فل]?راجع(?:ه|ها)?|و?ينظر|و?يراجع",
    "fa": (r"(?:رجوع\s+(?:شود|کنید|ک)|نگاه\s+کنید|بنگرید)(?:\s+به)?|نک\.?|ن\.\s?ک\.?|رک\.?|ر\.\s?ک\.?"),
    "en": r"(?:see(?:\s+also)?|cf\.?|compare|q\.\s?v\.?|ibid\.?)\b",
}
"""Words that send a reader elsewhere."""
_PLACES: Final = {
    "ar": (
        rf"(?:و?(?:قد\s+)?(?:سيأتي|تقدم|سبق|ذكرناه|مر)(?:ت)?(?:\s+(?:ذكره|ذكرها|بيانه|بعده|قبله|الكلام\s+عليه|هناك))*)"
        rf"|(?:ك?ما\s+(?:تقدم|سبق|مر))|(?:في\s+)?(?:حرف\s+{AR_LETTER}|(?<=في\s){AR_LETTER}|في\s+{AR_LETTER})"
        r"|في\s+(?:كتاب\s+)?(?:ال)?[أا]مثال|في\s+(?:هذا|غير\s+هذا|موضع\s+آخر|موضعه|مكانه|محله|بابه|حرفه)"
        r"(?:\s+(?:الكتاب|الحرف|الموضع))?|هناك|قبله|بعده|[اإ]لخ|إلى\s+آخره|قولهم|قوله|المثل|ما\s+بعده|ما\s+قبله"
    ),
    "fa": r"همان(?:\s?جا)?|به\s+حرف\s+\w+|ذیل|در\s+حرف\s+\w+|الخ|و\s+غیره|ضرب\s?المثل",
    "en": r"under\s+(?:the\s+letter\s+)?[A-Z]\b|above|below|etc\.?|s\.\s?v\.?|entry|the\s+proverb",
}
"""Where a reference says that its target is, and `etc.`."""
_NO_MEANING: Final = {
    "ar": (
        r"(?:و?(?:ال)?معناه?\s+(?:ظاهر|واضح|معروف|مفهوم)|(?:هو\s+)?(?:واضح|ظاهر|معروف)\s+(?:المعنى|المراد))"
        rf"|(?:و?(?:هو|هي)\s+)?(?:في|من|ك)\s?معنى(?:\s+(?:قولهم|المثل|السابق|الآتي))*\s*+:?\s*+(?:{_QUOTED})"
        r"|(?:و?(?:هو|هي)\s+)?في\s+معنى\s+(?:قول|مطلع|بيت|قولهم)(?:\s+\S+){0,4}"
        rf"|(?:و?(?:هو|هي)\s+)?(?:ك|مثل\s+)قولهم\s*+:?\s*+(?:{_QUOTED})|وهو\s+من\s+[أا]مثال(?:\s+\S+){{0,3}}"
        rf"|و?(?:يروى|يقال|قالوا|يقولون|الأكثر\s+فيه|لغة\s+في|رواية\s+في)(?:\s+فيه|\s+أيضا)*\s*+:?\s*+(?:{_QUOTED})?"
        r"|كذا|هكذا|كذلك|و?نحو\s+ذلك|و?غير\s+ذلك|و?غيرها?"
    ),
    "fa": r"معن(?:ا|ی)یش\s+(?:روشن|معلوم)\s+است|معلوم\s+است",
    "en": r"(?:the\s+)?meaning\s+is\s+(?:clear|obvious|plain)|self-explanatory",
}
"""What says that nothing more is said."""
_MARKS: Final = re.compile(r"[\u064B-\u065F\u0670\u0640]")
_JOINS: Final = {
    "ar": r"\bو(?=\s|$|«)|\bأو\b|\bثم\b|\bأيضا\b",
    "fa": r"\bو\b|\bیا\b",
    "en": r"\band\b|\bor\b|\balso\b",
}


def _expression(parts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)


_SEEN: Final = {language: _expression(parts) for language, parts in _SEE.items()}
_PLACED: Final = {language: _expression(parts) for language, parts in _PLACES.items()}
_EMPTY: Final = {
    language: re.compile(rf"(?<!\w)(?:{parts})", re.IGNORECASE) for language, parts in _NO_MEANING.items()
}
_JOINED: Final = {language: re.compile(parts) for language, parts in _JOINS.items()}
_QUOTE: Final = re.compile(_QUOTED)


def only_refers(text: str, language: str = "ar") -> bool:
    """Whether a text only sends its reader elsewhere: a word for `see`, a place or `etc.`, and nothing more.

    The word for `see` may be missing (`«the proverb» etc., under S`); a mere quotation is no reference.
    """
    bare = _MARKS.sub("", text)
    without = _QUOTE.sub(" ", bare)
    sent = bool(_SEEN[language].search(without))
    if sent and not _QUOTE.search(bare):
        # `see: another entry`, without quotation marks: what follows the colon is the other entry's head.
        without = re.sub(rf"({_SEE[language]})\s*[:：]\s*[^.\n]{{1,60}}", r"\1", without, flags=re.IGNORECASE)
    placed = bool(_PLACED[language].search(without))
    rest = _PLACED[language].sub(" ", _SEEN[language].sub(" ", without))
    return (sent or placed) and not words(_JOINED[language].sub(" ", rest))


def content(text: str, language: str = "ar") -> str:
    """What a text says beside references, places, `etc.` and formulas that state no meaning; may be empty."""
    if only_refers(text, language):
        return ""
    bare = _MARKS.sub("", text)
    without = _EMPTY[language].sub(" ", bare)
    rest = _PLACED[language].sub(" ", _SEEN[language].sub(" ", without))
    rest = " ".join(_JOINED[language].sub(" ", rest).split())
    # A quotation alone is a meaning; beside a reference it is what the reference names.
    counted = _QUOTE.sub(" ", rest) if _refers(bare, language) else rest
    return rest if words(counted) else ""


def _refers(text: str, language: str) -> bool:
    """The text holds a reference, a place or an empty formula."""
    return any(found[language].search(text) for found in (_SEEN, _PLACED, _EMPTY))
