"""Page marks and running heads of a printed book: what comes again with a number that rises."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from scrapers.book_shapes import ends_sentence

_NUMBER = r"[\d٠-٩۰-۹]{1,4}"
_AROUND = r"[-–—()\[\]|¦./ ]{0,3}"
_LINE = re.compile(
    rf"^(?=[^\n]{{3,80}}$)(?![^\w\n]{{0,3}}[(\[]\^?{_NUMBER}[)\]])(?!.*\bرقم\b)(?![⁰¹²³⁴-⁹^])[^\S\n]*"
    rf"(?:{_AROUND}{_NUMBER}\b(?=[^\n]*[^\W\d_])[^\n]*|[^\n#][^\n]*?(?<!\w){_NUMBER}{_AROUND})$",
    re.MULTILINE,
)
"""A short line with a number at its beginning or end, but for a footnote's in brackets and for an entry's."""
_SNIPPET = re.compile(rf"\( ?(?:ص|صفحة|الصفحة|صفحه|[Pp]\.?|[Pp]age) ?[:./]? ?({_NUMBER}) ?\)")
"""A page's number in round brackets; those in square ones are no references."""
_DIGITS = re.compile(_NUMBER)
_PART_OF_A_WORD = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_GAP = re.compile(r"\s{3,}|\t+|\s+[|¦]\s+")
_CHAPTER_WORDS = 3
_FEWEST = 3
_RISING = 0.95
"""Least share of the numbers that are greater than the one before."""
_STEP = 20
"""Most pages from one to the next, in the middle; a running head may stand on every other page or chapter."""
PAGE = "— 0 —"
"""A page mark between two lines of one paragraph."""


def without_pages(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with as many lines, and the page marks and running heads taken out of it, with their place.

    They say the same but for a number that rises through the book; references and footnotes do not. The
    number stands at the line's beginning or end, or inside a line in brackets, with a word for `page`.
    """
    taken: list[tuple[int, str]] = []
    for expression in (_LINE, _SNIPPET):
        marks: dict[str, list[re.Match[str]]] = defaultdict(list)
        for found in expression.finditer(text):
            marks[_form(found[0])].append(found)
        pages = [found for same in marks.values() if _rise(same) for found in same]
        for found in sorted(pages, key=lambda one: -one.start()):
            taken.append((text.count("\n", 0, found.start()), found[0].strip()))
            text = text[: found.start()] + _instead(text, found) + text[found.end() :]
    return text, sorted(taken)


def _form(mark: str) -> str:
    """Without its numbers; of a running head in three columns without the middle one, a chapter's name."""
    first, *middle, last = [*_GAP.split(_DIGITS.sub("0", mark.strip())), ""]
    if len(middle) == 2 and not last and len(middle[0].split()) <= _CHAPTER_WORDS:
        return f"{first}\t{middle[1]}"
    return " ".join([first, *middle, last])


def _rise(same: list[re.Match[str]]) -> bool:
    if len(same) < _FEWEST or _PART_OF_A_WORD.search(same[0][0]):
        return False
    for place in (0, -1):
        numbers = [int(_DIGITS.findall(found[0])[place]) for found in same]
        steps = [after - before for before, after in pairwise(numbers)]
        rising = [step for step in steps if step > 0]
        if len(rising) >= _RISING * len(steps) and sorted(rising)[len(rising) // 2] <= _STEP:
            return True
    return False


def _instead(text: str, found: re.Match[str]) -> str:
    """A blank line where one stands beside it or a sentence ends, else a mark: the paragraph goes on."""
    if found.re is _SNIPPET:
        return ""
    before = text[: found.start()].removesuffix("\n").rpartition("\n")[2].strip()
    after = text[found.end() :].removeprefix("\n").partition("\n")[0].strip()
    return PAGE if before and after and not ends_sentence(before) else ""
