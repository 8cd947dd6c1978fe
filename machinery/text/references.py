"""References of an entry to other entries, and whether anything of a meaning is left beside them."""

from __future__ import annotations

import re
from typing import Final

from mihakk.machinery.text._tokens import words
from mihakk.machinery.text.no_meaning import named_instead
from mihakk.schemas.record import Language

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
        r"|و?غير(?:ها?|\s+ذلك)|و?نحو\s+ذلك"
    ),
    "fa": r"همان(?:\s?جا)?|به\s+حرف\s+\w+|ذیل|در\s+حرف\s+\w+|الخ|و\s+غیره|ضرب\s?المثل",
    "en": r"under\s+(?:the\s+letter\s+)?[A-Z]\b|above|below|etc\.?|s\.\s?v\.?|entry|the\s+proverb",
}
"""Where a reference says that its target is, and `etc.`."""
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
_JOINED: Final = {language: re.compile(parts) for language, parts in _JOINS.items()}
_QUOTE: Final = re.compile(_QUOTED)
_TOLD: Final = frozenset(_SEE)
"""Languages whose references are told; a text in any other one is taken to say what it says."""


def only_refers(text: str, language: Language = "ar") -> bool:
    """Whether a text only sends its reader elsewhere: a word for `see`, a place or `etc.`, and nothing more.

    The word for `see` may be missing (`«the proverb» etc., under S`); a mere quotation is no reference.
    """
    if language not in _TOLD:
        return False
    bare = _MARKS.sub("", text)
    without = _QUOTE.sub(" ", bare)
    sent = bool(_SEEN[language].search(without))
    if sent and not _QUOTE.search(bare):
        # `see: another entry`, without quotation marks: what follows the colon is the other entry's head.
        without = re.sub(rf"({_SEE[language]})\s*[:：]\s*[^.\n]{{1,60}}", r"\1", without, flags=re.IGNORECASE)
    if not sent and not _PLACED[language].search(without):
        return False
    rest = _PLACED[language].sub(" ", _SEEN[language].sub(" ", without))
    return not words(_JOINED[language].sub(" ", rest))


def content(text: str, language: Language = "ar", *, of_idiom: bool = True) -> str:
    """What a text says beside references, places and `etc.`; empty where that states no meaning.

    Args:
        text: An explanation, or an answer.
        language: Its language.
        of_idiom: It explains an idiom, so words about grammar, sources and entries are no meaning; of
            anything else (`who said it?` `the poet`) only what calls a meaning clear is none.
    """
    if language not in _TOLD:
        return " ".join(text.split())
    if only_refers(text, language):
        return ""
    bare = _MARKS.sub("", text)
    rest = _PLACED[language].sub(" ", _SEEN[language].sub(" ", bare))
    rest = " ".join(_JOINED[language].sub(" ", rest).split())
    unquoted = _QUOTE.sub(" ", rest)
    named = named_instead(unquoted, language, most=1)
    if named and (of_idiom or (named == "clarity" and len(words(unquoted)) > 1)):
        return ""
    # A quotation alone is a meaning; beside a reference it is what the reference names.
    refers = _SEEN[language].search(bare) or _PLACED[language].search(bare)
    return rest if words(unquoted if refers else rest) else ""
