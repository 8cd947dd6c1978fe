"""Coarse and hurtful words of `data/reference/sensitive_words.yaml` in a text."""

from __future__ import annotations

from functools import cache

from mihakk.configs import load_yaml
from mihakk.settings import REFERENCE
from mihakk.text import words_key
from schemas.record import Language

CLITICS = ("", "ال", "و", "وال", "ف", "فال", "ب", "بال", "ل", "لل", "ك", "كال")
"""What Arabic writes as one with a word."""
_SHORT = 3
"""Letters up to which a word takes no single preposition: `بخرا` (foul breath) is not `ب` and `خرا`."""


def sensitive_wording(text: str, language: Language) -> str:
    """The first listed word or phrase found in a text as whole words; empty where there is none.

    A word that is somebody's name (`Laqit ibn Malik`) does not count.
    """
    folded = f" {words_key(text, language)} "
    for phrase in _phrases(language):
        for clitic in _clitics(phrase) if language == "ar" else ("",):
            said = f" {clitic}{phrase} "
            if said in folded and f"{said}بن " not in folded and f" بن{said}" not in folded:
                return phrase
    return ""


def _clitics(phrase: str) -> tuple[str, ...]:
    return CLITICS if len(phrase) > _SHORT else tuple(one for one in CLITICS if one not in ("ب", "ل", "ك"))


@cache
def _phrases(language: Language) -> tuple[str, ...]:
    kinds = load_yaml(REFERENCE / "sensitive_words.yaml").get(language) or {}
    return tuple(sorted({words_key(phrase, language) for phrases in kinds.values() for phrase in phrases}))
