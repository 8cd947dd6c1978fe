"""Damage that a finder of `mihakk.machinery.text.corruption` or a pattern sees, one objection per field."""

from mihakk.machinery.text.corruption import Finder, spans
from mihakk.validators.checks.check import Objection, Objections
from mihakk.validators.checks.texts import Texts, excerpt

AROUND = 12
"""Characters shown on either side of the damage."""


def damaged(texts: Texts, finder: Finder, saying: str) -> Objections:
    """One objection per field that the finder sees damage in, with the first place."""
    if next(spans(finder, texts.joined), None) is None:
        return
    for where, text in texts.parts:
        if span := next(spans(finder, text), None):
            start, end = span
            shown = text[max(0, start - AROUND) : min(end, start + AROUND) + AROUND]
            yield Objection(f"{saying}: {excerpt(shown)}", where)
