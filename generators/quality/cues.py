"""What an option's form says without its meaning: cues to go by, each one number per option."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from mihakk.machinery.text import key, rhyme, strip_marks, word_keys, words
from mihakk.machinery.text.stem import stems
from mihakk.schemas.item import ChoiceItem

Score = Sequence[float]
"""One number per option; the highest is chosen, ties share the choice."""
Cue = Callable[[ChoiceItem], Score]

NAMED = ("poet", "title")
"""Fields that say whose text it is, not what the question is about."""
GIVEN = ("prose",)
"""Fields that are there to help: that the answer resembles them is what the task asks."""


def shown(item: ChoiceItem, *, given: bool = True) -> str:
    """What a question is about, without the words that all questions of its task share."""
    if item.context:
        return item.context
    left_out = NAMED if given else (*NAMED, *GIVEN)
    parts = [value for name, value in item.fields.items() if name not in left_out]
    return " ".join(parts) or item.question


def longest(item: ChoiceItem) -> Score:
    """Length in letters."""
    return [float(len(strip_marks(option))) for option in item.options]


def most_words(item: ChoiceItem) -> Score:
    """Length in words."""
    return [float(len(words(option))) for option in item.options]


def word_overlap(item: ChoiceItem) -> Score:
    """Words that an option shares with the question (Dice)."""
    return _overlap(item, lambda text: set(word_keys(text, item.language)))


def stem_overlap(item: ChoiceItem) -> Score:
    """Stems that an option shares with the question (Dice)."""
    return _overlap(item, lambda text: set(stems(text, item.language)))


def trigram_overlap(item: ChoiceItem) -> Score:
    """Groups of three letters that an option shares with the question (Dice)."""
    return _overlap(item, lambda text: trigrams(word_keys(text, item.language)))


def trigrams(keys: Sequence[str]) -> set[str]:
    """Groups of three letters in words, their edges counted as letters."""
    edged = [f" {word} " for word in keys]
    return {word[start : start + 3] for word in edged for start in range(len(word) - 2)}


def _overlap(item: ChoiceItem, parts: Callable[[str], set[str]]) -> Score:
    asked = parts(shown(item, given=False))
    found = [parts(option) for option in item.options]
    return [2 * len(asked & one) / max(1, len(asked) + len(one)) for one in found]


def capital_first(item: ChoiceItem) -> Score:
    """Whether the option begins with a capital and has no other word that does."""
    scores = []
    for option in item.options:
        first, *rest = [word[0].isupper() for word in words(option)] or [False]
        scores.append(float(first) - sum(rest) / max(1, len(rest)))
    return scores


def punctuation(item: ChoiceItem) -> Score:
    """Punctuation marks."""
    return [float(sum(unicodedata.category(c)[0] == "P" for c in option)) for option in item.options]


def digits(item: ChoiceItem) -> Score:
    """Digits of any script."""
    return [float(sum(c.isdecimal() for c in option)) for option in item.options]


def rhyme_only(item: ChoiceItem) -> Score:
    """Letters each option shares at its end with the other options and with the hemistich that is shown."""
    keys = [key(option, item.language) for option in item.options]
    asked = [key(hemistich, item.language) for hemistich in _hemistichs(item)]
    return [
        sum(_shared_ending(one, other) for n, other in enumerate([*keys, *asked]) if n != m)
        for m, one in enumerate(keys)
    ]


def rhyme_shown(item: ChoiceItem) -> Score | None:
    """Whether an option rhymes with the hemistich that is shown; None where that parts no options."""
    asked = {rhyme(hemistich, item.language) for hemistich in _hemistichs(item)} - {""}
    scores = [float(rhyme(option, item.language) in asked) for option in item.options]
    return scores if len(set(scores)) > 1 else None


def _hemistichs(item: ChoiceItem) -> list[str]:
    return [item.fields[name] for name in ("first", "second") if item.fields.get(name)]


def _shared_ending(one: str, other: str) -> float:
    size = 0
    while size < min(len(one), len(other)) and one[-size - 1] == other[-size - 1]:
        size += 1
    return float(size)


def metre_only(item: ChoiceItem, metres: Mapping[tuple[str, str], str]) -> Score | None:
    """1 for options whose line stands in the question's metre; None where an option's metre is not known.

    Args:
        item: A choice among lines.
        metres: Metre by (language, key of a hemistich).
    """
    found = [metres.get((item.language, key(option, item.language))) for option in item.options]
    if any(one is None for one in found):
        return None
    return [float(one == item.metadata.get("metre")) for one in found]


FORM: Mapping[str, Cue] = {
    "longest": longest,
    "shortest": lambda item: [-score for score in longest(item)],
    "most_words": most_words,
    "fewest_words": lambda item: [-score for score in most_words(item)],
    "word_overlap": word_overlap,
    "stem_overlap": stem_overlap,
    "trigram_overlap": trigram_overlap,
    "capital_first": capital_first,
    "punctuation": punctuation,
    "digits": digits,
}
"""Cues of every choice, from the question alone."""


class SetCues:
    """Cues that only somebody who holds the whole set has.

    Args:
        questions: The questions of one task and language, each once.
    """

    def __init__(self, questions: Sequence[ChoiceItem]) -> None:
        self._seen: Counter[str] = Counter()
        self._right: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
        self._own: dict[tuple[str, frozenset[str]], Counter[str]] = defaultdict(Counter)
        for item in questions:
            keys = _keys(item)
            self._seen.update(keys)
            for place in item.gold:
                self._right[frozenset(keys)][keys[place]] += 1
                self._own[record(item), frozenset(keys)][keys[place]] += 1

    def rarest(self, item: ChoiceItem) -> Score:
        """How seldom an option is offered in the set."""
        return [-float(self._seen[option]) for option in _keys(item)]

    def options_met(self, item: ChoiceItem) -> Score | None:
        """How often an option is right where another record's question has the same options."""
        keys = _keys(item)
        found = self._right[frozenset(keys)] - self._own[record(item), frozenset(keys)]
        return [float(found[option]) for option in keys] if found else None


def record(item: ChoiceItem) -> str:
    """Poem or idiom a question is from: a couplet's id starts with its poem's."""
    return item.origin.records[0].rpartition(":")[0] or item.origin.records[0]


def _keys(item: ChoiceItem) -> list[str]:
    return [key(option, item.language) for option in item.options]
