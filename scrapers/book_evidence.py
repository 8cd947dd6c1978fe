"""How well a book fits its declaration: figures that know nothing of its pattern, and which refuse it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Literal, get_args

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text import key
from mihakk.scrapers.heads import begins_with, section_letter, sort_key

Name = Literal["entries", "numbering", "alphabet", "letters", "share", "repeated_heads", "longest_entry"]
NAMES: tuple[Name, ...] = get_args(Name)
LEAST_SHARE = 0.8
"""Of the letters of the part read, those that must stand in entries."""
FAR = 12
"""An explanation so many times as long as the median may hide heads."""
_BOOK = 0.05
"""A far longer explanation with this share of all explanations refuses the book."""
_REPEATED = 0.02
SORTED = 0.75
"""Least share of heads in one alphabetical order, for the alphabet to say anything: in two books of Ahmad
Taymur .90 and .93, shuffled .1."""
_MISSED = 0.01
_FEWEST = 4
_SHIFTS = (7, 11, 13, 17)
"""Gaps away from its own in which a sentence is tried, to see how many fit by chance."""
_SENTENCE = re.compile(r"(?<=[.؟!…])»?\s+(?=\S)")
_COUNTED_BY_EYE = 50
"""Books of fewer entries are looked at whole."""


@dataclass(frozen=True)
class Evidence:
    """One figure about a reading."""

    name: Name
    figure: float
    """What `accept` must say, exactly, for it not to refuse the book."""
    says: str
    doubtful: bool = False
    accepted: bool = False
    places: Sequence[tuple[int, str]] = ()
    """What it counts: line of the entry, and text."""

    @property
    def refuses(self) -> bool:
        """A doubt that nobody has looked at."""
        return self.doubtful and not self.accepted


@dataclass
class BookEntry:
    """One head with the paragraphs of its explanation."""

    line: int
    head: str
    paragraphs: list[str] = field(default_factory=list)
    number: int | None = None
    title: str = ""
    """Of the heading above."""

    @property
    def words(self) -> int:
        """Of the explanation."""
        return sum(len(text.split()) for text in self.paragraphs)


def evidence(
    entries: Sequence[BookEntry], share: float, *, numbered: bool, stated: int, accept: Mapping[Name, float]
) -> list[Evidence]:
    """All figures about a reading, those first that speak against it.

    Args:
        entries: What was read.
        share: Of the text of the part read, what stands in entries.
        numbered: The pattern has a group for numbers.
        stated: How many entries the book is said to have; 0 where nobody says it.
        accept: Names to the figures that a person has seen and takes for right.

    Raises:
        UsageError: `accept` names no evidence, or one of another figure, so that something else was accepted.
    """
    if unknown := set(accept) - set(NAMES):
        raise UsageError(f"`accept` names {sorted(unknown)[0]!r}: evidence is {', '.join(NAMES)}")
    told = [_looked_at(one, accept.get(one.name)) for one in _all(entries, share, numbered, stated)]
    return sorted(told, key=lambda one: not one.refuses)


def _looked_at(one: Evidence, figure: float | None) -> Evidence:
    if not one.doubtful or figure is None:
        return one
    if figure == one.figure:
        return replace(one, accepted=True)
    other = f"; `accept` says {figure:g}, which was of another text or declaration"
    return replace(one, says=one.says + other)


def _all(entries: Sequence[BookEntry], share: float, numbered: bool, stated: int) -> Iterator[Evidence]:
    order = _Order.of(entries)
    total = len(entries)
    says, doubtful = f"{total} entries were read", False
    if stated:
        says, doubtful = f"{says}, {stated} expected", total != stated
    elif not (numbered or order.is_sorted or total < _COUNTED_BY_EYE):
        says += ", and neither numbers nor the alphabet count them: say in `entries` how many there are"
        doubtful = True
    yield Evidence("entries", total, says, doubtful)
    if numbered:
        yield _numbering(entries)
    yield order.evidence()
    if letters := _letters(entries):
        yield letters
    percent = round(100 * share)
    yield Evidence(
        "share", percent, f"{percent} % of the text stands in entries", percent < 100 * LEAST_SHARE
    )
    yield _repeated(entries)
    yield _longest(entries)


def _numbering(entries: Sequence[BookEntry]) -> Evidence:
    """Each number follows the one before; it may begin again under another heading."""
    jumps: list[tuple[int, int | None, int | None]] = []
    for before, one in pairwise(entries):
        follows = one.number is not None and before.number is not None and one.number == before.number + 1
        if not follows and not (one.number == 1 and one.title != before.title):
            jumps.append((one.line, before.number, one.number))
    numbers = [one.number for one in entries if one.number is not None]
    span = f"numbers {numbers[0]} to {numbers[-1]}" if numbers else "no numbers"
    if not jumps:
        return Evidence("numbering", 0, f"{span}, without a jump")
    line, last, number = jumps[0]
    return Evidence(
        "numbering",
        len(jumps),
        f"{span} with {len(jumps)} jumps, the first at line {line}: {number} after {last}",
        doubtful=True,
        places=[(line, f"{number} after {last}") for line, last, number in jumps],
    )


def _letters(entries: Sequence[BookEntry]) -> Evidence | None:
    """Whether heads begin with the letter that the heading above them names."""
    judged = [(one, letter) for one in entries if (letter := section_letter(one.title))]
    if not judged:
        return None
    other = [one for one, letter in judged if not begins_with(one.head, letter)]
    says = f"{len(judged) - len(other)} of {len(judged)} heads begin with the letter of their section"
    if other:
        says += f"; line {other[0].line} does not, {other[0].head[:40]!r}"
    places = [(one.line, one.head) for one in other]
    return Evidence("letters", len(other), says, len(other) > 0.05 * len(judged), places=places)


def _repeated(entries: Sequence[BookEntry]) -> Evidence:
    keys = [key(one.head, "ar") for one in entries]
    common, times = Counter(keys).most_common(1)[0]
    first = {head: place for place, head in reversed([*enumerate(keys)])}
    places = [(one.line, one.head) for n, one in enumerate(entries) if first[keys[n]] != n]
    again = len(places)
    example = entries[first[common]].head
    says = f"{again} heads were there before" + (f", {example[:40]!r} {times} times" if again else "")
    return Evidence("repeated_heads", again, says, again > max(2, _REPEATED * len(entries)), places=places)


def _longest(entries: Sequence[BookEntry]) -> Evidence:
    words = [one.words for one in entries]
    middle, most = median(words), max(words)
    longest = entries[words.index(most)]
    far = most > FAR * max(middle, 5.0) and most > _BOOK * sum(words)
    return Evidence(
        "longest_entry",
        most,
        f"explanations have {middle:g} words in the middle and {most} at most, "
        f"line {longest.line}, {longest.head[:40]!r}",
        far and len(entries) > 1,
    )


@dataclass(frozen=True)
class _Order:
    """What the alphabetical order of the heads says of heads that were not seen.

    A sentence inside an explanation that stands in the alphabet between the heads around it is a head that
    was not seen, for chance hardly brings one there; the same sentences in other gaps say how often it does.
    """

    heads: int
    in_order: int
    between: Sequence[tuple[int, str]]
    """Line of the entry, and the sentence."""
    by_chance: float

    @property
    def is_sorted(self) -> bool:
        return self.heads >= _FEWEST and self.in_order >= SORTED * self.heads

    @classmethod
    def of(cls, entries: Sequence[BookEntry]) -> _Order:
        keys = [sort_key(one.head) for one in entries]
        chain = _longest_chain(keys)
        # A sentence that begins like the head above it stands there in the alphabet because it speaks of it.
        under = [
            [told for told in _sentences(one.paragraphs) if not told[0].startswith(at)]
            for one, at in zip(entries, keys, strict=True)
        ]
        gaps = [(keys[one], keys[other]) for one, other in pairwise(chain)]
        inside = [
            [(entries[place].line, *sentence) for place in range(one, other) for sentence in under[place]]
            for one, other in pairwise(chain)
        ]
        between = [
            (line, text)
            for (low, high), within in zip(gaps, inside, strict=True)
            for line, at, text in within
            if low < at < high
        ]
        shifts = [shift for shift in _SHIFTS if shift < len(gaps)]
        elsewhere = sum(
            low < at < high
            for shift in shifts
            for (low, high), within in zip(gaps, inside[shift:] + inside[:shift], strict=True)
            for _, at, _ in within
        )
        return cls(len(keys), len(chain), between, elsewhere / max(1, len(shifts)))

    def evidence(self) -> Evidence:
        share = f"{self.in_order} of {self.heads} heads are in alphabetical order"
        if not self.is_sorted:
            return Evidence("alphabet", 0, f"{share}: the book is not sorted")
        missed = round(max(0.0, len(self.between) - self.by_chance) * self.heads / self.in_order)
        says = (
            f"{share}, and {len(self.between)} sentences of explanations stand between the heads around them"
        )
        if self.between:
            line, text = self.between[0]
            says += f" ({self.by_chance:.1f} by chance): below line {line}, {text[:60]!r}"
        doubtful = missed >= max(_FEWEST, _MISSED * self.heads)
        return Evidence("alphabet", missed, says, doubtful, places=self.between)


def _sentences(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Key and text of the sentences of an explanation but the first; "etc." is none."""
    found = [sentence for text in texts for sentence in _SENTENCE.split(text)]
    for sentence in found[1:]:
        if " " in sentence.strip():
            yield sort_key(sentence), sentence


def _longest_chain(keys: Sequence[str]) -> list[int]:
    """Places of the longest increasing subsequence, by patience sorting."""
    tops: list[str] = []
    places: list[int] = []
    before: list[int] = []
    for place, at in enumerate(keys):
        pile = bisect_left(tops, at)
        before.append(places[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [at]
        places[pile : pile + 1] = [place]
    chain = []
    place = places[-1] if places else -1
    while place >= 0:
        chain.append(place)
        place = before[place]
    return chain[::-1]
