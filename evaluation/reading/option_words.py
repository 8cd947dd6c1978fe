"""Options named by their own words: what small models repeat instead of a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from mihakk.evaluation.reading import cues
from mihakk.evaluation.reading.labels import TOKEN, Labels, fold, whole_label
from mihakk.machinery.text import key

_LABELLED: Final = re.compile(rf"^[\W_]*+({TOKEN.pattern})\s*+[*_»\")\]]*\s*+[).:\-–—]\s*+(?=\S)")
_LETTERS: Final = re.compile(r"[^\W\d_]{3}")
LONGEST_HEAD: Final = 40
"""Characters of the words before a colon that introduce an answer."""
_LEAST: Final = 4
"""Letters of the shortest option that is looked for inside a reply."""
_MARKS: Final = 16
"""Characters around an option's words that are not part of them: label, quotes, emphasis."""


def option_of(text: str, labels: Labels, options: tuple[str, ...]) -> int | None:
    """The option whose words the text is, alone or behind its label in any alphabet."""
    keys, _ = _keys(options)
    if len(text) > reach_of(options):
        return None
    if (place := keys.get(key(text, "fa"))) is not None:
        return place
    match = _LABELLED.match(text)
    if match is None:
        return None
    label, place = fold(match[1]), keys.get(key(text[match.end() :], "fa"))
    if label in labels.own:
        return place if labels.own[label] == place else None
    return place if label in labels.parallel else None


def reach_of(options: tuple[str, ...]) -> int:
    """Characters of the longest text that can be an option's words."""
    return 2 * _keys(options)[1] + _MARKS


def only_option(
    lines: Sequence[str], labels: Labels, options: tuple[str, ...], *, is_finished: bool
) -> int | None:
    """The one option whose words fill lines of their own; None where options are listed, whole or garbled.

    A formula fills a line of any calculation: it counts as the last line alone, as any words do only if the
    reply was not cut there.
    """
    found = {
        place
        for number, line in enumerate(lines)
        if (place := option_of(line, labels, options)) is not None
        and (is_finished if number == len(lines) - 1 else _LETTERS.search(options[place]))
    }
    return found.pop() if len(found) == 1 and not is_list(lines, labels) else None


def is_list(lines: Sequence[str], labels: Labels) -> bool:
    """Whether lines begin with several labels of any alphabet, as repeated options do."""
    begun = {fold(match[1]) for line in lines if (match := _LABELLED.match(line))}
    alone = {
        fold(match[0])
        for line in lines
        if whole_label(line, labels) is not None and (match := TOKEN.search(line))
    }
    return len((begun | alone) & (labels.own.keys() | labels.parallel.keys())) > 1


@lru_cache(maxsize=4096)
def option_words(options: tuple[str, ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Each option's place and folded words, the longest first; none where one could stand anywhere by chance.

    So it is with short options, formulas, and those that are the words for right and wrong themselves.
    """
    found = [
        (place, tuple(fold(match[0]) for match in TOKEN.finditer(one))) for place, one in enumerate(options)
    ]
    if any("\\" in one or not _LETTERS.search(one) for one in options):
        return ()
    told = {word for _, words in found for word in words}
    if not found or told & (cues.RIGHT | cues.WRONG | cues.OPTION | cues.ANSWER):
        return ()
    if (
        len({words for _, words in found}) < len(found)
        or min(len("".join(words)) for _, words in found) < _LEAST
    ):
        return ()
    return tuple(sorted(found, key=lambda one: (-len(one[1]), one[0])))


def found_options(
    words: Sequence[str], wanted: Sequence[tuple[int, tuple[str, ...]]]
) -> Iterator[tuple[int, int, int]]:
    """Options that folded words hold, each with its first and last word; none inside a longer one."""
    taken: set[int] = set()
    for place, parts in wanted:
        for at in range(len(words) - len(parts) + 1):
            span = range(at, at + len(parts))
            if tuple(words[at : span.stop]) == parts and taken.isdisjoint(span):
                taken.update(span)
                yield place, at, span.stop - 1


@lru_cache(maxsize=4096)
def _keys(options: tuple[str, ...]) -> tuple[dict[str, int], int]:
    """Folded words of each option to its index, of those that no other option shares; the longest option."""
    keys = [key(option, "fa") for option in options]
    own = {one: place for place, one in enumerate(keys) if one and keys.count(one) == 1}
    return own, max(map(len, options), default=0)
