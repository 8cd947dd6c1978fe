"""Places where a finder of `mihakk.text.corruption` sees damage, told per field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from re import Pattern

from mihakk.text.corruption import PatternFinder
from validators.checks.check import Objection, Objections
from validators.checks.texts import Texts, excerpt

Finder = Callable[[str], Iterator[tuple[int, int]]] | Pattern[str]
AROUND = 12
"""Characters shown on either side of the damage."""


def damaged(texts: Texts, finder: Finder, saying: str) -> Objections:
    """One objection per field that the finder or pattern sees damage in, with the first place."""
    if isinstance(finder, (PatternFinder, Pattern)):
        if finder.search(texts.joined) is None:
            return
    elif next(finder(texts.joined), None) is None:
        return
    find = finder if callable(finder) else partial(_spans, finder)
    for where, text in texts.parts:
        span = next(find(text), None)
        if span is not None:
            start, end = span
            shown = text[max(0, start - AROUND) : min(end, start + AROUND) + AROUND]
            yield Objection(f"{saying}: {excerpt(shown)}", where)


def _spans(pattern: Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))
