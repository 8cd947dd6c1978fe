"""What two people who typed the same text agree on, whatever their keyboards sent."""

from __future__ import annotations

from typing import Final

from mihakk.text.canonical import canonical
from mihakk.text.codepoints import TATWEEL, ZWNJ

_LETTERS: Final = str.maketrans({"\u06cc": "\u064a", "\u06a9": "\u0643", TATWEEL: None})
"""Farsi yeh and keheh: which of the two a keyboard sends does not show."""
_JOINS: Final = frozenset("بپتثجچحخسشصضطظعغفقکكگلمنهيیئـ")
"""Letters that join the next one, so that a ZWNJ behind them shows."""


def as_seen(text: str) -> str:
    """A text for comparing what people typed: equal where no reader sees a difference.

    Order of marks, composed letters, spaces of any kind and number, tatweel, invisible characters, Persian or
    Arabic yeh and kaf, a ZWNJ that shows nothing, and the digits of any script don't count; letters, marks,
    punctuation and line breaks do.
    """
    plain = canonical(text, "en").translate(_LETTERS)
    lines = [" ".join(_without_idle_zwnj(line).split()) for line in plain.splitlines()]
    digits = (str(int(char)) if char.isdecimal() else char for char in "\n".join(lines).strip())
    return "".join(digits)


def _without_idle_zwnj(line: str) -> str:
    """Without a ZWNJ that is doubled, at an end, or behind a letter that joins nothing."""
    kept: list[str] = []
    for char in line:
        if char != ZWNJ or (kept and kept[-1] in _JOINS):
            kept.append(char)
    return "".join(kept).removesuffix(ZWNJ)
