"""Options named by their own words: what small models repeat instead of a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from evaluation.reading import cues
from evaluation.reading.labels import TOKEN, Labels, fold
from mihakk.text import key

_LABELLED: Final = re.compile(rf"^[\W_]*({TOKEN.pattern})\s*[*_»\")\]]*\s*[).:\-–—]\s*(?=\S)")
_LONGEST_HEAD: Final = 40
"""Characters of the words before a colon that introduce an answer."""
_MARKS: Final = 16
"""Characters around an option's words that are not part of them: label, quotes, emphasis."""


def option_of(text: str, labels: Labels, options: tuple[str, ...]) -> int | None:
    """The option whose words the text is, alone or behind its label in any alphabet."""
    if len(text) > 2 * max(map(len, options), default=0) + _MARKS:
        return None
    keys = _keys(options)
    if (place := keys.get(key(text, "fa"))) is not None:
        return place
    match = _LABELLED.match(text)
    if match is None:
        return None
    label, place = fold(match[1]), keys.get(key(text[match.end() :], "fa"))
    if label in labels.own:
        return place if labels.own[label] == place else None
    return place if label in labels.parallel else None


def answered_option(line: str, labels: Labels, options: tuple[str, ...]) -> int | None:
    """The option whose words follow a word for answer and a colon."""
    head, mark, rest = line.partition(":")
    if not mark or len(head) > _LONGEST_HEAD:
        return None
    if not any(fold(match[0]) in cues.ANSWER for match in TOKEN.finditer(head)):
        return None
    return option_of(rest, labels, options)


def only_option(lines: Sequence[str], labels: Labels, options: tuple[str, ...]) -> int | None:
    """The one option whose words fill lines of their own; None where options are listed, whole or garbled."""
    found = {place for line in lines if (place := option_of(line, labels, options)) is not None}
    started = {
        fold(match[1])
        for line in lines
        if (match := _LABELLED.match(line)) and fold(match[1]) in labels.own | labels.parallel
    }
    return found.pop() if len(found) == 1 and len(started) <= 1 else None


@lru_cache(maxsize=4096)
def _keys(options: tuple[str, ...]) -> dict[str, int]:
    """Folded words of each option to its index, of those that no other option shares."""
    keys = [key(option, "fa") for option in options]
    return {one: place for place, one in enumerate(keys) if one and keys.count(one) == 1}
