"""Options that speak of the other options: by letter, by place, or of all of them."""

from __future__ import annotations

import re

from mihakk.text import words_key
from schemas.record import Language

_MARK = r"[(\[]*\s*(?:[أابجده]|[A-Ea-e])\s*[)\]]*"
_LETTERS = re.compile(rf"\s*{_MARK}(?:\s*(?:[و&+,،/-]|and)\s*{_MARK})+\s*[.:]?\s*")
_AROUND = re.compile(
    r"\b(?:كل من|الإجابة|الإجابات|الاجابات|الخيار|الخياران|فقط|معا|معًا|صحيحة|صحيحتان|both|only|options?)\b"
)
_PLACE = (
    *("ما سبق", "مما سبق", "ماسبق", "ما ذكر", "مما ذكر", "سبق ذكره", "الاجابات السابقه", "الخيارات السابقه"),
    *("المذكور اعلاه", "الاجابتان السابقتان", "of the above", "موارد بالا", "گزینه های بالا", "موارد فوق"),
)
_ALL = (
    *("جميع الاجابات", "كل الاجابات", "جميع العبارات", "كل العبارات", "لا توجد اجابه", "لاتوجد اجابه"),
    *(
        "لا شيء",
        "لا شي",
        "ليس ايا",
        "كلاهما",
        "جميعهم",
        "كلها",
        "همه موارد",
        "هیچکدام",
        "هیچ کدام",
        "همه گزینه ها",
    ),
)


def names_others(option: str, language: Language) -> bool:
    """Whether the option names others by letter or place: `أ و ب معا`, `كل ما سبق`, `all of the above`."""
    bare = _AROUND.sub(" ", option)
    if bare != option or any(mark in option for mark in "&+،,و-/"):
        joined = " ".join(bare.split())
        if len(joined) <= 14 and _LETTERS.fullmatch(joined):
            return True
    folded = words_key(option, language)
    return len(folded.split()) <= 6 and any(phrase in folded for phrase in _PLACE)


def is_meta(option: str, language: Language) -> bool:
    """Whether the option speaks of the others and says nothing of its own."""
    folded = words_key(option, language)
    return names_others(option, language) or (
        len(folded.split()) <= 5 and any(folded.startswith(phrase) for phrase in _ALL)
    )
