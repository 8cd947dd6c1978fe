"""Light stems: a word's key without its commonest prefix and ending. For counting, never shown as text."""

import re
from typing import Final

from mihakk.machinery.text.codepoints import Language
from mihakk.machinery.text.key import word_keys

# Longest first, and three letters stay. Keys have folded letters: ة is ه, ى is ي, every alef is ا.
_PREFIX: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile("^(?:وبال|وكال|فبال|وال|فال|بال|كال|ولل|لل|ال|هي|بي|بت|و|ف)(?=.{3})"),
    "fa": re.compile("^(?:نمي|مي|بر)(?=.{3})"),
    "en": re.compile("^(?:un|re)(?=.{3})"),
}
_ENDING: Final[dict[Language, re.Pattern[str]]] = {
    "ar": re.compile("(?<=.{3})(?:هما|كما|هم|هن|كم|ها|نا|ان|ات|ون|ين|وا|يه|ته|تي|ه|ي|ك|ت)$"),
    "fa": re.compile("(?<=.{3})(?:هايي|ترين|هاي|ها|تر|ان|اش|ام|ات|ي)$"),
    "en": re.compile("(?<=.{3})(?:ingly|edly|ness|ing|ies|est|ed|es|ly|er|s)$"),
}


def stem(word: str, language: Language) -> str:
    """The stem of one word's key: a prefix and an ending less, while three letters are left."""
    return _ENDING[language].sub("", _PREFIX[language].sub("", word))


def stems(text: str, language: Language) -> list[str]:
    """The stems of the words of `text`, in order."""
    return [stem(word, language) for word in word_keys(text, language)]
