"""Which words of a hemistich a listener would remember."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.machinery.languages import ByLanguage, pack
from mihakk.machinery.text import key, word_keys, words
from mihakk.machinery.text.stem import stem
from mihakk.schemas.record import Language

FOLDER = Path(__file__).parent / "words"


class Habits(NamedTuple):
    """How often a word occurs, and where."""

    times: int
    first: int = 0
    """At the start of a hemistich."""
    last: int = 0
    """At its end."""


@cache
def habits(language: Language) -> dict[str, Habits]:
    """Common words of the language's classical verse, by key; others are rare.

    A tracked table, not a count of the build's own corpus: there a removed poem would change others' items.
    """
    rows = (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines()
    parts = (row.split("\t") for row in rows if row and not row.startswith("#"))
    return {word: Habits(*map(int, counts)) for word, *counts in parts}


def fitness(keys: Sequence[str], language: Language) -> tuple[list[float], list[float]]:
    """How well each word opens a hemistich, and how well it closes one: its share of such places, 0 to 1."""
    known = [habits(language).get(word, Habits(0)) for word in keys]
    opens = [(word.first + 0.5) / (word.times + 4) for word in known]
    closes = [(word.last + 0.5) / (word.times + 4) for word in known]
    return opens, closes


COMMONEST = 40
"""Words of the table that are too common to be remembered a line by."""


_CONTRACTED: Final = ByLanguage(
    lambda own: frozenset(word_keys(" ".join(own.verse.contracted), own.code)) if own.verse else frozenset()
)


@cache
def commonest(language: Language) -> frozenset[str]:
    """Keys of the language's commonest words: particles, pronouns, auxiliaries."""
    return frozenset(sorted(habits(language), key=lambda word: -habits(language)[word].times)[:COMMONEST])


def telling_words(text: str, language: Language, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The different words of a line without the commonest; all of them where fewer than two are left.

    Args:
        text: The line.
        language: Its language; English words come without capitals.
        without: Keys and stems of words that are given away already.
    """
    found = _candidates(text, language, without)
    telling = tuple(word for key, word in found.items() if key not in commonest(language))
    return telling if len(telling) >= 2 else tuple(found.values())


def _candidates(text: str, language: Language, without: frozenset[str]) -> dict[str, str]:
    found = words(text.lower() if pack(language).script == "Latn" else text)
    return {
        folded: word
        for word in found
        if (folded := key(word, language)) and not {folded, stem(folded, language)} & without
    }


def rarest_words(
    text: str, language: Language, without: frozenset[str] = frozenset()
) -> tuple[str, str] | None:
    """The two rarest words in their order in the text; of equally rare ones the longest, then the last.

    Contracted particles are left out, which are rare only because the whole ones are common.

    None where fewer than two different words are left; arguments as of `telling_words`.
    """
    known = habits(language)
    candidates = {
        folded: word
        for folded, word in _candidates(text, language, without).items()
        if folded not in _CONTRACTED[language]
    }
    if len(candidates) < 2:
        return None
    last_first = list(candidates)[::-1]  # sorting keeps the order of equals
    ranked = sorted(last_first, key=lambda folded: (known.get(folded, Habits(0)).times, -len(folded)))
    first, second = (word for folded, word in candidates.items() if folded in ranked[:2])
    return first, second
