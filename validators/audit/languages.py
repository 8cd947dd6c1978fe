"""Whether an auditor's explanations are in another language than those it was asked to write in."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.text.language import language_evidence

_WORD: Final = re.compile(r"[^\W\d_]+")
_LEAST: Final = 3
"""Words of a language from which it is told: explanations are short."""
_LEAD: Final = 2
"""How many times as many there must be as of English."""


@cache
def _words() -> dict[str, frozenset[str]]:
    """Language to its words."""
    told: dict[str, str] = load_yaml(Path(__file__).with_name("languages.yaml"))
    return {name: frozenset(words.split()) for name, words in told.items()}


def foreign_language(text: str) -> str:
    """The language of explanations that are in none of English, Arabic and Persian; empty where none is told.

    A language is told by its function words: three and more, and twice as many as of English. Words that an
    Arabic or Persian explanation quotes tell none. Letters of neither script are refused before
    (`reply.opinion`).
    """
    if language_evidence(text).language == "ur":
        return "Urdu"
    words = [word.casefold() for word in _WORD.findall(text)]
    latin = [word for word in words if word < "\u0590"]
    if 2 * len(latin) <= len(words):
        return ""
    seen = Counter(latin)
    hits = {name: sum(seen[word] for word in words) for name, words in _words().items()}
    english = hits.pop("English")
    name = max(hits, key=lambda one: hits[one])
    return name if hits[name] >= max(_LEAST, _LEAD * english + 1) else ""
