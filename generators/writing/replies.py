"""Rules for what a model wrote: right language, right length, really different."""

import re

from rapidfuzz import fuzz

from mihakk.machinery.text import key, words
from mihakk.schemas.record import Language

SAME = 85.0
"""Similarity of two keys (0-100) from which a text says nothing new."""

_ARABIC_SCRIPT = re.compile(r"[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff]")
_LETTER = re.compile(r"[^\W\d_]")
_PERSIAN_ONLY = re.compile("[پچژگ]")
_PERSIAN_WORDS = frozenset(
    "است از به که این آن را می با برای شود کند هر خود شد بود یا".split()  # noqa: SIM905
)
_ARABIC_WORDS = frozenset(
    "في من على إلى عن التي الذي هذا هذه أن لا ما أو كان أي عند كناية كل مع".split()  # noqa: SIM905
)


def wrong_language(text: str, language: Language) -> str:
    """Why the text is not in the language; empty when it may be.

    Script decides first; Arabic and Persian are told apart by letters and by their commonest words, so that a
    short text without either passes.
    """
    letters = _LETTER.findall(text)
    if not letters:
        return "it holds no words"
    share = len(_ARABIC_SCRIPT.findall(text)) / len(letters)
    if language == "en":
        return "" if share < 0.2 else "it is not in English"
    name = {"ar": "Arabic", "fa": "Persian"}[language]
    if share < 0.8:
        return f"it is not in {name}"
    found = words(text)
    persian = sum(word in _PERSIAN_WORDS for word in found) + len(_PERSIAN_ONLY.findall(text))
    arabic = sum(word in _ARABIC_WORDS or word.startswith("ال") for word in found)
    if (language == "ar" and persian > arabic + 1) or (language == "fa" and arabic > persian + 1):
        return f"it is not in {name}"
    return ""


def unfinished(text: str) -> bool:
    """It breaks off, or announces what it then does not say: small models like to stop at the colon."""
    return text.rstrip().endswith((":", "،", ",", "؛", ";", "(", "«", "-", "–"))


def same_text(one: str, other: str, language: Language) -> bool:
    """The two read nearly the same once marks and letter variants are folded."""
    return fuzz.ratio(key(one, language), key(other, language)) >= SAME


def length_ratio(one: str, other: str) -> float:
    """Characters of the one for each of the other; infinite beside an empty text."""
    return len(one) / len(other) if other else float("inf")


def contains(text: str, part: str, language: Language) -> bool:
    """The text quotes the part, marks and spaces aside."""
    return bool(part) and key(part, language) in key(text, language)
