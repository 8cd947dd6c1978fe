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
from statistics import median
from typing import Literal, NamedTuple

from mihakk.text.corruption import markup
from scrapers.book_head_signs import (
    DIGITS,
    FEW,
    LABELS,
    LEAST,
    MANY,
    PARTS,
    cut_heads,
    enough,
    is_open,
    labels,
    marks_of_heads,
    numbers,
    other_letters,
    parted_heads,
    speech,
    stops_in_heads,
    torn,
    wrapped_heads,
)
from scrapers.book_shapes import GLOSS, Head, Line, Section, ends_sentence, is_mark, with_text
from scrapers.heads import first_letter, letter_line

FAR = 12
"""An explanation this many times as long as the book's median is a finding."""
_HEAVY = 0.05
"""One that also holds this share of all words is an error: a whole part of the book stands in it."""
_SAID_AGAIN = 0.05
"""Lines of words alone that come again: short ones do by chance, running heads on each page."""
_LAST_WORDS = frozenset(
    {*GLOSS, "وانظر", "ومثله", "نظير", "نظیر", "رک", "رجوع", "يضرب", "ويضرب", "يقال", "ويقال"}
)
"""Begin what may rightly end an explanation: a paraphrase, a use, a saying like it, a reference."""
_LABEL_OR_BRACKET = re.compile(r"[^\s:]+:|[\[({#@]|[^\W\d_]+(?=(?: \S+){1,3}\Z)")
_LEFT_OF_A_MARK = re.compile(r"[>=|/–—:؛،,.؟*_](?!\w*\*\*)")
_FRAME = 4
"""Words of an opening that few lines share by chance: in both books of Taymur under 0.7 % of the heads."""
_TITLE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?")
_ONCE = 0.9
"""Of the titles of parts; the poets' names below their verses come again."""
_INDENTED = 0.8
"""Of the lines of explanations, where indentation tells them from heads."""
_SHORT = 0.6
"""Of the width in the middle of the lines that are not their paragraph's last."""
_SHORT_LINES = 0.1
"""Lines of verse are short too: 3.5 for a hundred entries of al-Amthal."""
_OPENING = re.compile(
    r"[.(\[]?[\d٠-٩۰-۹]{1,5}(?=[\s).\]–—ـ-]).{0,3}?(?=[^\W\d])|"
    r"[^\w\s«»()\[\]\"'.:،؛؟!…/%]\s+(?=\S)"
)
_ENDS = (".", ":", "،", "؛", "؟", "!", "»", "…")
_LETTER = re.compile(r"حرف ال\w{2,4}")
_WIKI = re.compile(r"\{\{|\}\}|\[\[|\]\]|'{2,}")
_SNIPPET = re.compile(r"\[[^\[\]]{0,12}[\d٠-٩۰-۹][^\[\]]{0,12}\]")


class _Line(NamedTuple):
    number: int
    text: str
    width: int
    """Characters; 0 for the last line of a paragraph."""
    opens: bool
    """It begins a paragraph or follows a sentence's end, and is not the first under its head."""
    letter: str
    """That its section is named for."""
    whole: bool
    """It is all that stands under its head."""
    indented: bool


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
            texts = [
                [line for line in text if not is_mark(line.text)] for _, text in with_text(section, found)
            ]
            whole = {text[0].number for text in texts if len(text) == 1}
            before, under = "", True
            for place in range(found[0].start if found else len(section.lines), len(section.lines)):
                text = section.lines[place].text
                if place in taken:
                    before, under = "", True
                    continue
                if not is_mark(text):
                    opens = not under and (not before or ends_sentence(before))
                    last = place + 1 >= len(section.lines) or not section.lines[place + 1].text
                    line = section.lines[place]
                    width = 0 if last else len(text)
                    yield _Line(
                        line.number, text, width, opens, section.letter, line.number in whole, line.indented
                    )
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
    if count < LEAST:
        return {}
    body = list(seen.body())
    found: dict[Sign, str] = {
        "parted_heads": parted_heads(heads),
        "stops_in_heads": stops_in_heads(heads),
        "marks_of_heads": marks_of_heads(heads),
        "marks_of_explanations": _marks_of_explanations(heads, seen.explanations)
        or _last_lines(seen.places, count),
        "labels": labels(heads),
        "speech": speech(heads),
        "other_letters": other_letters(seen.places),
        "cut_heads": cut_heads(heads) or wrapped_heads(seen.places) or _outdented(body, count),
        "torn_heads": torn(heads, seen.explanations),
        "numbers_jump": numbers(seen.places),
        "opening_marks": _openings(body, count),
        "early_marks": _unread_marks(body, count),
        "letters_of_sections": _letters(body, count),
        "short_lines": _short_lines(body, count),
        "unclosed": _unclosed(body, count),
        "headings": _headings(body),
        "repeated_lines": _repeated(body, count),
        "page_marks": page_marks(heads, seen.explanations),
        "markup": markup_of_entries(heads, seen.explanations),
        "heavy": _heavy(heads, seen.explanations),
        "text_first": _text_first(seen.places),
        "shifted": _shifted(heads, seen.explanations),
    }
    return {name: text for name, text in found.items() if text}


def _marks_of_explanations(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Explanations that begin with what is left of a mark, or with the same label."""
    left = [line for (line, _), text in zip(heads, explanations, strict=True) if _LEFT_OF_A_MARK.match(text)]
    if enough(len(left), len(heads), MANY):
        return (
            f"{len(left)} of {len(heads)} explanations begin with the rest of a mark, in the entry of line "
            f"{left[0]} first: write a colon between heads and explanations"
        )
    said = Counter(text.partition(":")[0].strip() for text in explanations if ":" in text[:30])
    label, count = said.most_common(1)[0] if said else ("", 0)
    if count > LABELS * len(heads) and label not in GLOSS:
        return (
            f"{count} of {len(heads)} explanations begin with {label + ':'!r}, in the entry of line "
            f"{heads[0][0]} first: that is a label; take it out of the file"
        )
    return ""


def _last_lines(places: Sequence[tuple[Section, Sequence[Head]]], heads: int) -> str:
    """Last lines of explanations that are no part of them: tags, sources, notices, titles of what follows.

    Such lines open with the same label or bracket or, where they are short, the same word; few suffice where
    they open with the same four words, or are paragraphs of a word or two that come once each.
    """
    ends = list(_ends(places))
    labelled = [
        (found[0].rstrip(":"), line) for line, _ in ends if (found := _LABEL_OR_BRACKET.match(line.text))
    ]
    openings = [(line.text.split(), line) for line, before in ends if not before or ends_sentence(before)]
    framed = [(" ".join(words[:_FRAME]), line) for words, line in openings if len(words) >= _FRAME]
    for said, least in ((labelled, max(MANY * heads, LEAST - 1)), (framed, max(FEW * heads, LEAST))):
        alike = Counter(opening for opening, _ in said if opening.split()[0] not in _LAST_WORDS)
        opening, count = alike.most_common(1)[0] if alike else ("", 0)
        if count > least:
            lines = [line for words, line in said if words == opening]
            what = f"explanations end with a line that opens with {opening!r}"
            return _told(lines, what, "take these lines out of the file")
    titles = [line for line, before in ends if not before and _TITLE.fullmatch(line.text)]
    if enough(len(titles), heads) and len({line.text for line in titles}) > _ONCE * len(titles):
        what = "explanations end with a word or two alone"
        return _told(titles, what, "they may be titles of what follows; write them as `## title`")
    return ""


def _ends(places: Sequence[tuple[Section, Sequence[Head]]]) -> Iterator[tuple[Line, str]]:
    """The last line of each explanation of several, and the text of the line above it."""
    for section, found in places:
        for head, under in with_text(section, found):
            written = [place for place, line in enumerate(under) if not is_mark(line.text)]
            if written and (len(written) > 1 or head.rest):
                last = written[-1]
                if not under[last].text.startswith("~~"):  # the paragraph goes on
                    yield under[last], under[last - 1].text if last else head.rest


def _told(found: Sequence[_Line] | Sequence[Line], what: str, fix: str) -> str:
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
    if not enough(len(found), heads):
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
    if not enough(len(found), heads, _SHORT_LINES):
        return ""
    what = "short lines inside explanations stand after a sentence's end"
    return _told(found, what, "they may be heads; give them the mark of the others")


def _outdented(body: Sequence[_Line], heads: int) -> str:
    """Lines at the margin of the heads, where those of explanations are indented: ends of heads."""
    found = [line for line in body if not line.indented]
    if len(found) > (1 - _INDENTED) * len(body) or not enough(len(found), heads, FEW / 2):
        return ""
    what = "lines inside explanations begin at the margin, where others are indented"
    return _told(found, what, "they may be ends of heads; join each head into one line")


def _unclosed(body: Sequence[_Line], heads: int) -> str:
    """Paragraphs of one line that open a quote or bracket and don't close it."""
    found = [line for line in body if line.opens and not line.width and is_open(line.text)]
    if not enough(len(found), heads):
        return ""
    what = "paragraphs inside explanations open a quote or bracket and don't close it"
    return _told(found, what, "they may be heads; close it")


def _unread_marks(body: Sequence[_Line], heads: int) -> str:
    """Lines in explanations that begin as `head — explanation` does, with one such mark early in the line."""
    found = [line for line in body if line.opens and _one_mark(line.text)]
    if not enough(len(found), heads):
        return ""
    what = f"lines inside explanations hold a mark such as {_one_mark(found[0].text)!r} early"
    return _told(found, what, "they may be heads; name the `layout`, or put blank lines between entries")


def _one_mark(text: str) -> str:
    early = PARTS.findall(text[:80])
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
    if not enough(round(len(own) - expected), heads) or len(own) < 3 * expected:
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
        if not line.whole:  # a formula may be all that is said of a head
            forms.setdefault(" ".join(DIGITS.sub(" ", line.text).split()), []).append(line)
    again = []
    for lines in forms.values():
        text = lines[0].text
        numbered = DIGITS.search(text) is not None or not re.search(r"[^\W\d_]", text)
        words = 0 if text.endswith(_ENDS) else len(text.split())
        said = words > 1 and enough(len(lines), heads, _SAID_AGAIN)
        if len(lines) >= LEAST and (numbered or said or (words > 2 and len(lines) > LEAST)):
            again += lines
    if not enough(len(again), heads):
        return ""
    what = "lines inside explanations say the same once digits are gone"
    return _told(sorted(again), what, "take running heads, rules and page marks out of the file")


def markup_of_entries(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Tags of HTML and marks of wikis, which no book holds."""
    found = []
    for (line, head), text in zip(heads, explanations, strict=True):
        whole = f"{head.text} {text}"
        if held := markup.search(whole) or _WIKI.search(whole):
            found.append((line, held[0]))
    if not enough(len(found), len(heads)):
        return ""
    line, tag = found[0]
    return (
        f"{len(found)} entries hold markup, that of line {line} first, {tag!r}: save the text without it, "
        "as `pandoc --to plain` does"
    )


def page_marks(heads: Sequence[tuple[int, Head]], explanations: Sequence[str]) -> str:
    """Marks such as `[ص ١٢]` inside explanations."""
    found = [
        (DIGITS.sub("", snippet), line)
        for (line, _), text in zip(heads, explanations, strict=True)
        for snippet in _SNIPPET.findall(text)
    ]
    form, count = Counter(form for form, _ in found).most_common(1)[0] if found else ("", 0)
    if not enough(count, len(heads)):
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
    if not enough(following - own, len(heads), 0.1):
        return ""
    return (
        f"{following} explanations hold words of the head after them and {own} of their own, line "
        f"{heads[0][0]} first: explanations may stand before their heads; make a table of the book"
    )


def _bare(word: str) -> str:
    return word.strip(" «»().،؛:؟!…\"'*").removeprefix("ال")
