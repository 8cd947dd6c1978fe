"""The language a text is in, by its function words and letters; where they are few or even, none is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text._tokens import words
from mihakk.machinery.text.key import key
from mihakk.machinery.text.script import Script, script_of

LEAST: Final = 5
"""Words of a language from which a text is told to be in it."""
LEAD: Final = 2
"""How many times as many there must be as of the next language."""
LEAST_LETTERS: Final = 40
"""Letters from which a text is told by its script alone."""
ALMOST_ALL: Final = 0.9
"""Share of letters of one script from which a text is told by it."""
LATIN: Final = "en"
"""The language that a text of Latin letters alone is told to be in."""
_CACHED: Final = 100_000


@dataclass(frozen=True)
class LanguageEvidence:
    """What one text or many texts show; evidence of two texts adds up."""

    words: int = 0
    function_words: Counter[str] = field(default_factory=Counter)
    """Language to how many words are its own: function words, or words with its article."""
    lettered: Counter[str] = field(default_factory=Counter)
    """Language to how many other words hold a letter of its own."""
    scripts: Counter[Script] = field(default_factory=Counter)
    """Script to letters."""

    def __add__(self, other: LanguageEvidence) -> LanguageEvidence:
        return LanguageEvidence(
            self.words + other.words,
            self.function_words + other.function_words,
            self.lettered + other.lettered,
            self.scripts + other.scripts,
        )

    def hits(self, language: str) -> int:
        """Words that speak for it. Letters count up to the function words: dialects write گ, چ and پ too."""
        own = self.function_words[language]
        return own + min(own, self.lettered[language])

    @property
    def language(self) -> str:
        """`ar`, `fa` or `ur` by words, `en` by Latin letters alone; empty where it can't be told."""
        if self._almost_all("latin"):
            return LATIN
        (most, first), (second, _) = sorted(((self.hits(one), one) for one in _own()), reverse=True)[:2]
        return first if most >= LEAST and most >= LEAD * second else ""

    def other_than(self, declared: str) -> str:
        """The language told where it is not the declared one; empty otherwise."""
        found = self.language
        latin = pack(declared).script == pack(LATIN).script
        if latin and not found and self._almost_all("arabic"):
            found = max(_own(), key=self.hits)
        return "" if found == declared or (latin and found == LATIN) else found

    def __str__(self) -> str:
        told = ", ".join(f"{self.hits(one)} {name_of(one)}" for one in _own())
        return f"of {self.words} words {told}"

    def _almost_all(self, script: Script) -> bool:
        letters = self.scripts.total()
        return letters >= LEAST_LETTERS and self.scripts[script] >= ALMOST_ALL * letters


class LanguageSum:
    """The evidence of many texts, added up in place: a sum of records costs more than the texts."""

    def __init__(self) -> None:
        self._words = 0
        self._counters: tuple[Counter[Any], Counter[Any], Counter[Any]] = (Counter(), Counter(), Counter())

    def add(self, one: LanguageEvidence) -> None:
        """Adds one text's."""
        self._words += one.words
        counters: tuple[Counter[Any], ...] = (one.function_words, one.lettered, one.scripts)
        for total, more in zip(self._counters, counters, strict=True):
            for name, count in more.items():
                total[name] += count

    @property
    def evidence(self) -> LanguageEvidence:
        """All together."""
        return LanguageEvidence(self._words, *self._counters)


def name_of(language: str) -> str:
    """A language by its name, as evidence tells it."""
    return f"{pack(language).name} (Latin letters)" if language == LATIN else pack(language).name


def language_evidence(text: str, *more: str) -> LanguageEvidence:
    """What a text shows; `more` texts beside it lend their words, and none of their letters.

    So an Arabic proverb that is explained in English is no English.
    """
    found = Counter(map(_languages, (word for one in (text, *more) for word in words(one))))
    function_words: Counter[str] = Counter()
    lettered: Counter[str] = Counter()
    for (own, letters), count in found.items():
        function_words.update(dict.fromkeys(own, count))
        lettered.update(dict.fromkeys(letters, count))
    scripts: Counter[Script] = Counter()
    for char, count in Counter(text).items():
        if char.isalpha():
            scripts[script_of(char)] += count
    return LanguageEvidence(found.total(), function_words, lettered, scripts)


def words_of(language: str, text: str, most: int = 5) -> list[str]:
    """The first function words of the language in a text, each once."""
    return list(dict.fromkeys(word for word in words(text) if language in _languages(word)[0]))[:most]


@lru_cache(_CACHED)
def _languages(word: str) -> tuple[frozenset[str], frozenset[str]]:
    """Languages whose own a word is, and others of which it holds a letter."""
    folded, letters = key(word, "fa"), frozenset(word)
    own = {
        language
        for language, one in _own().items()
        if folded in one.words
        or (one.article and folded.startswith(one.article) and len(folded) > len(one.article) + 2)
    }
    lettered = {language for language, one in _own().items() if letters & one.letters}
    return frozenset(own), frozenset(lettered - own)


class _Own(NamedTuple):
    """By what a language is told; sets are quicker to ask than the pack's lists."""

    words: frozenset[str]
    letters: frozenset[str]
    article: str


@cache
def _own() -> dict[str, _Own]:
    told = {language: pack(language).tells for language in sorted(languages())}
    return {
        language: _Own(frozenset(one.words), frozenset(one.letters), one.article)
        for language, one in told.items()
        if one
    }
