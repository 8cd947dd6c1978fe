"""The texts of many items as columns of numbers: what is made of a token or a word is worked out once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from mihakk.machinery.ragged import Column, Growing, Ragged, sets
from mihakk.machinery.text import words_key
from mihakk.machinery.text.comparison import exact_of, key_of, token_forms, words_of
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language
from mihakk.validators.checks.restated import AND, LEAST_STEMS, NEGATIONS, number, word_hash
from mihakk.validators.checks.texts import other_languages, parts_of

NUMBER_WEIGHT: Final = 3
"""Word pairs that a number or sign weighs as much as."""


class Words(dict[str, int]):
    """Words by their numbers; the empty one is 0."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._columns: dict[Callable[[str], int | str], array[int]] = {}
        self[""]

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.names.append(word)
        return number

    def column(self, made: Callable[[str], int | str]) -> Column:
        """What a function makes of each word: a number, or another word by its number."""
        known = self._columns.setdefault(made, array("I"))
        for word in self.names[len(known) :]:
            found = made(word)
            known.append(self[found] if isinstance(found, str) else found)
        return np.array(known, dtype=np.int64)

    def counted(self, numbers: Column) -> dict[str, int]:
        """How often each word comes."""
        found, counts = np.unique(numbers, return_counts=True)
        return dict(zip(map(self.names.__getitem__, found.tolist()), counts.tolist(), strict=True))


class Said(NamedTuple):
    """One text of an item."""

    place: int
    """Among the texts of its columns."""
    key: str
    """`comparison_key`."""
    exact: str
    """`exact_key`."""


class Columns:
    """The tokens of all texts met so far, and the texts that were not taken yet."""

    def __init__(self) -> None:
        self.words = Words()
        self._places: dict[Language, dict[str, int]] = {}
        self._loose: list[str] = []
        self._exact: list[str] = []
        self._compared, self._folded, self._texts = Growing(), Growing(), Growing()

    def add(self, text: str, language: Language) -> Said:
        """Writes one text down."""
        parts = text.split()
        known = self._places.setdefault(language, {})
        places = [known[part] if part in known else self._token(part, language) for part in parts]
        loose = list(map(self._loose.__getitem__, places))
        exact = list(map(self._exact.__getitem__, places))
        self._texts.add(places)
        return Said(
            len(self._texts.ends) - 1, key_of(text, parts, loose, language), exact_of(text, loose, exact)
        )

    def _token(self, token: str, language: Language) -> int:
        loose, exact = token_forms(token, language)
        self._loose.append(loose)
        self._exact.append(exact)
        self._compared.add(map(self.words.__getitem__, words_of(loose)))
        self._folded.add(map(self.words.__getitem__, words_key(token, language).split()))
        self._places[language][token] = place = len(self._loose) - 1
        return place

    def take(self) -> tuple[Ragged, Ragged]:
        """The words of each text as comparisons see them, and folded; the next text is the first again."""
        texts, self._texts = self._texts.ragged(), Growing()
        return self._compared.ragged().joined(texts), self._folded.ragged().joined(texts)


class Forms(dict[str, Said]):
    """The texts of one item, each in its language."""

    def __init__(self, item: Item, columns: Columns) -> None:
        self.parts = parts_of(item)
        self.others = other_languages(item, self.parts)
        self._language: Language = item.language
        self._columns = columns

    def __missing__(self, text: str) -> Said:
        self[text] = said = self._columns.add(text, self.language(text))
        return said

    def language(self, text: str) -> Language:
        """The language that a text is in."""
        return self.others.get(text, self._language)

    def write(self, *texts: str) -> None:
        """Writes texts down before the columns are taken."""
        for text in texts:
            self[text]


def shingles(texts: Ragged, words: Words) -> Ragged:
    """The different pairs of words of each text as hashes, ascending.

    Two problems that differ by a number or sign are two problems: each weighs as much as several words.
    """
    hashes, owners = words.column(word_hash)[texts.values], texts.owners()
    together = owners[1:] == owners[:-1]
    pairs = (hashes[:-1] * _MIX + hashes[1:])[together]
    signs = words.column(number)[texts.values] % 2 == 1
    weighed = hashes[signs] * _MIX + np.array([[word_hash(str(n))] for n in range(NUMBER_WEIGHT)])
    found = np.concatenate((pairs, weighed.ravel())) & 0xFFFFFFFF
    within = np.concatenate((owners[1:][together], np.tile(owners[signs], NUMBER_WEIGHT)))
    return sets(within, found, len(texts.ends))


def packed(options: Ragged, rows: Ragged, words: Words) -> Ragged:
    """The words of each row's options as `Asked` holds them.

    Args:
        options: Words of texts.
        rows: The places of each row's options among them.
        words: The words by their numbers.
    """
    numbers = _stems(options.take(rows.values), words).sets()
    lengths = numbers.lengths()
    counted = Ragged(
        np.insert(numbers.values, numbers.ends - lengths, lengths),
        numbers.ends + np.arange(1, len(lengths) + 1),
    )
    return counted.joined(Ragged(np.arange(len(lengths)), rows.ends))


def asked(questions: Ragged, words: Words, ordered: Sequence[bool]) -> tuple[Ragged, list[bytes]]:
    """The stems of each question, ascending, each as often as it stands there; and what it is known by.

    That is its sorted stems, its numbers and signs as they come; empty if it has few. The stems of one that
    says a word twice stay in their order: `Persian poetry influenced Arab poetry`. So do those of a language
    in which the order says who does what (`ordered`), and those beside a negation: `heard and not seen`.
    """
    stems, negations = _stems(questions, words), [words[word] for word in NEGATIONS]
    different = stems.sets()
    denied = questions.where(np.isin(questions.values, negations)).lengths() > 0
    kept = np.array(ordered) | denied | (different.lengths() < stems.lengths())
    # Numbers and signs keep their order: `a - b` is not `b - a`.
    signs = questions.where(words.column(number)[questions.values] % 2 == 1)
    signs = signs._replace(values=words.column(word_hash)[signs.values])
    known = [
        (told if as_told else sorted_).tobytes() + b"\x1f" + others.tobytes()
        if len(sorted_) >= LEAST_STEMS
        else b""
        for told, sorted_, others, as_told in zip(
            stems.arrays(), different.arrays(), signs.arrays(), kept.tolist(), strict=True
        )
    ]
    return stems.ascending(), known


def _stems(texts: Ragged, words: Words) -> Ragged:
    said = texts.where(texts.values != words[AND])
    return said._replace(values=words.column(number)[said.values])


_MIX: Final = 0x9E3779B1
