"""Blocks of a chapter, EPUB or web page alike: headings, paragraphs, definitions, verse, table rows.

Every block element is walked, for definition lists and verse stand in `div`s and not in `p`s. A class that
nobody has looked at yet is an error; inline elements give their text whatever they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborNode

from mihakk.machinery.errors import SourceChanged

BlockKind = Literal["heading", "paragraph", "term", "verse", "row"]

_DROPPED = {
    *("footnote", "link_footnote", "footnote_line", "footnotes", "download-icons", "shareActions", "pages"),
    *("empty_line", "cf", "clear"),
}
"""Footnotes would glue their digits to words; the others are furniture."""
_DROPPED_TAGS = {"script", "style", "head", "img", "svg", "audio", "video", "hr", "button", "figure"}
_HEADINGS = {
    *("title", "title_main", "title_center", "subtitle", "subtitle_main", "bridge_head_ar", "part_main"),
    *("part_number", "fb_title", "fb_author", "title_author", "section_title", "chapter_title"),
}
_TRANSPARENT = {
    *(
        "section",
        "section_center",
        "blockquote",
        "center",
        "tablegroup",
        "Div_P",
        "Div_Center",
        "para_normal",
    ),
    *("para_flushleft", "para_flushright", "para_center", "para_inline", "ordered_list_ar", "body", "header"),
    *("itemized_list_ar", "itemized_list_en", "ordered_list_en", "copyright", "copyright-content", "left"),
    *("cover-page", "m_b_12", "top_15x100", "chapterContent", "content", "epigraph", "dialogue", "signature"),
}
_BLOCK_TAGS = {
    *("div", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "td", "th", "blockquote", "section"),
    *("article", "body", "html", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main"),
}
_STYLE = re.compile(r"miscStyle\d+|m_[bt]_\d+|top_\S+|text(?:right|left|center)|table")


class Block(NamedTuple):
    """One block: its own text and, for a definition or a verse, what belongs to it."""

    kind: BlockKind
    text: str
    """Heading, paragraph, term, first hemistich, or cells joined by tabs."""
    rest: str = ""
    """Explanation of a term, or second hemistich."""


def from_html(node: LexborNode) -> Element:
    """An HTML node as an element tree, so that one walker serves both forms."""
    element = Element(node.tag or "", {key: value or "" for key, value in node.attributes.items()})
    last: Element | None = None
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            text = child.text(deep=False)
            if last is None:
                element.text = (element.text or "") + text
            else:
                last.tail = (last.tail or "") + text
        else:
            last = from_html(child)
            element.append(last)
    return element


def blocks(root: Element, where: str) -> list[Block]:
    """Blocks in reading order.

    Raises:
        SourceChanged: A block element has a class that the parser does not know.
    """
    return _Walker(where).whole(root)


class _Look(NamedTuple):
    """What an element's name and classes say; worked out once for each pair of them."""

    dropped: bool
    block: bool
    special: Literal["", "heading", "definitions", "verses", "row"]
    """What makes it more than a paragraph."""
    inline: bool
    """A block element that continues the paragraph it is in."""
    line_break: bool
    classes: frozenset[str]
    strange: str
    """Classes that the parser does not know."""


@lru_cache(maxsize=4096)
def _looked(name: str, attribute: str) -> _Look:
    tag = name.rpartition("}")[2].lower()
    # Hindawi's class attributes hold line breaks and indents.
    classes = frozenset(attribute.split())
    strange = sorted(one for one in classes - _TRANSPARENT if not _STYLE.fullmatch(one))
    return _Look(
        dropped=tag in _DROPPED_TAGS or bool(classes & _DROPPED),
        block=tag in _BLOCK_TAGS,
        special=_special(tag, classes),
        inline="para_inline" in classes,
        line_break=tag == "br",
        classes=classes,
        strange=f"<{tag} class={' '.join(strange)!r}>" if strange else "",
    )


def _special(tag: str, classes: frozenset[str]) -> Literal["", "heading", "definitions", "verses", "row"]:
    if classes & _HEADINGS or re.fullmatch(r"h[1-6]", tag):
        return "heading"
    if "variable_list" in classes or tag == "dl":
        return "definitions"
    if "poetry_container" in classes:
        return "verses"
    return "row" if tag == "tr" else ""


def _look(element: Element) -> _Look:
    return _looked(element.tag, element.get("class", ""))


def _clean(text: str) -> str:
    return " ".join(text.split())


class _Walker:
    """Collects blocks into a list: generators within generators would cost more than the parsing itself."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._buffer: list[str] = []
        self._found: list[Block] = []

    def whole(self, element: Element) -> list[Block]:
        """Blocks of an element that nothing follows."""
        self._element(element, _look(element))
        self._flush()
        return self._found

    def _element(self, element: Element, look: _Look) -> None:
        """One block element; text beside inner blocks becomes paragraphs of its own."""
        if look.dropped:
            return
        if look.special:
            self._flush()
            self._found += self._specially(element, look)
            return
        if look.strange:
            raise SourceChanged(f"{self._where}: the parser does not know {look.strange}")
        if not look.inline:
            self._flush()
        self._inner(element)
        if not look.inline:
            self._flush()

    def _inner(self, element: Element) -> None:
        if element.text:
            self._buffer.append(element.text)
        for child in element:
            look = _look(child)
            if look.block:
                self._element(child, look)
            elif not look.dropped:
                if look.line_break:
                    self._buffer.append(" ")
                self._inner(child)
            if child.tail:
                self._buffer.append(child.tail)

    def _flush(self) -> None:
        if not self._buffer:
            return
        text = _clean("".join(self._buffer))
        self._buffer.clear()
        if text:
            self._found.append(Block("paragraph", text))

    def _specially(self, element: Element, look: _Look) -> list[Block]:
        """Blocks of an element that is more than a paragraph."""
        if look.special == "heading":
            return [Block("heading", text)] if (text := self._text(element)) else []
        if look.special == "definitions":
            return [self._definition(item) for item in element]
        if look.special == "verses":
            return [self._verse(line) for line in element]
        return [Block("row", "\t".join(self._text(cell) for cell in element))]

    def _definition(self, item: Element) -> Block:
        """A term and its explanation, which may hold blocks and further lists of its own."""
        term = next((part for part in item if "variable_list_term" in _look(part).classes), None)
        if term is None:
            raise SourceChanged(f"{self._where}: a definition without its term: {self._text(item)[:60]!r}")
        inner = [block for part in item if part is not term for block in _Walker(self._where).whole(part)]
        return Block("term", self._text(term), "\n".join(_flat(block) for block in inner))

    def _verse(self, line: Element) -> Block:
        phrases = [
            part
            for part in line
            if any(name.startswith("poetry_line_phrase") for name in _look(part).classes)
        ]
        if "poetry_line" not in _look(line).classes or not 1 <= len(phrases) <= 2:
            raise SourceChanged(f"{self._where}: a verse of another shape: {self._text(line)[:60]!r}")
        texts = [self._text(phrase) for phrase in phrases]
        return Block("verse", texts[0], texts[1] if len(texts) == 2 else "")

    def _text(self, element: Element) -> str:
        parts: list[str] = []
        _collect(element, parts)
        return _clean("".join(parts))


def _collect(element: Element, parts: list[str]) -> None:
    """All text of an element, dropped parts left out."""
    look = _look(element)
    if look.dropped:
        return
    if look.line_break:
        parts.append(" ")
    elif element.text:
        parts.append(element.text)
    for child in element:
        _collect(child, parts)
        if child.tail:
            parts.append(child.tail)


def _flat(block: Block) -> str:
    """A block inside an explanation as one line of it."""
    if block.kind == "term":
        return f"{block.text} {block.rest}".strip()
    return f"{block.text} … {block.rest}" if block.rest else block.text
