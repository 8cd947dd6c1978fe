"""How well a book fits its declaration: figures that know nothing of its pattern, and which refuse it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal, get_args

from mihakk.errors import UsageError
from mihakk.text import key
from scrapers.heads import begins_with, section_letter, sort_key

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

    @property
    def refuses(self) -> bool:
        """A doubt that nobody has looked at."""
        return self.doubtful and not self.accepted


@dataclass(frozen=True)
class Found:
    """What a declaration found in a book; lists are by entry."""

    heads: Sequence[str]
    lines: Sequence[int]
    numbers: Sequence[int | None]
    """Empty where the pattern has no group for them."""
    titles: Sequence[str]
    """Of the headings above."""
    explanations: Sequence[Sequence[str]]
    """Matches of the pattern in text that is not read."""
    letters_left: int
    letters: int
    stated: int


def evidence(found: Found, accept: Mapping[Name, float]) -> list[Evidence]:
    """All figures about a reading, those first that speak against it.

    Args:
        found: The reading.
        accept: Names to the figures that a person has seen and takes for right.

    Raises:
        UsageError: `accept` names no evidence, or one of another figure, so that something else was accepted.
    """
    if unknown := set(accept) - set(NAMES):
        raise UsageError(f"`accept` names {sorted(unknown)[0]!r}: evidence is {', '.join(NAMES)}")
    told = [_looked_at(one, accept.get(one.name)) for one in _all(found)]
    return sorted(told, key=lambda one: not one.refuses)


def _looked_at(one: Evidence, figure: float | None) -> Evidence:
    if not one.doubtful or figure is None:
        return one
    if figure == one.figure:
        return replace(one, accepted=True)
    other = f"; `accept` says {figure:g}, which was of another text or declaration"
    return replace(one, says=one.says + other)


def _all(found: Found) -> Iterator[Evidence]:
    order = _Order.of(found)
    yield _entries(found, order)
    if found.numbers:
        yield _numbering(found)
    yield order.evidence()
    if letters := _letters(found):
        yield letters
    share = round(100 * (1 - found.letters_left / found.letters)) if found.letters else 0
    yield Evidence("share", share, f"{share} % of the text stands in entries", share < 100 * LEAST_SHARE)
    yield _repeated(found)
    yield _longest(found)


def _entries(found: Found, order: _Order) -> Evidence:
    total = len(found.heads)
    if found.stated:
        return Evidence(
            "entries", total, f"{total} entries were read, {found.stated} expected", total != found.stated
        )
    counted = bool(found.numbers) or order.is_sorted or total < _COUNTED_BY_EYE
    says = f"{total} entries were read" + (
        ""
        if counted
        else ", and neither numbers nor the alphabet count them: say in `entries` how many there are"
    )
    return Evidence("entries", total, says, not counted)


def _numbering(found: Found) -> Evidence:
    """Each number follows the one before; it may begin again under another heading."""
    jumps = []
    for place, ((before, number), (above, title)) in enumerate(
        zip(pairwise(found.numbers), pairwise(found.titles), strict=True), start=1
    ):
        follows = number is not None and before is not None and number == before + 1
        if not follows and not (number == 1 and title != above):
            jumps.append((found.lines[place], before, number))
    numbers = [number for number in found.numbers if number is not None]
    span = f"numbers {numbers[0]} to {numbers[-1]}" if numbers else "no numbers"
    if not jumps:
        return Evidence("numbering", 0, f"{span}, without a jump")
    line, before, number = jumps[0]
    return Evidence(
        "numbering",
        len(jumps),
        f"{span} with {len(jumps)} jumps, the first at line {line}: {number} after {before}",
        doubtful=True,
    )


def _letters(found: Found) -> Evidence | None:
    """Whether heads begin with the letter that the heading above them names."""
    wanted = [section_letter(title) for title in found.titles]
    judged = [place for place, letter in enumerate(wanted) if letter]
    if not judged:
        return None
    other = [place for place in judged if not begins_with(found.heads[place], wanted[place])]
    says = f"{len(judged) - len(other)} of {len(judged)} heads begin with the letter of their section"
    if other:
        says += f"; line {found.lines[other[0]]} does not, {found.heads[other[0]][:40]!r}"
    return Evidence("letters", len(other), says, len(other) > 0.05 * len(judged))


def _repeated(found: Found) -> Evidence:
    counts = Counter(key(head, "ar") for head in found.heads)
    again = sum(count - 1 for count in counts.values())
    common, times = counts.most_common(1)[0]
    example = next(head for head in found.heads if key(head, "ar") == common)
    says = f"{again} heads were there before" + (f", {example[:40]!r} {times} times" if again else "")
    return Evidence("repeated_heads", again, says, again > max(2, _REPEATED * len(found.heads)))


def _longest(found: Found) -> Evidence:
    words = [sum(len(text.split()) for text in one) for one in found.explanations]
    place = max(range(len(words)), key=words.__getitem__)
    middle = median(words)
    far = words[place] > FAR * max(middle, 5.0) and words[place] > _BOOK * sum(words)
    return Evidence(
        "longest_entry",
        words[place],
        f"explanations have {middle:g} words in the middle and {words[place]} at most, "
        f"line {found.lines[place]}, {found.heads[place][:40]!r}",
        far and len(words) > 1,
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
    def of(cls, found: Found) -> _Order:
        keys = [sort_key(head) for head in found.heads]
        chain = _longest_chain(keys)
        under = [list(_sentences(one)) for one in found.explanations]
        gaps = [(keys[one], keys[other]) for one, other in pairwise(chain)]
        inside = [
            [(found.lines[place], *sentence) for place in range(one, other) for sentence in under[place]]
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
        return Evidence("alphabet", missed, says, missed >= max(_FEWEST, _MISSED * self.heads))


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
