"""What changed between two forms of a text, by code point, for eyes that cannot see it."""

import unicodedata
from difflib import SequenceMatcher
from typing import NamedTuple


class Difference(NamedTuple):
    """One place where two texts differ."""

    start: int
    """Index in the text before."""
    before: str
    after: str


def differences(before: str, after: str) -> list[Difference]:
    """The places where `after` departs from `before`, in order; putting `before` back at each undoes them."""
    if before == after:
        return []
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [Difference(i, before[i:j], after[k:m]) for tag, i, j, k, m in blocks if tag != "equal"]


def code_points(text: str) -> str:
    """The code points of `text` with their names: `U+0640 ARABIC TATWEEL, U+00A0 NO-BREAK SPACE`."""
    return ", ".join(f"U+{ord(c):04X} {unicodedata.name(c, 'unnamed')}" for c in text)
