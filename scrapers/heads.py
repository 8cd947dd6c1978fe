"""Letters and order of heads in books of idioms and proverbs."""

from __future__ import annotations

import re
from functools import cache

_LETTERS = {
    **{"الألف": "ا", "الباء": "ب", "التاء": "ت", "الثاء": "ث", "الجيم": "ج", "الحاء": "ح", "الخاء": "خ"},
    **{"الدال": "د", "الذال": "ذ", "الراء": "ر", "الزاي": "ز", "السين": "س", "الشين": "ش", "الصاد": "ص"},
    **{"الضاد": "ض", "الطاء": "ط", "الظاء": "ظ", "العين": "ع", "الغين": "غ", "الفاء": "ف", "القاف": "ق"},
    **{"الكاف": "ك", "اللام": "ل", "الميم": "م", "النون": "ن", "الهاء": "ه", "الواو": "و", "الياء": "ي"},
    **{"الهمزة": "ا", "الف": "ا", "پ": "پ", "چ": "چ", "ژ": "ژ", "گ": "گ"},
}
_BEFORE_LETTER = frozenset({"حرف", "باب", "فصل", "أوله", "أولها", "بحرف"})
_FOLDED = str.maketrans("أإآٱکیى", "ااااكيي")
_MARKS = re.compile(r"[\u064B-\u065F\u0670\u0640]")
_ORDER = {letter: chr(place) for place, letter in enumerate("ءابپتثجچحخدذرزژسشصضطظعغفقکگلمنهوي", ord("A"))}
_ORDER |= {other: _ORDER[letter] for other, letter in zip("أإٱةؤئىیك", "اااهويييک", strict=True)}
_COLLATION = str.maketrans(_ORDER | {"آ": 2 * _ORDER["ا"]})
_WORD = re.compile(r"[^\W\d_]+")
_SORTED_WORDS = 5
_UNARTICLED = frozenset({"اللي", "اللى", "الله", "الذي", "التي"})


@cache
def section_letter(title: str) -> str:
    """The letter that a section such as `حرف الباء`, `ب` or `ما أوله ب` holds, folded; else empty."""
    words = title.split()
    if not words:
        return ""
    if len(words[-1]) == 1 and (len(words) == 1 or words[-2] in _BEFORE_LETTER):
        bare = words[-1].translate(_FOLDED)
        return bare if bare in _LETTERS.values() else ""
    return _LETTERS.get(words[-1], "")


def begins_with(head: str, letter: str) -> bool:
    """Whether a head begins with a folded letter, its article left aside or not."""
    words = _WORD.findall(_MARKS.sub("", head[:120]).translate(_FOLDED))
    return bool(words) and (words[0].startswith(letter) or words[0].removeprefix("ال").startswith(letter))


def sort_key(text: str) -> str:
    """What a head is sorted by: letters of its first words, without the article of the first."""
    words = _WORD.findall(_MARKS.sub("", text[:120]).casefold())[:_SORTED_WORDS]
    if words and words[0].startswith("ال") and words[0] not in _UNARTICLED:
        words[0] = words[0][2:] or words[0]
    return "".join(words).translate(_COLLATION)
