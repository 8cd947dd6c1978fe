"""The sections of a book as text: its headings, lines without page marks, and which sections hold entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple
from unicodedata import normalize

from mihakk.errors import SourceChanged
from scrapers.book_shapes import HEADING, Line, Section
from scrapers.heads import DECORATION, letter_line, letter_pair, section_letter

_MARKDOWN_OF_OPENITI = re.compile(r"^(?:~~|#+ ?[|$]|#META#)", re.MULTILINE)
"""Tells OpenITI mARkdown, in which `# ` opens a paragraph, from Markdown, in which it is a heading."""
_HEADING = re.compile(
    r"(?P<mark>#+ ?\|+|#+(?= )|={2,6})(?! ?[$|]) *(?P<title>.*?)(?: *={2,6}| +#+| *\{[^{}]*\})*"
)
_PAGE_TITLE = re.compile(r"(?:الصفحة|صفحة|صفحه|ص|[Pp]age)(?=[\W\d]*\d\W*\Z)")
_FEWEST_HEADINGS = 3
_DEEPER = 0.02
"""Of the headings that are heads, as many may have deeper ones of other titles below them."""
_TITLE = re.compile(r"[^\W\d_]")
_LETTER_LINE = re.compile(r"^(?:باب |فصل )?(?:حرف|باب|فصل) (?:ال)?\w+$")
_CHAPTER_LINE = re.compile(
    r"^ال(?:باب|فصل|قسم|جزء|حرف)\s+(?:[\d٠-٩۰-۹]+\b|ال(?:أول|ثاني|ثالث|رابع|خامس|سادس|سابع|ثامن|تاسع|عاشر|حادي|"
    r"عشرون|ثلاثون)\b)(?!.*[.؟!]$)"
)
_CHAPTER_WORDS = 12
_MARK_EARLY = re.compile(r"^\S(?:[^\n]{0,100}? [–—/-] |[^\n:=]{0,60}(?:: | ?= ))\S", re.MULTILINE)
_A_LINE_EACH = 0.8
_INLINE_PAGE = re.compile(
    r"\s*(?:\b(?:PageV\d+P\d+|ms\d+|Milestone\d+)\b"
    r"|\[(?:ص|صفحة|[Pp]age|p\.) ?:? ?[\d٠-٩۰-۹]+\])\s*"
)
"""Of OpenITI and of Shamela's exports, `[ص: 31]`."""
_PRESENTED = re.compile(r"[\uFB50-\uFD3D\uFD50-\uFDFC\uFE70-\uFEFC]+")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])")
_WIKI_LINK = re.compile(
    r"\[\[(?:(?:تصنيف|رده|ملف|پرونده|[Cc]ategory|[Ff]ile):[^\[\]\n]*|(?:[^\[\]|\n]*\|)?([^\[\]|\n]+))\]\]"
)
_LINK = re.compile(r"\[([^\[\]\n]*)\](?:\((?:#|https?:|[\w./-]+\.\w)[^()\s]*\)|\{[#.][^{}\n]*\})")
_QUOTED_LINE = re.compile(r"^[^\S\n]*(?:>(?: ?>)*[^\S\n]?|\|[^\S\n]+(?=[^|\n]+$))", re.MULTILINE)
_FENCE = re.compile(r"^[^\S\n]*:{3,}[^\n]*$", re.MULTILINE)
_CONTENTS = re.compile(r"(?:\.{3,}|…|(?:\. ){3,}) *[\d٠-٩۰-۹]+\Z")
"""Dots before a page's number."""
_STRIPPED = " \t\x0b\x0c\xa0\u200f\u200e\ufeff"


class _Heading(NamedTuple):
    """A marked heading."""

    level: str
    """Its mark: `#`, `##`, `|`, `||`, `==`."""
    title: str


def book_lines(text: str, *, first_line: int = 1) -> list[Line]:
    """The lines of a book as `sections` and `entry_headings` take them."""
    return list(_lines(_characters(text), first_line))


def sections(lines: Sequence[Line]) -> list[Section]:
    """The book in sections: by marked headings, else by lines such as `حرف الباء` or `الباب الأول: ...`."""
    return _parted(lines, "")


def entry_headings(lines: Sequence[Line]) -> list[Section]:
    """The book in sections where headings of one level are heads, and stay as lines; none where none can be.

    It is the level of most headings, letters aside, whose titles mostly differ; a deeper one may only hold
    titles that come again (`Meaning`, `Origin`), for others would be entries too.
    """
    titles: dict[str, set[str]] = {}
    for heading in (_heading(line.text) for line in lines):
        if heading and not _names_letter(heading.title):
            titles.setdefault(heading.level, set()).add(heading.title)
    level = max(titles, key=lambda one: len(titles[one]), default="")
    if len(titles.get(level, ())) < _FEWEST_HEADINGS:
        return []
    deeper = {title for one in titles if _is_below(one, level) for title in titles[one]}
    others = len(deeper) >= max(_FEWEST_HEADINGS, _DEEPER * len(titles[level]))
    return [] if others else _parted(lines, level)


def _parted(lines: Sequence[Line], heads: str) -> list[Section]:
    """Sections of the lines; headings of the level `heads` are lines with one mark, those below it text."""
    headings = [_heading(line.text) for line in lines]
    marked = any(one and (one.level != "#" or _names_letter(one.title)) for one in headings)
    found = [Section("")]
    lettered = ""
    for line, heading in zip(lines, headings, strict=True):
        if heading and heads and heading.level.startswith(heads) and not _names_letter(heading.title):
            below = _is_below(heading.level, heads)
            found[-1].lines.append(
                line._replace(text=heading.title if below else f"{HEADING} {heading.title}")
            )
        elif heading and marked:
            if not heading.title or _TITLE.search(heading.title):  # else a page's number
                # Themes within a letter part its entries, which begin with the letter all the same.
                theme = lettered and _is_below(heading.level, lettered)
                found.append(Section(found[-1].title if theme else heading.title))
                if not theme:
                    lettered = heading.level if found[-1].letter else ""
        elif not marked and _is_heading(line.text):
            title = letter_pair(line.text) or line.text.strip(DECORATION + "«»")
            if not found[-1].letter or found[-1].letter != section_letter(title):  # else a running head
                found.append(Section(title))
        else:
            found[-1].lines.append(line)
    return found


def _heading(text: str) -> _Heading | None:
    if not text.startswith(("#", "==")) or not (found := _HEADING.fullmatch(text)):
        return None
    mark, title = found["mark"].replace(" ", ""), found["title"].strip(_STRIPPED)
    if mark.startswith("=") and ("=" in title or not title or not text.endswith("==")):
        return None
    if not title and not mark.endswith("|"):
        return None
    return _Heading(mark.lstrip("#") or mark, _PAGE_TITLE.sub("", title))


def _is_below(level: str, other: str) -> bool:
    return level.startswith(other) and level != other


def _names_letter(title: str) -> bool:
    """Or nothing at all."""
    return (
        not _TITLE.search(title)
        or letter_line(f"[{title}]") != ""
        or _LETTER_LINE.match(title) is not None
        or len(title) == 1
    )


def _characters(text: str) -> str:
    """The text without Markdown's marks of emphasis, links, quoted blocks, lines of verse and fences.

    HTML's entities and, in a text of them, Arabic presentation forms become the characters they stand for.

    Single ones are left as they stand: editions write the year's abbreviation so.
    """
    text = _WIKI_LINK.sub(r"\1", text)
    text = _LINK.sub(_said, _EMPHASIS.sub(r"\1", unescape(text).replace("'''", "**")))
    text = _FENCE.sub("", _QUOTED_LINE.sub("", text))
    presented = sum(map(len, _PRESENTED.findall(text)))
    return (
        _PRESENTED.sub(lambda found: normalize("NFKC", found[0]), text) if 2 * presented > len(text) else text
    )


def _said(link: re.Match[str]) -> str:
    return link[1] if _TITLE.search(link[1]) else ""


def _lines(text: str, first: int) -> Iterator[Line]:
    """The lines without page marks; where `# ` opens paragraphs, a blank line in its place.

    Where most lines hold a mark between spaces early, each is a paragraph, and a blank line goes before it.
    """
    opens_paragraphs = _MARKDOWN_OF_OPENITI.search(text) is not None
    written = sum(bool(line.strip()) for line in text.split("\n"))
    a_line_each = written > 0 and len(_MARK_EARLY.findall(text)) > _A_LINE_EACH * written
    for number, raw in enumerate(text.split("\n"), start=first):
        line = _INLINE_PAGE.sub(_without_page, raw).strip(_STRIPPED)
        if opens_paragraphs and re.match(r"#(?!\S| ?\|)", line):
            yield Line(number, "")
            line = line[1:].strip(_STRIPPED)
        if a_line_each:
            yield Line(number, "")
        yield Line(number, line, raw[:1] in (" ", "\t"))


def _without_page(mark: re.Match[str]) -> str:
    """Nothing where a page ends within a word, else a space."""
    return " " if mark[0] != mark[0].strip() else ""


def _is_heading(text: str) -> bool:
    """`حرف الباء`, `باب ب`, `الباب الثاني: ...`, `~ الباء ~`."""
    if letter_line(text) or letter_pair(text):
        return True
    if _CHAPTER_LINE.match(text):
        return len(text.split()) <= _CHAPTER_WORDS
    return _LETTER_LINE.match(text) is not None and section_letter(text) != ""


def chosen(found: Sequence[Section], title: str) -> list[Section]:
    """The sections that hold entries: whose title starts as asked, else those named for letters, else all.

    Tables of contents hold none.

    Raises:
        SourceChanged: No section has such a title.
    """
    found = [section for section in found if not _is_contents(section)] or found
    if title:
        asked = [section for section in found if section.title.startswith(title)]
        if not asked:
            titles = ", ".join(section.title for section in found if section.title)[:300] or "none"
            raise SourceChanged(f"no section's title starts with {title!r}; titles: {titles}")
        return asked
    lettered = [section for section in found if section.letter]
    return lettered if len(lettered) > 1 else list(found)


def _is_contents(section: Section) -> bool:
    """A part of a table of contents or an index."""
    texts = [line.text for line in section.lines if line.text]
    return 2 * sum(_CONTENTS.search(text) is not None for text in texts) > len(texts)
