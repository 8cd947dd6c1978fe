"""Scripts and alphabets: how much of a text is in its own letters."""

from collections import Counter
from functools import partial
from typing import Final, Literal

from mihakk.machinery.languages import pack, written_in
from mihakk.machinery.text import codepoints as cp
from mihakk.schemas.record import Language

Script = Literal["arabic", "latin", "other"]

_ARABIC: Final = (
    frozenset(cp.LETTERS) | cp.FORM_LETTERS.keys() - set(map(chr, range(0xFB00, 0xFB07))) | set(cp.KEPT_FORMS)
)
_LATIN_END: Final = 0x024F
_OTHER_LATIN: Final = (*range(0x1E00, 0x1F00), *range(0xFB00, 0xFB07))


_OWN_NAMES: Final[dict[str, Script]] = {"Arab": "arabic", "Latn": "latin"}


def script_shares(text: str) -> dict[Script, float]:
    """The part of the letters of `text` in each script, adding up to 1; all 0 where it has no letter."""
    counts: Counter[Script] = Counter()
    for char in text:
        if char.isalpha() and char != cp.TATWEEL:
            counts[script_of(char)] += 1
    whole = counts.total() or 1
    return {script: counts[script] / whole for script in ("arabic", "latin", "other")}


def own_share(text: str, language: Language) -> float:
    """The part of the letters of `text` that are of its language's script; 1 where that is not known."""
    script = pack(language).script
    if script in _OWN_NAMES:
        return script_shares(text)[_OWN_NAMES[script]]
    letters = [char for char in text if char.isalpha()]
    own = sum(map(partial(written_in, script), letters))
    return own / (len(letters) or 1) if script else 1.0


def arabic_share(text: str) -> float:
    """The part of the letters of `text` that are of the Arabic script, 0 where it has no letter."""
    return script_shares(text)["arabic"]


def has_arabic(text: str) -> bool:
    """Whether any letter of `text` is of the Arabic script."""
    return not _ARABIC.isdisjoint(text)


def wrong_letters(text: str, language: Language) -> dict[str, int]:
    """Letters of the Arabic script the language does not write, with their counts.

    For Arabic: Farsi yeh and kaf, and everything beyond its alphabet but the پ چ ژ گ ڤ of loanwords and
    dialects. For Persian: Arabic yeh, alef maksura and kaf, and everything beyond its alphabet; the teh
    marbuta and hamza letters of Arabic quotations are not wrong. Without an alphabet: every letter.
    """
    alphabet = pack(language).writing.alphabet
    return dict(Counter(c for c in text if c in _ARABIC and c not in alphabet))


def script_of(char: str) -> Script:
    """The script of a letter."""
    if char in _ARABIC:
        return "arabic"
    if ord(char) <= _LATIN_END or ord(char) in _OTHER_LATIN:
        return "latin"
    return "other"
