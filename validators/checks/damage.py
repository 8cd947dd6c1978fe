"""Damage that a finder of `mihakk.text.corruption` or a pattern sees, one objection per field."""

from collections.abc import Callable, Iterator
from functools import partial
from re import Pattern

from validators.checks.check import Objection, Objections
from validators.checks.texts import Texts, excerpt

Finder = Callable[[str], Iterator[tuple[int, int]]]
AROUND = 12
"""Characters shown on either side of the damage."""


def damaged(texts: Texts, finder: Finder | Pattern[str], saying: str) -> Objections:
    """One objection per field that the finder or pattern sees damage in, with the first place."""
    find = partial(_spans, finder) if isinstance(finder, Pattern) else finder
    if next(find(texts.joined), None) is None:
        return
    for where, text in texts.parts:
        span = next(find(text), None)
        if span is not None:
            start, end = span
            shown = text[max(0, start - AROUND) : min(end, start + AROUND) + AROUND]
            yield Objection(f"{saying}: {excerpt(shown)}", where)


def _spans(pattern: Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))
