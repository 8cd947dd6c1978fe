"""Wrong meanings for idioms: near in meaning, alike in form, and each offered as often as any other."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from mihakk.generators.corpus_rows import Phrase
from mihakk.generators.writing.replies import same_text
from mihakk.machinery.text.key import key

NEAR_IN_MEANING = 0.90
"""Cosine from which two explanations may say the same: bundled e5 gives paraphrases .93 and more."""
NEAR_IN_WORDS = 0.34
"""Share of common words (Jaccard) from which they may say the same, where there are no vectors."""
VARIANT = 80.0
"""Similarity of two heads' keys (0-100) from which one may be the other in another form."""
WRONG = 3
"""Wrong meanings of an idiom; each meaning is wrong for as many idioms where that can be."""
SHORTEST, LONGER = 6, 1.6
"""Letters up to which meanings are one length, and how many times longer the next length is."""
POOL = 1_500
"""Idioms that are shared out among each other at once, as the time grows with their square."""
# What speaks for a neighbour, in units of the cosine: bundled e5 puts unrelated meanings at .86, spread .02.
_AGREES, _THEME, _HEAD = 0.05, 0.03, 0.02
_OTHER_LENGTH, _OTHER_GENRE, _OFFERED = 0.5, 0.5, 0.3


def same_meaning(own: Phrase, other: Phrase) -> bool:
    """Two idioms may mean the same, as far as words tell."""
    shared = len(own.says & other.says) / max(1, len(own.says | other.says))
    return shared >= NEAR_IN_WORDS or same_text(own.meaning, other.meaning, own.language)


def is_variant(own: Phrase, other: Phrase) -> bool:
    """Two heads may be one idiom: what the other means would be a second right meaning."""
    return fuzz.ratio(own.phrase_key, other.phrase_key) >= VARIANT


def length_class(phrase: Phrase) -> int:
    """Meanings about as long have one; -1 without a meaning."""
    size = len(key(phrase.meaning, phrase.language))
    return int(log(max(1.0, size / SHORTEST), LONGER)) if size else -1


class Neighbours:
    """Three wrong meanings for each idiom of one pool, shared out among its idioms.

    Whoever takes the nearest alone offers a few meanings to many, and puts the right one in the middle of its
    options: both tell. So a meaning that was offered `WRONG` times stands back, and the one around which the
    others are chosen is the right one for a quarter of the idioms, a wrong one for all others.

    Args:
        phrases: Those of one split, language, dialect and licence that have a meaning, in seeded order.
        vectors: One row of unit length for each; None without embeddings.
        salts: A number of its own for each.
    """

    def __init__(
        self, phrases: Sequence[Phrase], vectors: NDArray[np.float32] | None, salts: NDArray[np.uint64]
    ) -> None:
        self._phrases = phrases
        self._vectors = vectors
        self._salts = salts
        self._offered = np.zeros(len(phrases))
        self._lengths = np.array([length_class(one) for one in phrases])
        names = [(one.genre, one.agreement, one.theme, (*one.words, "")[0]) for one in phrases]
        self._features = [np.unique([name[n] for name in names], return_inverse=True)[1] for n in range(4)]
        self._named = [np.array([bool(name[n]) for name in names]) for n in range(4)]
        self._centre = -1
        self._cosines = np.zeros(0)
        self._of_key: Mapping[str, list[int]] = _grouped([one.phrase_key for one in phrases])

    def chosen(self) -> Iterator[tuple[Phrase, tuple[Phrase, ...]]]:
        """Each idiom with up to `WRONG` others whose meanings are wrong for it, the nearest first."""
        for number, phrase in enumerate(self._phrases):
            found: list[int] = []
            centre = number
            while len(found) < WRONG and (taken := self._next(number, centre, found)) is not None:
                found.append(taken)
                self._offered[taken] += 1
                if len(found) == 1 and self._salts[number] % np.uint64(WRONG + 1):
                    centre = taken
            yield phrase, tuple(self._phrases[n] for n in found)

    def _next(self, own: int, centre: int, taken: Sequence[int]) -> int | None:
        for place in np.argsort(-self._fit(own, centre), kind="stable").tolist():
            if place != own and place not in taken and self._may_stand(own, place, taken):
                return int(place)
        return None

    def _fit(self, own: int, centre: int) -> NDArray[np.float64]:
        """How well each stands beside the idiom's own meaning."""
        genre, agreement, theme, head = (
            (feature == feature[own]) & named
            for feature, named in zip(self._features, self._named, strict=True)
        )
        fit = _AGREES * agreement + _THEME * theme + _HEAD * head
        fit -= _OTHER_GENRE * ~genre + _OTHER_LENGTH * np.abs(self._lengths - self._lengths[own])
        fit -= _OFFERED * np.maximum(0, self._offered - WRONG + 1)
        if self._vectors is None:
            turned = self._salts ^ self._salts[own]
            return np.asarray(fit + 1e-3 * (turned / np.float64(2**64)))
        if centre != self._centre:
            # einsum sums each row by itself: a BLAS product may round a row differently beside other rows.
            self._cosines = np.einsum("ij,j->i", self._vectors, self._vectors[centre])
            self._centre = centre
        return np.asarray(fit + self._cosines)

    def _may_stand(self, own: int, place: int, taken: Sequence[int]) -> bool:
        """It means something else than the idiom, all its other meanings, and the options beside it."""
        phrase, other = self._phrases[own], self._phrases[place]
        if is_variant(phrase, other) or phrase.forms & other.meaning_forms:
            return False
        alternatives = self._of_key[phrase.phrase_key]
        return not any(self._alike(n, place) for n in (*alternatives, *taken))

    def _alike(self, one: int, other: int) -> bool:
        if self._vectors is not None and self._vectors[one] @ self._vectors[other] >= NEAR_IN_MEANING:
            return True
        return same_meaning(self._phrases[one], self._phrases[other])


def _grouped(names: Sequence[str]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        found[name].append(number)
    return found


def one_of_each(chosen: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """One of the wrong meanings of each idiom, for tasks with one: each is taken once where that can be.

    Two idioms never take each other's: the one question would answer the other.

    Args:
        chosen: Idiom to the idioms its wrong meanings are of.
    """
    names = sorted(chosen)
    found = _matched(chosen)
    times = Counter(found.values())
    for name in names:
        if chosen[name] and (name not in found or found.get(found[name]) == name):
            times[found.pop(name, "")] -= 1
            others = [one for one in chosen[name] if found.get(one) != name] or chosen[name]
            found[name] = min(others, key=lambda one: times[one])
            times[found[name]] += 1
    return found


def _matched(chosen: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """One choice each, none taken twice, for as many as can be (J. Hopcroft and R. Karp, 1973)."""
    wanted = {name: sorted(chosen[name]) for name in sorted(chosen)}
    found: dict[str, str] = {}
    takers: dict[str, str] = {}
    while True:
        # How many have to give up what they took before somebody without a choice gets one, at the least.
        steps = {name: 0 for name in wanted if name not in found}
        last = inf
        waiting = list(steps)
        for own in waiting:
            for other in wanted[own] if steps[own] < last else ():
                taker = takers.get(other)
                if taker is None:
                    last = steps[own] + 1
                elif taker not in steps:
                    steps[taker] = steps[own] + 1
                    waiting.append(taker)
        if last == inf:
            return found
        for name in [one for one in wanted if one not in found]:
            _take_in_turn(name, wanted, found, takers, steps=steps, last=last)


def _take_in_turn(
    name: str,
    wanted: Mapping[str, Sequence[str]],
    found: dict[str, str],
    takers: dict[str, str],
    *,
    steps: dict[str, int],
    last: float,
) -> None:
    """Gives one its choice, if others can be moved in as few steps and nobody is moved twice in a round."""
    asked_by: dict[str, str] = {}
    stack = [name]
    while stack:
        own = stack.pop()
        step = steps.get(own, inf) + 1
        for other in wanted[own]:
            taker = takers.get(other)
            if taker is None and step == last:
                free: str | None = other
                while free is not None:
                    steps.pop(own)
                    before = found.get(own)
                    found[own], takers[free] = free, own
                    free, own = before, asked_by.get(own, own)
                return
            if taker is not None and steps.get(taker) == step:
                asked_by[taker] = own
                stack.append(taker)
