"""Marks of a page that cling to a line of verse: footnote signs, verse numbers, repetition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mihakk.text import codepoints as cp

_DIGIT: Final = "[0-9٠-٩۰-۹]"
_LETTER: Final = f"[{cp.LETTERS}{cp.MARKS}]"
KINDS: Final[dict[str, tuple[re.Pattern[str], str]]] = {
    "footnote_mark": (
        re.compile(rf"(?<={_LETTER}{_LETTER})\s?(?:\[{_DIGIT}{{1,3}}\]|\({_DIGIT}{{1,3}}\)|[¹²³⁰-⁹]+|\*+$)"),
        "",
    ),
    "footnote_digit": (re.compile(rf"(?<={_LETTER}{_LETTER}){_DIGIT}{{1,3}}(?!{_DIGIT}|{_LETTER})"), ""),
    "verse_number": (re.compile(rf"^\s*[\[(]?{_DIGIT}{{1,4}}\s*(?:[\])]|[-–—.:_])+\s*(?={_LETTER})"), ""),
    "repetition": (
        re.compile(rf"(?:(?<!\s)\s++)?(?:[\[(]\s*(?:مكرر|مکرر|تكرار|تکرار)\s*[\])]|[×xX]\s?{_DIGIT})\s*$"),
        "",
    ),
}
"""Kind, what it looks like, what takes its place. A number that is a word stands alone and stays."""


def clean_line(text: str) -> tuple[str, Mapping[str, int]]:
    """A line without such marks, and how many of each kind were taken out."""
    found: dict[str, int] = {}
    for kind, (pattern, replacement) in KINDS.items():
        text, count = pattern.subn(replacement, text)
        if count:
            found[kind] = count
    return (" ".join(text.split()), found) if found else (text, found)
