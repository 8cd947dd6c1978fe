"""Heads of entries in books of idioms and proverbs, told from the text around them."""

from __future__ import annotations

import re

from mihakk.text.references import only_refers

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
HEAD_WORDS = 8
DECORATION = " \t~*#=_[]{}()<>|•–—-"


def section_letter(title: str) -> str:
    """The letter that a section such as `حرف الباء`, `ب` or `ما أوله ب` holds, folded; else empty."""
    words = title.split()
    if not words:
        return ""
    if len(words[-1]) == 1 and (len(words) == 1 or words[-2] in _BEFORE_LETTER):
        bare = words[-1].translate(_FOLDED)
        return bare if bare in _LETTERS.values() else ""
    return _LETTERS.get(words[-1], "")


def letter_pair(text: str) -> str:
    """The first letter's name where a line names two (`الألف مع الباء`), as chapters of old books do."""
    words = text.strip(DECORATION).removeprefix("باب ").split()
    named = len(words) == 3 and words[1] == "مع" and {words[0], words[2]} <= _LETTERS.keys()
    return words[0] if named else ""


def letter_line(text: str) -> str:
    """The letter that a decorated line names (`~ الباء ~`, `[ باء ]`, `**حرف الباء**`, `«ب»`), folded.

    A letter's name without decoration may be a head ("the eye" is one), or the end of a wrapped line.
    """
    words = text.strip(DECORATION).split()
    if not words or text[0] not in DECORATION + "«" or text[-1] not in DECORATION + "»":
        return ""
    if len(words) == 1 and (bare := words[0].strip("«»")) != words[0]:
        return section_letter(bare) if len(bare) == 1 else ""
    named = len(words[-1]) > 2 and words[:-1] in ([], ["حرف"], ["باب"])
    return (_LETTERS.get(words[-1]) or _LETTERS.get(f"ال{words[-1]}", "")) if named else ""


def first_letter(text: str) -> str:
    """The letter that a line begins with, folded, its article left aside."""
    start = _MARKS.sub("", text[:12]).translate(_FOLDED).lstrip(' «("*[')
    return (start.removeprefix("ال") or start)[:1]


def sort_key(text: str, *, article: bool = False) -> str:
    """What a head is sorted by: letters of its first words, without the article of the first unless asked."""
    words = _WORD.findall(_MARKS.sub("", text[:120]))[:_SORTED_WORDS]
    if words and not article and words[0].startswith("ال") and words[0] not in _UNARTICLED:
        words[0] = words[0][2:] or words[0]
    return "".join(words).translate(_COLLATION)


def is_short_head(text: str, letter: str, most: int = HEAD_WORDS) -> bool:
    """Few words without a colon that begin with the letter of their section, its article left aside.

    The letter tells a head from the short line with a colon that introduces a quoted verse.
    """
    folded = _MARKS.sub("", text).translate(_FOLDED).strip()
    if ":" in folded or len(folded.split()) > most or not any(map(str.isalpha, folded)):
        return False
    return folded.startswith(letter) or folded.removeprefix("ال").startswith(letter)


def closes_itself(text: str) -> str:
    """What stands in «» that open and close a text, or nothing; a mark of the end may follow."""
    return quoted_head(text.rstrip(" .؟!…"))


def quoted_head(text: str) -> str:
    """The proverb that a paragraph wholly in «» is, quotes and full stop dropped, or nothing."""
    bare = text.strip().rstrip(".").strip()
    if not (bare.startswith("«") and bare.endswith("»")):
        return ""
    depth = 0
    for place, character in enumerate(bare):
        depth += (character == "«") - (character == "»")
        if depth == 0 and place < len(bare) - 1:
            return ""  # «one» and «another»
    return bare[1:-1].strip(" .")


def is_cross_reference(explanation: str) -> bool:
    """The explanation only sends the reader to other entries."""
    return only_refers(explanation, "ar")
