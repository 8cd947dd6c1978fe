"""What is worked out of words, remembered: texts say the same words again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
LONGEST_KEPT = 40
"""Characters of a word up to which it is remembered: longer ones seldom come again."""
MOST_KEPT = 1 << 17
"""Some 25 MB of words, and as much of those remembered before."""


class Remembered(dict[str, Value]):
    """What a function makes of a word, by the word; when it is full, words not met lately are forgotten."""

    def __init__(self, work_out: Callable[[str], Value]) -> None:
        self.work_out = work_out
        self._before: dict[str, Value] = {}
        """What was remembered when it was full last."""

    def __missing__(self, word: str) -> Value:
        found = self._before[word] if word in self._before else self.work_out(word)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self._before = dict(self)
                self.clear()
            self[word] = found
        return found
