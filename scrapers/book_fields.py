"""A book of labelled fields (`المثل: ...`, `Meaning: ...`): one mark before its heads, and no labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from scrapers.book_shapes import GLOSS, LABELLED, ends_sentence, is_mark
from scrapers.book_table import Table
from scrapers.mapping import field_of

_LABEL = re.compile(
    r"[^\w:]*((?:[^\W\d_]|[\u064B-\u0652])+(?: (?:[^\W\d_]|[\u064B-\u0652])+){0,2}) ?"
    r"(?::\*\*|\*\*:|:''|'':|:)\s*(.*)"
)
_HARAKAT = re.compile(r"[\u064B-\u0652\u0640]")
_KINDS_OF_PHRASE = frozenset({"نص", "الشعبي", "الشعبية", "العامي", "العامية"})
_FEWEST = 3
_EXPLAINED = 0.8
"""Least share of labelled heads under which a labelled explanation stands."""
_OF_LINES = 0.05
"""Least share of the lines that bear the label of an explanation where heads bear none."""
_RARELY = 0.1
"""Of the most frequent label: a word before a colon that begins fewer lines is the text's own."""
_FEW = 0.02
_REFERS = frozenset({*GLOSS, "وانظر", "ومثله", "نظير", "نظیر"})
_IN_MOST = 0.6
"""A further label (`المصدر:`) that stands in so many entries is a column that is not read."""


class _Field(NamedTuple):
    place: int
    label: str
    kind: str
    """`phrase`, `explanation` or nothing."""
    text: str


def as_entries(text: str, first_line: int = 1) -> Table:
    """A text of labelled fields with a mark before heads and without labels; any other as it is.

    Heads and explanations must follow one another: two explanations under one head, or one before the first
    head, leave the text as it is. Labels of most entries that name neither are left aside with their lines.
    """
    lines = text.split("\n")
    fields = [one for place, line in enumerate(lines) if ":" in line[:60] for one in _field(place, line)]
    said = Counter(one.label for one in fields if one.kind)
    fields = [one for one in fields if not one.kind or said[one.label] > _RARELY * max(said.values())]
    phrases = Counter(one.label for one in fields if one.kind == "phrase")
    explanations = sum(one.kind == "explanation" for one in fields)
    head, count = phrases.most_common(1)[0] if phrases else ("", 0)
    if count < _FEWEST:
        head, count = "", explanations
        enough = explanations >= max(_FEWEST, _OF_LINES * sum(map(bool, lines)))
    else:
        known = [one for one in fields if one.label == head or one.kind == "explanation"]
        again = any(one.label == other.label != head for one, other in pairwise(known))
        enough = known[0].label == head and not again and explanations >= _EXPLAINED * count
    if not enough:
        return Table(text)
    unread = dict(_unread(lines, fields, count))
    for one in fields:
        if one.label == head:
            lines[one.place] = f"{LABELLED} {one.text}"
        elif one.kind == "explanation":
            lines[one.place] = one.text
        elif one.label in unread:
            lines[one.place] = ""
    left = tuple((place, label, "a label that is not read") for label, place in unread.items())
    others = [one for one in fields if not one.kind and one.label not in unread]
    return Table("\n".join(lines), left, counted=bool(head), doubt=_doubt(lines, others, count, first_line))


def _doubt(lines: Sequence[str], others: Sequence[_Field], entries: int, first_line: int) -> str:
    """Lines that begin paragraphs with another label, oftener than by chance: links, parts of entries."""
    opening = [one for one in others if one.text and (not one.place or _ends(lines[one.place - 1].strip()))]
    label, count = Counter(one.label for one in opening).most_common(1)[0] if opening else ("", 0)
    if count < _FEWEST or count <= _FEW * entries:
        return ""
    line = next(one.place for one in opening if one.label == label) + first_line
    return (
        f"{count} lines begin with {label + ':'!r}, line {line} first, which names neither head nor "
        "explanation and stands in some entries only: take these lines out, or their label"
    )


def _ends(line: str) -> bool:
    return is_mark(line) or ends_sentence(line)


def _field(place: int, line: str) -> Iterator[_Field]:
    if (found := _LABEL.fullmatch(line.strip())) and found[1] not in _REFERS:
        label = _HARAKAT.sub("", found[1])
        yield _Field(place, label, _kind(label), found[2].strip())


@cache
def _kind(label: str) -> str:
    """What a label names: `المثل`, `نص المثل`, `معنى المثل`, `Explanation`."""
    named = {field_of("idiom", word) for word in label.split() if word not in _KINDS_OF_PHRASE}
    if named <= {"phrase", "explanation"} and named:
        return "explanation" if "explanation" in named else "phrase"
    return ""


def _unread(lines: Sequence[str], fields: Sequence[_Field], entries: int) -> Iterator[tuple[str, int]]:
    """Other labels that most entries have, each on one line, with the place of the first."""
    labelled = {one.place for one in fields}
    others: dict[str, list[int]] = {}
    for one in fields:
        if not one.kind:
            others.setdefault(one.label, []).append(one.place)
    for label, places in others.items():
        alone = all(
            place + 1 == len(lines) or place + 1 in labelled or is_mark(lines[place + 1].strip())
            for place in places
        )
        if alone and _IN_MOST * entries <= len(places) <= 1.02 * entries:
            yield label, places[0]
