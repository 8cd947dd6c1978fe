"""Words of `data/reference/code_terms.yaml` in a docstring: terms, words of logic, hints."""

from collections.abc import Iterator
from functools import cache

from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.text import key, word_keys
from mihakk.schemas.record import Record

_PREFIXES = ("", "ال", "وال", "بال", "كال", "فال", "لل", "ولل", "و", "ف", "ب", "ل", "ك")


class Term(Record):
    """One term."""

    english: str
    use: str
    instead_of: tuple[str, ...]
    cited: str
    """Which of the file's sources has it."""


class CodeTerms(Record):
    """The file."""

    version: int
    source: str
    terms: tuple[Term, ...]
    logic: tuple[str, ...]
    hints: tuple[str, ...]


@cache
def code_terms() -> CodeTerms:
    """The reference table."""
    return load_config(REFERENCE / "code_terms.yaml", CodeTerms)


@cache
def _forms(word: str) -> frozenset[str]:
    """Keys of a word with each article and particle it may carry."""
    return frozenset(key(prefix + word, "ar") for prefix in _PREFIXES)


def off_glossary(text: str) -> Iterator[tuple[str, Term]]:
    """Every term in a text that is written otherwise than the glossary has it, as it is written."""
    keys = word_keys(text, "ar")
    for term in code_terms().terms:
        for variant in term.instead_of:
            parts = variant.split()
            for place in range(len(keys) - len(parts) + 1):
                if all(keys[place + n] in _forms(part) for n, part in enumerate(parts)):
                    yield variant, term
                    break


@cache
def _any_form(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for word in words for form in _forms(word))


def logic_words(text: str) -> list[str]:
    """Words of a text that its meaning hangs on (numbers, negation, comparison, order), in order, by key."""
    known = _any_form(code_terms().logic)
    return [one for one in word_keys(text, "ar") if one in known]


def hint_words(text: str) -> set[str]:
    """Words of a text that name a way of solving a task, by key."""
    known = _any_form(code_terms().hints)
    return {one for one in word_keys(text, "ar") if one in known}
