"""Questions that are the same but for the order and prefixes of their words, and what each calls right."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple
from zlib import crc32

PREFIXES: Final = ("وال", "فال", "بال", "كال", "لل", "ال", "و", "ف", "ب", "ل", "ك")
LEAST_STEMS: Final = 4
"""Different words a question must have: shorter ones are templates."""
LEAST_ALIKE: Final = 2
"""Options that two items must share to be about one thing."""
LEAST_TOGETHER: Final = 3
"""Words of two options together, from which a share of common ones says something."""
LEAST_SHARE: Final = 1 / 3
MOST_COMPARED: Final = 50
"""Items compared of one question; that of a template shows its conflict in the first ones."""
LONGEST: Final = 40
"""Words of a question up to which one more changes nothing."""
MOST_ADDED: Final = 2
"""Words that a question may have more than another one that asks the same."""
SHORT: Final = 3
"""Words of an answer up to which two different ones can't both be right."""
AND: Final = "و"
"""A word that says nothing of what is asked."""


class Asked(NamedTuple):
    """One item of an outside benchmark by its answers; all words are numbers."""

    item: str
    gold: int
    """Place of the only right option; 0 for an answer in words, which is the only one; -1 where none is."""
    answers: array[int]
    """Of each option, or of the answer: the number of its words, and the words ascending."""
    words: array[int]
    """The stems of the question, ascending, each as often as it stands there."""

    def unpacked(self) -> list[frozenset[int]]:
        """The words of each option."""
        found, place = [], 0
        while place < len(self.answers):
            end = place + 1 + self.answers[place]
            found.append(frozenset(self.answers[place + 1 : end]))
            place = end
        return found


def word_hash(word: str) -> int:
    """A word as a number of 32 bits; half a surrogate pair is text like any other."""
    return crc32(word.encode(errors="surrogatepass"))


def stem(word: str) -> str:
    """A folded word without article, `and` and one-letter prepositions; three letters at least stay."""
    if word.startswith(PREFIXES):
        for prefix in PREFIXES:
            if len(word) >= len(prefix) + 3 and word.startswith(prefix):
                return word[len(prefix) :]
    return word


def number(word: str) -> int:
    """The number of a word's stem; what is no word has an odd one."""
    return word_hash(stem(word)) & ~1 | (not word.isalpha())


_TURNING: Final = (
    "ليس ليست لا لم لن غير ما عدا ماعدا الا سوي باستثناء بخلاف خطا نيست نه بجز جز not except no never"
)
TURNING: Final = frozenset(map(number, _TURNING.split()))
"""Words that turn a question into another one."""
_DENYING: Final = "ليس ليست لا لم لن غير نيست نه"
NEGATIONS: Final = frozenset(f"{joined}{word}" for word in _DENYING.split() for joined in ("", "و", "ف"))
"""Words that deny what stands behind them, with what joins them to the words before."""


def lengthened(one: Asked, other: Asked) -> bool:
    """Whether one question is the other with a word or two added, which don't turn it into another one.

    A number or sign does, and so does a clause (`sorted by name`), or any word of a question that brings its
    own facts.
    """
    short, long = sorted((Counter(one.words), Counter(other.words)), key=Counter.total)
    added = long - short
    return (
        short < long
        and long.total() <= LONGEST
        and added.total() <= MOST_ADDED
        and TURNING.isdisjoint(added)
        and not any(word & 1 for word in added)
    )


def restated(groups: Mapping[int, Sequence[Asked]]) -> Iterator[tuple[str, str, bool, float]]:
    """Pairs of items that ask the same, whether they call the same answer right, and their answers' overlap.

    The overlap is that of all words of the answers (Jaccard).

    Pairs whose options have too little in common are left out: a template asks about many things.
    """
    for group in groups.values():
        known = [(one, one.unpacked()) for one in sorted(group)[:MOST_COMPARED]]
        for (one, its), (other, theirs) in combinations(known, 2):
            same = same_answer(one.gold, its, other.gold, theirs)
            if same is not None:
                said, there = frozenset().union(*its), frozenset().union(*theirs)
                yield one.item, other.item, same, len(said & there) / (len(said | there) or 1)


def same_answer(
    gold: int, its: Sequence[frozenset[int]], other: int, theirs: Sequence[frozenset[int]]
) -> bool | None:
    """Whether two lists of options have one right answer; None where they can't be compared."""
    right, right_there = its[gold], theirs[other]
    if len(its) == len(theirs) == 1:
        short = len(right) <= SHORT and len(right_there) <= SHORT
        return True if right == right_there else False if short else None
    alike = sum(any(_likeness(option, there) for there in theirs) for option in its)
    if alike < min(LEAST_ALIKE, len(its), len(theirs)):
        return None
    if right == right_there:
        return True
    if right_there in its or right in theirs:
        # Of `which is the best conductor?` silver and water can be right, each among its own options.
        one_choice = 3 * alike >= len(its) + len(theirs) or (right_there in its and right in theirs)
        return False if one_choice else None
    nearest = max(theirs, key=lambda there: _likeness(right, there))
    return True if nearest == right_there and _likeness(right, nearest) else None


def _likeness(one: frozenset[int], other: frozenset[int]) -> float:
    """Share of common words, 0 where it is too small to mean anything."""
    together = len(one | other)
    share = len(one & other) / (together or 1)
    return share if one == other or (together >= LEAST_TOGETHER and share >= LEAST_SHARE) else 0.0
