"""Signs in a book's own text that it was misread: each is evidence that the finding of heads did not use.

Where both books of Taymur are read rightly, a sign of single lines stands at most once for 100 entries (short
lines, being verse, 3.5 times); where an outsider's layouts of them were misread, 6 to 300 times. The limits
are 1 or 2 of 100 for single places (10 for short lines), 5 and 8 for what some heads of a sound book bear,
and 20 or 40 for signs that all heads share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from statistics import median
from typing import Literal, NamedTuple

from mihakk.text.corruption import markup
from scrapers.book_shapes import GLOSS, Head, Line, Section, begins_with, is_mark
from scrapers.heads import first_letter, letter_line

FAR = 12
"""An explanation this many times as long as the book's median is a finding."""
_HEAVY = 0.05
"""One that also holds this share of all words is an error: a whole part of the book stands in it."""
_FEW = 0.02
"""Share of misread places that are no accident."""
_LEAST = 3
"""Fewest such places, so that a small book is not refused for one."""
_MANY = 0.2
"""Share of the heads that must bear a sign which single heads may bear rightly."""
_LABELS = 0.4
"""Heads of which so many are the same once digits are gone are labels."""
_ALIKE = 0.8
"""Heads that may begin with the same two words: a part of a sorted book holds runs of them."""
_SAID_AGAIN = 0.05
"""Lines of words alone that come again: short ones do by chance, running heads on each page."""
_JUMPS = 0.02
"""Numbers of heads that don't follow one another."""
_PARTS = re.compile(r"\t| [—–|/=-] |⇐|⇒|→|=>|\|")
_LAST_WORDS = frozenset({*GLOSS, "وانظر", "ومثله", "نظير", "نظیر", "رک", "رجوع"})
"""Begin what may rightly end an explanation: a paraphrase, a saying like it, a reference."""
_SEMICOLON = re.compile(r"؛ ")
_NUMBER_IN_HEAD = re.compile(r"[\[(][^\])]*[\d٠-٩۰-۹][^\[(]*[\])]|\bص[\s.]*[\d٠-٩۰-۹]+\W*\Z")
_LABEL_OR_BRACKET = re.compile(r"[^\s:]+:|[\[({#@]|[^\W\d_]+(?=(?: \S+){1,3}\Z)")
_LEFT_OF_A_MARK = re.compile(r"[>=|/–—:؛،,.؟*_](?!\w*\*\*)")
_SHORT = 0.6
"""Of the width in the middle of the lines that are not their paragraph's last."""
_SHORT_LINES = 0.1
"""Lines of verse are short too: 3.5 for a hundred entries of al-Amthal."""
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
_PAGE_WIDTHS = (30, 130)
_WRAPPED = 0.5
"""Lines of a wrapped text, but the last of a paragraph, that the next word would not have fitted behind."""
_OPENING = re.compile(
    r"[.(\[]?[\d٠-٩۰-۹]{1,5}(?=[\s).\]–—ـ-]).{0,3}?(?=[^\W\d])|"
    r"[^\w\s«»()\[\]\"'.:،؛؟!…/%]\s+(?=\S)"
)
_ENDS = (".", ":", "،", "؛", "؟", "!", "»", "…")
_LETTER = re.compile(r"حرف ال\w{2,4}")
_DIGITS = re.compile(r"[\d٠-٩۰-۹]+")
_NUMBER = re.compile(r"[\W_]{0,3}([\d٠-٩۰-۹]{1,5})\b")
_WIKI = re.compile(r"\{\{|\}\}|\[\[|\]\]|'{2,}")
_SNIPPET = re.compile(r"\[[^\[\]]{0,12}[\d٠-٩۰-۹][^\[\]]{0,12}\]")
_PAIRS = (("«", "»"), ("(", ")"), ("[", "]"), ("“", "”"))


class _Line(NamedTuple):
    number: int
    text: str
    width: int
    """Characters; 0 for the last line of a paragraph."""
    opens: bool
    """It begins a paragraph or follows a sentence's end, and is not the first under its head."""
    letter: str
    """That its section is named for."""


@dataclass(frozen=True)
class Seen:
    """What a reading made of a book."""

    places: Sequence[tuple[Section, Sequence[Head]]]
    """Sections with the heads found in them."""
    explanations: Sequence[str]
    """One a head, in the same order."""

    @property
    def heads(self) -> list[tuple[int, Head]]:
        """With the number of their first line."""
        return [(section.lines[head.start].number, head) for section, found in self.places for head in found]

    def body(self) -> Iterator[_Line]:
        """Lines under heads, without footnotes' digits standing alone."""
        for section, found in self.places:
            taken = {place for head in found for place in range(head.start, head.stop)}
            before, under = "", True
            for place in range(found[0].start if found else len(section.lines), len(section.lines)):
                text = section.lines[place].text
                if place in taken:
                    before, under = "", True
                    continue
                if not is_mark(text):
                    opens = not under and (not before or before.endswith((".", "؟", "!", "»", "…")))
                    last = place + 1 >= len(section.lines) or not section.lines[place + 1].text
                    number = section.lines[place].number
                    yield _Line(number, text, 0 if last else len(text), opens, section.letter)
                    under = False
                before = text


Sign = Literal[
    "alphabet",
    "strange_heads",
    "opens_as_heads",
    "sections_passed_over",
    "parted_heads",
    "stops_in_heads",
    "marks_of_heads",
    "marks_of_explanations",
    "labels",
    "speech",
    "other_letters",
    "cut_heads",
    "torn_heads",
    "numbers_jump",
    "opening_marks",
    "early_marks",
    "letters_of_sections",
    "short_lines",
    "unclosed",
    "headings",
    "repeated_lines",
    "page_marks",
    "heavy",
    "text_first",
    "shifted",
    "cut_short",
    "markup",
    "unsorted",
]
"""What a config may `accept`, having looked at it."""


def doubts(seen: Seen) -> dict[Sign, str]:
    """What speaks against the reading, where, and what to do, by the sign's name; none where nothing does."""
    heads, count = seen.heads, len(seen.heads)
    if count < _LEAST:
        return {}
    body = list(seen.body())
    found: dict[Sign, str] = {
        "parted_heads": _parted_heads(heads),
        "stops_in_heads": _stops_in_heads(heads),
        "marks_of_heads": _marks_of_heads(heads),
        "marks_of_explanations": _marks_of_explanations(heads, seen.explanations)
        or _last_lines(seen.places, count),
        "labels": _labels(heads),
        "speech": _speech(heads),
        "other_letters": _other_letters(seen.places),
        "cut_heads": _cut_heads(heads) or _wrapped_heads(seen.places),
        "torn_heads": _torn(heads, seen.explanations),
        "numbers_jump": _numbers(seen.places),
        "opening_marks": _openings(body, count),
        "early_marks": _unread_marks(body, count),
        "letters_of_sections": _letters(body, count),
        "short_lines": _short_lines(body, count),
        "unclosed": _unclosed(body, count),
        "headings": _headings(body),
        "repeated_lines": _repeated(body, count),
        "page_marks": _snippets(heads, seen.explanations),
        "markup": _markup(heads, seen.explanations),
        "heavy": _heavy(heads, seen.explanations),
        "text_first": _text_first(seen.places),
        "shifted": _shifted(heads, seen.explanations),
    }
    return {name: text for name, text in found.items() if text}


def _enough(count: int, heads: int, share: float = _FEW) -> bool:
    return count >= _LEAST and count > share * heads


def _parted_heads(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that hold a mark which parts heads from explanations elsewhere."""
    found = [
        (line, head, sign[0])
        for line, head in heads
        if (sign := _PARTS.search(head.text) or _SEMICOLON.search(head.text))
    ]
    if not _enough(len(found), len(heads), _MANY):
        return ""
    line, head, mark = found[0]
    kind = "a tab" if mark == "\t" else repr(mark.strip())
    return (
        f"{len(found)} of {len(heads)} heads hold {kind}, which may part them from their explanations, "
        f"line {line} first, {head.text[:60]!r}: name the `layout`, or make a table of the book"
    )


def _stops_in_heads(heads: Sequence[tuple[int, Head]]) -> str:
    found = [(line, head) for line, head in heads if _INNER_STOP.search(head.text)]
    if not _enough(len(found), len(heads), _MANY):
        return ""
    line, head = found[0]
    return (
        f"{len(found)} of {len(heads)} heads go on after a full stop, line {line} first, {head.text[:60]!r}: "
        "the head may end there; put a colon in its place"
    )


def _marks_of_heads(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that begin with the same sign, hold a number in brackets or end in a page's."""
    firsts = Counter(head.text[0] for _, head in heads if head.text and not head.text[0].isalnum())
    sign, count = firsts.most_common(1)[0] if firsts else ("", 0)
    numbered = [line for line, head in heads if _NUMBER_IN_HEAD.search(head.text)]
    if _enough(count, len(heads), _MANY):
        line, head = next(one for one in heads if one[1].text.startswith(sign))
        return (
            f"{count} of {len(heads)} heads begin with {sign!r}, line {line} first, {head.text[:60]!r}: "
            "that is no part of them; take it out of the file"
        )
    if _enough(len(numbered), len(heads), _MANY):
        return (
            f"{len(numbered)} of {len(heads)} heads hold a number in brackets or a page's, line "
            f"{numbered[0]} first: it is no part of them; take it out of the file"
        )
    return ""


def _marks_of_explanations(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Explanations that begin with what is left of a mark, or with the same label."""
    left = [line for (line, _), text in zip(heads, explanations, strict=True) if _LEFT_OF_A_MARK.match(text)]
    if _enough(len(left), len(heads), _MANY):
        return (
            f"{len(left)} of {len(heads)} explanations begin with the rest of a mark, in the entry of line "
            f"{left[0]} first: write a colon between heads and explanations"
        )
    said = Counter(text.partition(":")[0].strip() for text in explanations if ":" in text[:30])
    label, count = said.most_common(1)[0] if said else ("", 0)
    if count > _LABELS * len(heads) and label not in GLOSS:
        return (
            f"{count} of {len(heads)} explanations begin with {label + ':'!r}, in the entry of line "
            f"{heads[0][0]} first: that is a label; take it out of the file"
        )
    return ""


def _last_lines(places: Sequence[tuple[Section, Sequence[Head]]], heads: int) -> str:
    """Last lines of explanations that open alike: tags, sources, headings of the next part.

    That is with the same label or bracket, or, where a line is short, with the same word.
    """
    ends = []
    for section, found in places:
        for head, following in zip_longest(found, found[1:]):
            under = section.lines[head.stop : following.start if following else len(section.lines)]
            *before, last = [line for line in under if not is_mark(line.text)] or [Line(0, "")]
            if (before or head.rest) and (said := _LABEL_OR_BRACKET.match(last.text)):
                ends.append((said[0], last))
    said_of = Counter(said for said, _ in ends if said.rstrip(":") not in _LAST_WORDS)
    opening, count = said_of.most_common(1)[0] if said_of else ("", 0)
    if not _enough(count, heads, _MANY):
        return ""
    first = next(line for said, line in ends if said == opening)
    return (
        f"{count} explanations end with a line that opens with {opening!r}, line {first.number} first, "
        f"{first.text[:60]!r}: take these lines out of the file"
    )


def _labels(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that are all alike once digits are gone, begin with the same two words, or come three times."""
    often = [head for head, count in Counter(head.text for _, head in heads).items() if count >= _LEAST]
    again = [(line, head) for line, head in heads if head.text in often]
    if _enough(len(again), len(heads)):
        return (
            f"{len(again)} of {len(heads)} heads come three times and more, line {again[0][0]} first, "
            f"{again[0][1].text[:60]!r}: they say who speaks or what follows, and are no entries"
        )
    for words, share in ((None, _LABELS), (2, _ALIKE)):
        said = Counter(
            " ".join(_DIGITS.sub(" ", head.text).split()[:words])
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


def _speech(heads: Sequence[tuple[int, Head]]) -> str:
    """Heads that a colon of the text follows: they end in such a word, or say who speaks and no more.

    In both books of Taymur no head ends so, and one is as short and begins with such a word.
    """
    cut = [(line, head) for line, head in heads if _brings_speech(head.text.split())]
    if not _enough(len(cut), len(heads)):
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


def _other_letters(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """Heads that don't begin with the letter of their section, where most do."""
    lettered = [(section, head) for section, found in places if section.letter for head in found]
    other = [(section, head) for section, head in lettered if not begins_with(head.text, section.letter)]
    if not _enough(len(other), len(lettered), _OTHER_LETTER) or 2 * len(other) > len(lettered):
        return ""
    section, head = other[0]
    return (
        f"{len(other)} of {len(lettered)} heads don't begin with the letter of their section, line "
        f"{section.lines[head.start].number} first, {head.text[:60]!r}: they may be running heads or ends of "
        "heads; take these out of the file, or name the `layout` if the book is sorted otherwise"
    )


def _cut_heads(heads: Sequence[tuple[int, Head]]) -> str:
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
    if width < _WIDTH or not _enough(len(full), len(heads), _FULL):
        return ""
    _, line, text = min(full, key=lambda one: one[1])
    return (
        f"{len(full)} of {len(heads)} heads fill a line of {width} letters, line {line} first, {text!r}: "
        "they may go on in the next one; join each head into one line, or name the `layout` if none does"
    )


def _wrapped_heads(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """In a text wrapped at one width, heads that the next word would not have fitted behind."""
    heads: list[tuple[int, Head, int, int]] = []
    body: list[tuple[int, int]] = []
    for section, found in places:
        at = {head.stop - 1: head for head in found if head.stop == head.start + 1 and not head.rest}
        for place, (above, below) in enumerate(pairwise(section.lines)):
            if above.text and below.text:
                width, needed = len(above.text), len(above.text) + 1 + len((below.text.split() or [""])[0])
                if place in at:
                    heads.append((above.number, at[place], width, needed))
                else:
                    body.append((width, needed))
    widths = sorted([width for *_, width, _ in heads] + [width for width, _ in body])
    page = widths[-1 - len(widths) // 50] if widths else 0
    wrapped = sum(needed > page for _, needed in body) >= _WRAPPED * len(body)
    if not (_PAGE_WIDTHS[0] <= page <= _PAGE_WIDTHS[1] and wrapped and 2 * len(body) >= len(heads)):
        return ""
    full = [(line, head) for line, head, _, needed in heads if needed > page]
    if not _enough(len(full), sum(len(found) for _, found in places)):
        return ""
    line, head = full[0]
    return (
        f"{len(full)} heads end where the page of {page} letters had no room for the next word, line {line} "
        f"first, {head.text!r}: join each head into one line"
    )


def _torn(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """A bracket, quote or `**` that opens in the head and closes in the explanation."""
    found = [
        (line, head)
        for (line, head), text in zip(heads, explanations, strict=True)
        if _open(head.text) or _closes(text[: 2 * len(head.text) + 40])
    ]
    if not _enough(len(found), len(heads), _FEW / 2):
        return ""
    line, head = found[0]
    return (
        f"brackets or quotes of {len(found)} heads close in the explanation, line {line} first, "
        f"{head.text[:60]!r}: the head was cut too early; name another `layout`"
    )


def _open(text: str) -> bool:
    uneven = any(text.count(left) > text.count(right) for left, right in _PAIRS)
    return uneven or text.count("**") % 2 == 1


def _closes(text: str) -> bool:
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


def _numbers(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
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


def _told(found: Sequence[_Line], what: str, fix: str) -> str:
    """So many lines, the first of them, and what to do."""
    first = found[0]
    return f"{len(found)} {what}, line {first.number} first, {first.text[:60]!r}: {fix}"


def _openings(body: Sequence[_Line], heads: int) -> str:
    """Lines in explanations that begin with a number or bullet, as heads do."""
    found = [
        line
        for line in body
        if (mark := _OPENING.match(line.text)) and line.text[mark.end() :].partition(":")[0] not in GLOSS
    ]
    if not _enough(len(found), heads):
        return ""
    what = "lines inside explanations open with a number or bullet"
    return _told(found, what, "they may be heads of another layout; put them in a file of their own")


def _short_lines(body: Sequence[_Line], heads: int) -> str:
    """Lines far from the margin that end no sentence and follow one: heads, where the text is wrapped."""
    widths = [line.width for line in body if line.width]
    margin = _SHORT * median(widths) if widths else 0.0
    found = [
        line for line in body if 0 < line.width < margin and line.opens and not line.text.endswith(_ENDS)
    ]
    if not _enough(len(found), heads, _SHORT_LINES):
        return ""
    what = "short lines inside explanations stand after a sentence's end"
    return _told(found, what, "they may be heads; give them the mark of the others")


def _unclosed(body: Sequence[_Line], heads: int) -> str:
    """Paragraphs of one line that open a quote or bracket and don't close it."""
    found = [line for line in body if line.opens and not line.width and _open(line.text)]
    if not _enough(len(found), heads):
        return ""
    what = "paragraphs inside explanations open a quote or bracket and don't close it"
    return _told(found, what, "they may be heads; close it")


def _unread_marks(body: Sequence[_Line], heads: int) -> str:
    """Lines in explanations that begin as `head — explanation` does, with one such mark early in the line."""
    found = [line for line in body if line.opens and _one_mark(line.text)]
    if not _enough(len(found), heads):
        return ""
    what = f"lines inside explanations hold a mark such as {_one_mark(found[0].text)!r} early"
    return _told(found, what, "they may be heads; name the `layout`, or put blank lines between entries")


def _one_mark(text: str) -> str:
    early = _PARTS.findall(text[:80])
    return early[0].strip() or "tab" if len(early) == 1 else ""


def _letters(body: Sequence[_Line], heads: int) -> str:
    """Lines that begin with the letter of their section oftener than lines elsewhere do."""
    opening = [line for line in body if line.opens and line.letter]
    sizes = Counter(line.letter for line in opening)
    if len(sizes) < 2:
        return ""
    firsts = Counter((line.letter, first_letter(line.text)) for line in opening)
    within = Counter(first_letter(line.text) for line in body if not line.opens)
    expected = 0.0
    for letter, size in sizes.items():
        other = sum(count for (section, first), count in firsts.items() if first == letter != section)
        expected += size * max(other / (len(opening) - size), within[letter] / max(1, within.total()))
    own = [line for line in opening if first_letter(line.text) == line.letter]
    if not _enough(round(len(own) - expected), heads) or len(own) < 3 * expected:
        return ""
    what = (
        f"lines inside explanations begin with the letter of their section, where chance gives {expected:.0f}"
    )
    fix = "they may be heads; name the `layout`, or put the mark of the other heads before them"
    return _told(own, what, fix)


def _headings(body: Sequence[_Line]) -> str:
    found = [line for line in body if letter_line(line.text) or _LETTER.fullmatch(line.text)]
    if len(found) < 2:
        return ""
    return _told(found, "lines inside explanations name a letter", "write headings as `حرف الباء`")


def _repeated(body: Sequence[_Line], heads: int) -> str:
    """Lines that come again once digits are gone: running heads, dividers, rules, links to share a page."""
    forms: dict[str, list[_Line]] = {}
    for line in body:
        forms.setdefault(" ".join(_DIGITS.sub(" ", line.text).split()), []).append(line)
    again = []
    for lines in forms.values():
        text = lines[0].text
        numbered = _DIGITS.search(text) is not None or not re.search(r"[^\W\d_]", text)
        said = len(text.split()) > 1 and not text.endswith(_ENDS) and _enough(len(lines), heads, _SAID_AGAIN)
        if len(lines) >= _LEAST and (numbered or said):
            again += lines
    if not _enough(len(again), heads):
        return ""
    what = "lines inside explanations say the same once digits are gone"
    return _told(sorted(again), what, "take running heads, rules and page marks out of the file")


def _markup(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Tags of HTML and marks of wikis, which no book holds."""
    found = []
    for (line, head), text in zip(heads, explanations, strict=True):
        whole = f"{head.text} {text}"
        if held := markup.search(whole) or _WIKI.search(whole):
            found.append((line, held[0]))
    if not _enough(len(found), len(heads)):
        return ""
    line, tag = found[0]
    return (
        f"{len(found)} entries hold markup, that of line {line} first, {tag!r}: save the text without it, "
        "as `pandoc --to plain` does"
    )


def _snippets(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Marks such as `[ص ١٢]` inside explanations."""
    found = [
        (_DIGITS.sub("", snippet), line)
        for (line, _), text in zip(heads, explanations, strict=True)
        for snippet in _SNIPPET.findall(text)
    ]
    form, count = Counter(form for form, _ in found).most_common(1)[0] if found else ("", 0)
    if not _enough(count, len(heads)):
        return ""
    return (
        f"{count} times explanations hold {form!r} around a number, in the entry of line "
        f"{dict(found[::-1])[form]} first: take page marks out of the file"
    )


def _heavy(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    words = [len(text.split()) for text in explanations]
    limit = max(FAR * max(median(words), 5.0), _HEAVY * sum(words))
    found = [(line, head, count) for (line, head), count in zip(heads, words, strict=True) if count > limit]
    if not found:
        return ""
    line, head, count = found[0]
    return (
        f"the explanation of line {line}, {head.text[:60]!r}, has {count} words, "
        f"{count / sum(words):.0%} of the book's: another part of the book may stand in it; name the "
        "`sections` that hold entries, or end the file before it"
    )


def _text_first(places: Sequence[tuple[Section, Sequence[Head]]]) -> str:
    """Sections that begin with text and end with a head: the text stands before its head."""
    turned = []
    for section, found in places:
        if not found:
            continue
        before = sum(len(line.text.split()) for line in section.lines[: found[0].start])
        after = any(line.text for line in section.lines[found[-1].stop :]) or found[-1].rest
        if before >= 5 and not after:
            turned.append((section, found))
    if not turned or 2 * len(turned) < sum(bool(found) for _, found in places):
        return ""
    section, found = turned[0]
    line = section.lines[found[0].start].number
    return (
        f"text stands before the first head of {section.title!r} (line {line}) and none after its last: "
        "explanations may stand before their heads; make a table of the book"
    )


def _shifted(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Explanations take up words of their heads; where they take up the next head's, they stand before it."""
    words = [{_bare(word) for word in head.text.split() if len(word) > 3} for _, head in heads]
    texts = [{_bare(word) for word in text.split()} for text in explanations]
    own = sum(bool(head & text) for head, text in zip(words, texts, strict=True))
    following = sum(bool(head & text) for head, text in zip(words[1:], texts, strict=False))
    if not _enough(following - own, len(heads), 0.1):
        return ""
    return (
        f"{following} explanations hold words of the head after them and {own} of their own, line "
        f"{heads[0][0]} first: explanations may stand before their heads; make a table of the book"
    )


def _bare(word: str) -> str:
    return word.strip(" «»().،؛:؟!…\"'*").removeprefix("ال")
