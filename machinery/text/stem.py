"""Light stems: a word's key without its commonest prefix and ending. For counting, never shown as text."""

import re
from typing import Final

from mihakk.machinery.languages import ByLanguage
from mihakk.machinery.text.key import word_keys
from mihakk.schemas.record import Language

# Three letters stay. Keys have folded letters: ة is ه, ى is ي, every alef is ا.
_PREFIX: Final = ByLanguage(
    lambda pack: re.compile(f"^(?:{'|'.join(map(re.escape, pack.stems.prefixes)) or '(?!)'})(?=.{{3}})")
)
_ENDING: Final = ByLanguage(
    lambda pack: re.compile(f"(?<=.{{3}})(?:{'|'.join(map(re.escape, pack.stems.endings)) or '(?!)'})$")
)


def stem(word: str, language: Language) -> str:
    """The stem of one word's key: a prefix and an ending less, while three letters are left."""
    return _ENDING[language].sub("", _PREFIX[language].sub("", word))


def stems(text: str, language: Language) -> list[str]:
    """The stems of the words of `text`, in order."""
    return [stem(word, language) for word in word_keys(text, language)]
