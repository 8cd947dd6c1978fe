"""Signs in the heads of a book that they were misread: marks, labels, speech, numbers and lines cut short."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from scrapers.book_shapes import GLOSS, Head, Section, begins_with, fittings, page_width

FEW = 0.02
"""Share of misread places that are no accident."""
LEAST = 3
"""Fewest such places, so that a small book is not refused for one."""
MANY = 0.2
"""Share of the heads that must bear a sign which single heads may bear rightly."""
LABELS = 0.4
"""Heads of which so many are the same once digits are gone are labels."""
_ALIKE = 0.8
"""Heads that may begin with the same two words: a part of a sorted book holds runs of them."""
_JUMPS = 0.02
"""Numbers of heads that don't follow one another."""
PARTS = re.compile(r"\t| [—–|/=-] |⇐|⇒|→|=>|\|")
_SEMICOLON = re.compile(r"؛ ")
_NUMBER_IN_HEAD = re.compile(r"[\[(][^\])]*[\d٠-٩۰-۹][^\[(]*[\])]|\bص[\s.]*[\d٠-٩۰-۹]+\W*\Z")
_NUMBER_BEFORE = re.compile(r"[(\[]?[\d٠-٩۰-۹]{1,5}\s?[-–—.)\]/:ـ]\s*(?=[^\W\d])")
_INNER_STOP = re.compile(r"\w\. +\w+ +\w")
_BEFORE_A_COLON = frozenset(
    {*GLOSS, "قالت", "قالوا", "قلت", "يقول", "تقول", "يقال", "يعني", "معناه", "قولهم", "بمعنى"}
)
_TELLS = re.compile(
    r"(?:و?(?:قالت?|أنشدت?|روى|ذكر|حكى)|(?:و|ومنه |ومثله |وفيه |كما )(?:قول(?:هم|ه|ها)?|قيل)) "
)
"""How a head of few words begins that only names who speaks."""
_TELLS_WORDS = 4
_OTHER_LETTER = 0.05
_WIDTH = 25
"""Letters of a line of heads that is wide enough to be a page's."""
_FULL = 0.08
"""Heads within a tenth of the longest ones' width: 2 of 100 where al-Amthal has each on one line, 11 to 29
where lines were cut."""
_BEYOND = 1.1
"""Times the page's width that some heads have where none is wrapped; indentation takes up less."""
DIGITS = re.compile(r"[\d٠-٩۰-۹]+")
_NUMBER = re.compile(r"[\W_]{0,3}([\d٠-٩۰-۹]{1,5})\b")
_PAIRS = (("«", "»"), ("(", ")"), ("[", "]"), ("“", "”"))


def enough(count: int, heads: int, share: float = FEW) -> bool:
    """Whether a sign stands often enough to be no accident: in three places and this share of the heads."""
    return count >= LEAST and count > share * heads


def parted_heads(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that hold a mark which parts heads from explanations elsewhere."""
    found = [
        (line, head, sign[0])
        for line, head in heads
        if (sign := PARTS.search(head.text) or _SEMICOLON.search(head.text))
    ]
    if not enough(len(found), len(heads), MANY):
        return ""
    line, head, mark = found[0]
    kind = "a tab" if mark == "\t" else repr(mark.strip())
    return (
        f"{len(found)} of {len(heads)} heads hold {kind}, which may part them from their explanations, "
        f"line {line} first, {head.text[:60]!r}: name the `layout`, or make a table of the book"
    )


def stops_in_heads(heads: Sequence[tuple[int, Head]]) -> str:
    found = [(line, head) for line, head in heads if _INNER_STOP.search(head.text)]
    if not enough(len(found), len(heads), MANY):
        return ""
    line, head = found[0]
    return (
        f"{len(found)} of {len(heads)} heads go on after a full stop, line {line} first, {head.text[:60]!r}: "
        "the head may end there; put a colon in its place"
    )


def marks_of_heads(heads: Sequence[tuple[int, Head]], *, numbers: float = MANY) -> str:
    """Heads that begin with the same sign or a number, hold a number in brackets or end in a page's.

    Args:
        heads: With the numbers of their lines.
        numbers: Share of the heads that may hold a number or a page's.
    """
    firsts = Counter(head.text[0] for _, head in heads if head.text and not head.text[0].isalnum())
    sign, count = firsts.most_common(1)[0] if firsts else ("", 0)
    numbered = [line for line, head in heads if _NUMBER_IN_HEAD.search(head.text)]
    if enough(count, len(heads), MANY):
        line, head = next(one for one in heads if one[1].text.startswith(sign))
        return (
            f"{count} of {len(heads)} heads begin with {sign!r}, line {line} first, {head.text[:60]!r}: "
            "that is no part of them; take it out of the file"
        )
    if enough(len(numbered), len(heads), numbers):
        return (
            f"{len(numbered)} of {len(heads)} heads hold a number in brackets or a page's, line "
            f"{numbered[0]} first: it is no part of them; take it out of the file"
        )
    before = [(line, head) for line, head in heads if _NUMBER_BEFORE.match(head.text)]
    if enough(len(before), len(heads)):
        line, head = before[0]
        return (
            f"{len(before)} of {len(heads)} heads begin with a number, line {line} first, {head.text[:60]!r}"
            ": it is no part of them; take it out of the file, or give it a column of its own"
        )
    return ""


def labels(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that are all alike once digits are gone, begin with the same two words, or come three times."""
    often = [head for head, count in Counter(head.text for _, head in heads).items() if count >= LEAST]
    again = [(line, head) for line, head in heads if head.text in often]
    if enough(len(again), len(heads)):
        return (
            f"{len(again)} of {len(heads)} heads come three times and more, line {again[0][0]} first, "
            f"{again[0][1].text[:60]!r}: they say who speaks or what follows, and are no entries"
        )
    for words, share in ((None, LABELS), (2, _ALIKE)):
        said = Counter(
            " ".join(DIGITS.sub(" ", head.text).split()[:words])
            for _, head in heads
            if words is None or len(head.text.split()) > words
        )
        label, count = said.most_common(1)[0] if said else ("", 0)
        if count > share * len(heads):
            return (
                f"{count} of {len(heads)} heads say {label or 'only numbers'!r}, line {heads[0][0]} first: "
                "that is a label, and the head stands after it; take them out, or make a table of the book"
            )
    return ""


def speech(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that a colon of the text follows: they end in such a word, or say who speaks and no more.

    In both books of Taymur no head ends so, and one is as short and begins with such a word.
    """
    cut = [(line, head) for line, head in heads if _brings_speech(head.text.split())]
    if not enough(len(cut), len(heads)):
        return ""
    line, head = cut[0]
    return (
        f"{len(cut)} of {len(heads)} heads bring speech or a meaning, line {line} first, "
        f"{head.text[-60:]!r}: the colon after it is the text's own; put another mark after heads"
    )


def _brings_speech(words: Sequence[str]) -> bool:
    if not words or not _BEFORE_A_COLON.isdisjoint({words[-1], words[-1][1:]}):
        return bool(words)
    return len(words) <= _TELLS_WORDS and _TELLS.match(" ".join(words) + " ") is not None


def other_letters(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """Heads that don't begin with the letter of their section, where most do."""
    lettered = [(section, head) for section, found in places if section.letter for head in found]
    other = [(section, head) for section, head in lettered if not begins_with(head.text, section.letter)]
    if not enough(len(other), len(lettered), _OTHER_LETTER) or 2 * len(other) > len(lettered):
        return ""
    section, head = other[0]
    return (
        f"{len(other)} of {len(lettered)} heads don't begin with the letter of their section, line "
        f"{section.lines[head.start].number} first, {head.text[:60]!r}: they may be running heads or ends of "
        "heads; take these out of the file, or name the `layout` if the book is sorted otherwise"
    )


def cut_heads(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads of one line that crowd below one width: the line was full, and the head may go on."""
    alone = sorted(
        (len(head.text), line, head.text)
        for line, head in heads
        if not head.rest and head.stop == head.start + 1
    )
    if len(alone) < 0.99 * len(heads):
        return ""
    width = alone[-max(1, len(alone) // 100)][0]
    full = [one for one in alone if one[0] >= 0.9 * width]
    if width < _WIDTH or not enough(len(full), len(heads), _FULL):
        return ""
    _, line, text = min(full, key=lambda one: one[1])
    return (
        f"{len(full)} of {len(heads)} heads fill a line of {width} letters, line {line} first, {text!r}: "
        "they may go on in the next one; join each head into one line, or name the `layout` if none does"
    )


def wrapped_heads(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """In a text wrapped at one width, heads that the next word would not have fitted behind."""
    heads: list[tuple[int, Head, tuple[int, int]]] = []
    body: list[tuple[int, int]] = []
    for section, found in places:
        at = {head.stop - 1: head for head in found if head.stop == head.start + 1 and not head.rest}
        for place, fitting in fittings(section.lines):
            if place in at:
                heads.append((section.lines[place].number, at[place], fitting))
            else:
                body.append(fitting)
    page = page_width(body)
    if not page or 2 * len(body) < len(heads):
        return ""
    if sum(width > _BEYOND * page for *_, (width, _) in heads) >= LEAST:  # heads are not wrapped
        return ""
    full = [(line, head) for line, head, (_, needed) in heads if needed > page]
    if not enough(len(full), sum(len(found) for _, found in places)):
        return ""
    line, head = full[0]
    return (
        f"{len(full)} heads end where the page of {page} letters had no room for the next word, line {line} "
        f"first, {head.text!r}: join each head into one line"
    )


def torn(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """A bracket, quote or `**` that opens in the head and closes in the explanation."""
    found = [
        (line, head)
        for (line, head), text in zip(heads, explanations, strict=True)
        if is_open(head.text) or closes(text[: 2 * len(head.text) + 40])
    ]
    if not enough(len(found), len(heads), FEW / 2):
        return ""
    line, head = found[0]
    return (
        f"brackets or quotes of {len(found)} heads close in the explanation, line {line} first, "
        f"{head.text[:60]!r}: the head was cut too early; name another `layout`"
    )


def is_open(text: str) -> bool:
    uneven = any(text.count(left) > text.count(right) for left, right in _PAIRS)
    return uneven or text.count("**") % 2 == 1


def closes(text: str) -> bool:
    """A mark closes that was not opened in the same text."""
    for left, right in _PAIRS:
        opened, closed = text.find(left), text.find(right)
        if closed >= 0 and (opened < 0 or closed < opened):
            return True
    return text.count("**") % 2 == 1 and not text.startswith("**")


def counted_by_numbers(places: Sequence[tuple[Section, Sequence[Head]]]) -> bool:
    """Whether the heads bear numbers that follow one another through the whole book."""
    said = [number for _, number in _said_numbers(places)]
    steps = sum(after == before + 1 for before, after in pairwise(said))
    return steps + 1 >= (1 - _JUMPS / 2) * sum(len(found) for _, found in places)


def _said_numbers(places: Sequence[tuple[Section, Sequence[Head]]]) -> list[tuple[int, int]]:
    """Lines and numbers of the heads that bear one."""
    return [
        (section.lines[head.start].number, int(number[1]))
        for section, found in places
        for head in found
        if (number := _NUMBER.match(section.lines[head.start].text))
    ]


def numbers(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """Numbers before heads that jump or come again; one that starts anew at 1 is no jump."""
    said = _said_numbers(places)
    total = sum(len(found) for _, found in places)
    if len(said) < 0.6 * total:
        return ""
    jumps = [
        (line, before, after) for (_, before), (line, after) in pairwise(said) if after not in (before + 1, 1)
    ]
    if len(jumps) < 2 or len(jumps) <= _JUMPS * total:
        return ""
    line, before, after = jumps[0]
    return (
        f"numbers of heads jump {len(jumps)} times, line {line} first, from {before} to {after}: "
        "the entries between may stand in explanations; give their heads the same mark"
    )
