"""What two people who typed the same text agree on, whatever their keyboards sent."""

from __future__ import annotations

import re
from typing import Final

from mihakk.machinery.text.canonical import canonical
from mihakk.machinery.text.codepoints import ZWNJ
from mihakk.schemas.record import Language

_LETTERS: Final = str.maketrans({"\u06cc": "\u064a", "\u06a9": "\u0643"})
"""Farsi yeh and keheh, where an English text quotes them."""
_STRETCH: Final = re.compile(r"(?<=[\w\u064b-\u065f\u0670])\u0640+")
"""Tatweel behind a letter or mark; one that stands alone is a blank to fill in."""
_JOINS: Final = frozenset("بپتثجچحخسشصضطظعغفقکكگلمنهيیئـ")
"""Letters that join the next one, so that a ZWNJ behind them shows."""


def as_seen(text: str, language: Language) -> str:
    """A text for comparing what people typed, never for showing: equal where no reader sees a difference.

    Order of marks, composed letters, spaces of any kind and number, tatweel, invisible characters, the
    language's own yeh, kaf and heh, a ZWNJ that shows nothing, and the digits of any script don't count;
    other letters, marks, punctuation, blanks and line breaks do.
    """
    plain = canonical(_STRETCH.sub("", text), language).translate(_LETTERS)
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
