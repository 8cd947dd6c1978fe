"""How many entries a sorted book has by its alphabet alone: a count that knows nothing of marks or layout.

Books of proverbs and idioms are sorted. A sentence inside an explanation that stands in the alphabet between
the heads around it is a head that was not seen, for chance hardly brings one there: in al-Amthal 3 of its
sentences do so; where 31 of the 743 heads are taken for text, about 30 do.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain as joined
from itertools import pairwise
from typing import NamedTuple

from scrapers.book_doubts import Sign
from scrapers.book_shapes import Head, Section, ends_sentence, is_mark, with_text
from scrapers.heads import sort_key

SORTED = 0.75
"""Least share of heads in one alphabetical order: in the books of Taymur 0.90 and 0.93, shuffled 0.1."""
_MISSED = 0.01
_FEWEST = 4
STRANGE = 0.08
_NEIGHBOURS = 10
_SHIFTS = (7, 11, 13, 17)
"""Gaps away from its own in which a sentence is tried, to see how many fit by chance."""
_RUN_IN = re.compile(r"(?:«[^«»]+»|\*\*[^*]+\*\*) [^\W\d]")
"""A head before its explanation, at the beginning of a line even below verse, whose lines have no stops."""
_SENTENCE = re.compile(r"(?:(?<=[.؟!…])|(?<=[.؟!…]»))\s+(?=\S)")


class _Sentence(NamedTuple):
    key: str
    line: int
    text: str


@dataclass(frozen=True)
class Alphabet:
    """What the alphabetical order of the heads says of the heads that were not seen."""

    heads: int
    in_order: int
    """Heads of the longest chain that is in order."""
    between: Sequence[_Sentence]
    """Sentences in explanations that stand between the heads around them."""
    by_chance: float
    """How many do so between heads elsewhere."""
    strangers: Sequence[tuple[int, str]]
    """Line and text of heads that sort between none of their ten neighbours on each side."""

    @property
    def counted(self) -> int | None:
        """Entries by this count; nothing where the heads are not sorted."""
        if self.heads < _FEWEST or self.in_order < SORTED * self.heads:
            return None
        missed = max(0.0, len(self.between) - self.by_chance) * self.heads / self.in_order
        return self.heads + round(missed)

    def __str__(self) -> str:
        share = f"{self.in_order} of {self.heads} heads are in alphabetical order"
        if self.counted is None:
            return f"{share}: the book is not sorted, so that its alphabet counts nothing"
        return (
            f"{share}, sentences of explanations between the heads around them: {len(self.between)} "
            f"({self.by_chance:.1f} by chance), which makes {self.counted} entries"
        )

    def problems(self, strange: float = STRANGE) -> Iterator[tuple[Sign, str]]:
        """Heads that were taken for text, and text that was taken for heads; none where the count agrees.

        Args:
            strange: Most heads, as a share, that may sort between none of their neighbours.
        """
        if self.counted is None:
            return
        if len(self.strangers) >= _FEWEST and len(self.strangers) > strange * self.heads:
            line, text = self.strangers[0]
            yield (
                "strange_heads",
                (
                    f"{len(self.strangers)} of {self.heads} heads stand far from their place in the "
                    f"alphabet, which the others keep, line {line} first, {text[:60]!r}: they may be text"
                ),
            )
        missed = self.counted - self.heads
        if missed < _FEWEST or missed <= _MISSED * self.heads:
            return
        first = self.between[0]
        yield (
            "alphabet",
            (
                f"{self.heads} entries were read and the alphabet counts {self.counted}: {len(self.between)} "
                f"sentences inside explanations stand between the heads around them "
                f"({self.by_chance:.1f} by chance), line {first.line} first, {first.text[:60]!r}: "
                "give them the heads' mark"
            ),
        )


def alphabet(places: Sequence[tuple[Section, Sequence[Head]]]) -> Alphabet:
    """The order of a book's heads, and the sentences under them that fit into it.

    The longest increasing chain of heads parts the book into gaps; a sentence fits where it sorts strictly
    between the heads of its gap. The same sentences in gaps some way off give the expectation by chance.

    Args:
        places: Sections with the heads found in them.
    """
    heads = [(section, head) for section, found in places for head in found]
    under = [one for section, found in places for one in _explanations(section, found)]
    keys = [sort_key(head.text) for _, head in heads]
    chain = _longest_chain(keys)
    gaps = [(keys[one], keys[other]) for one, other in pairwise(chain)]
    inside = [list(joined.from_iterable(under[one:other])) for one, other in pairwise(chain)]
    between = [one for gap, found in zip(gaps, inside, strict=True) for one in found if _fits(one, gap)]
    shifts = [shift for shift in _SHIFTS if shift < len(gaps)]
    elsewhere = sum(
        _fits(one, gap)
        for shift in shifts
        for gap, found in zip(gaps, inside[shift:] + inside[:shift], strict=True)
        for one in found
    )
    return Alphabet(
        heads=len(heads),
        in_order=len(chain),
        between=between,
        by_chance=elsewhere / max(1, len(shifts)),
        strangers=[
            (section.lines[head.start].number, head.text)
            for place, (section, head) in enumerate(heads)
            if _is_strange(head, place, keys, chain)
        ],
    )


def _is_strange(head: Head, place: int, keys: Sequence[str], chain: Sequence[int]) -> bool:
    """It sorts between none of its neighbours in the chain, with or without an article."""
    there = bisect_left(chain, place)
    low, high = chain[max(0, there - _NEIGHBOURS)], chain[min(len(chain), there + _NEIGHBOURS) - 1]
    near = any(keys[low] <= key <= keys[high] for key in (keys[place], sort_key(head.text, article=True)))
    return not near and place not in (low, high)


def _fits(sentence: _Sentence, gap: tuple[str, str]) -> bool:
    return gap[0] < sentence.key < gap[1]


def _longest_chain(keys: Sequence[str]) -> list[int]:
    """Places of the longest increasing subsequence, by patience sorting."""
    tops: list[str] = []
    places: list[int] = []
    before: list[int] = []
    for place, key in enumerate(keys):
        pile = bisect_left(tops, key)
        before.append(places[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [key]
        places[pile : pile + 1] = [place]
    chain = []
    place = places[-1] if places else -1
    while place >= 0:
        chain.append(place)
        place = before[place]
    return chain[::-1]


def _explanations(section: Section, heads: Sequence[Head]) -> Iterator[list[_Sentence]]:
    """For each head the sentences under it but the first, which the explanation begins with."""
    for head, lines in with_text(section, heads):
        found, before = [], ""
        for line in [section.lines[head.start]._replace(text=head.rest), *lines]:
            if is_mark(line.text):
                before = before and "."
                continue
            parts = _SENTENCE.split(line.text)
            opens = head.rest and _RUN_IN.match(line.text)
            begun = parts if opens or ends_sentence(before) else parts[1:]
            begun = [part for part in begun if " " in part.strip()]  # "etc." is no head
            found += [_Sentence(sort_key(part), line.number, part) for part in begun]
            before = parts[-1]
        yield found
