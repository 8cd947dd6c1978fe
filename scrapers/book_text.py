"""The lines of a book, from plain text, EPUB or HTML: what a declaration's patterns are searched in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text.encoding import declared, repair_mojibake
from mihakk.scrapers.book import Line
from mihakk.scrapers.epub import open_book

_NO_TEXT = {
    b"%pdf": "a PDF",
    b"pk\x03\x04": "a zip archive (docx, xlsx; an EPUB must be called .epub)",
    b"\x1f\x8b": "packed by gzip",
    b"<!doctype html": "an HTML page (call it .html)",
    b"<html": "an HTML page (call it .html)",
    b"{\\rtf": "an RTF document",
}
"""First bytes, in small letters, of what is given in place of a text."""
_PAGE = re.compile(
    r"(?:(?<!\s)\s++)?"
    r"(?:\b(?:PageV\d+P\d+|ms\d+|Milestone\d+)\b|\[(?:ص|صفحة|[Pp]age|p\.) ?:? ?[\d٠-٩۰-۹]+\])\s*+"
)
"""Marks of pages inside lines: OpenITI's, and `[ص: 31]` of Shamela's exports."""
_PAGE_SIGN = re.compile(r"PageV\d|ms\d|Milestone\d|\[(?:ص|[Pp]age|p\.)")
"""Something that every mark of a page holds; found many times faster."""
_MARKDOWN_OF_OPENITI = re.compile(r"~~|#+ ?[|$]|#META#")
"""What tells OpenITI mARkdown, in which `# ` opens a paragraph, from Markdown, in which it is a heading."""
_WIDER = {"utf-8": "utf-8-sig", "iso8859-1": "cp1252", "ascii": "cp1252"}
_EDGES = " \t\x0b\x0c\r\xa0\u200f\u200e\ufeff"
_UNSEEN = {"script", "style", "head", "nav", "noscript", "template", "svg", "button"}
_BLOCKS = {
    *(
        "div",
        "p",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "blockquote",
        "section",
        "article",
        "body",
        "dl",
        "header",
    ),
    *("main", "figure", "footer", "aside", "pre", "hr"),
}


def plain_lines(text: str, first: int = 1) -> list[Line]:
    """Lines of a plain text: without marks of pages, `~~`, and spaces and marks of direction at their ends.

    In OpenITI mARkdown `# ` opens a paragraph: a blank line stands in its place. Headings stay as they stand.
    """
    raws = text.split("\n")
    opens = any(line[:1] in "~#" and _MARKDOWN_OF_OPENITI.match(line) for line in raws if line)
    paged = _PAGE_SIGN.search(text) is not None
    lines = []
    for number, raw in enumerate(raws, start=first):
        line = (_PAGE.sub(_without_page, raw) if paged and _PAGE_SIGN.search(raw) else raw).strip(_EDGES)
        if opens and line.startswith("#") and re.match(r"#(?!\S| ?[|$])", line):
            lines.append(Line(number, ""))
            line = line[1:]
        lines.append(Line(number, line.removeprefix("~~").strip(_EDGES)))
    return lines


def _without_page(mark: re.Match[str]) -> str:
    """A space where one stood around the mark."""
    return " " if mark[0] != mark[0].strip() else ""


def html_text(markup: str) -> str:
    """A page as text: blocks parted by blank lines, headings as `# title`, terms above `: definition`."""
    body = LexborHTMLParser(markup).body
    text = "".join(_text(body)) if body else ""
    return (
        re.sub(r"(?:(?<![^\S\n])[^\S\n]++)?\n[^\S\n]*+", "\n", re.sub(r"[^\S\n]+", " ", text)).strip() + "\n"
    )


def _text(node: LexborNode) -> Iterator[str]:
    tag = node.tag or ""
    if tag == "-text":
        yield re.sub(r"\s+", " ", node.text(deep=False) or "")
        return
    if tag in _UNSEEN or tag.startswith(("-comment", "!")):
        return
    opening = {"br": "\n", "dt": "\n\n", "dd": "\n: ", "td": "\t", "th": "\t"}.get(tag, "")
    closing = ""
    if re.fullmatch(r"h[1-6]", tag):
        opening, closing = f"\n\n{'#' * int(tag[1])} ", "\n\n"
    elif tag in _BLOCKS:
        opening = closing = "\n\n"
    yield opening
    for child in node.iter(include_text=True):
        yield from _text(child)
    yield closing


def book_text(path: Path, data: bytes, encoding: str = "") -> str:
    """The whole text of a book's file, in the declared encoding, else in a page's own, else in UTF-8.

    Raises:
        UsageError: It is none that can be read, or not in that encoding.
        SourceChanged: A damaged EPUB.
    """
    if path.suffix.lower() == ".epub":
        book = open_book(data, path.name)
        chapters = [(f"{path}, {one.name}", one.data) for one in book.chapters]
        return "\n\n".join(
            html_text(_decoded(name, page, encoding or declared(page) or "")) for name, page in chapters
        )
    is_page = path.suffix.lower() in (".html", ".htm", ".xhtml")
    _require_text(path, data, is_page, encoding)
    text = _decoded(str(path), data, encoding or (is_page and declared(data)) or "").replace("\r\n", "\n")
    if again := repair_mojibake(max(text.split("\n"), key=len)):
        raise UsageError(f"{path} was saved after a wrong reading ({again.steps[0]}): take the original file")
    return html_text(text) if is_page else text


def _decoded(name: str, data: bytes, encoding: str) -> str:
    """As browsers do, ISO-8859-1 and ASCII are read as Windows-1252."""
    try:
        codec = codecs.lookup(encoding or "utf-8").name
        return data.decode(_WIDER.get(codec, codec))
    except LookupError:
        raise UsageError(f"{name}: there is no encoding {encoding!r}: say another in `encoding`") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not in {encoding or 'UTF-8'} ({error}): say in `encoding` what it is in, such as "
            "cp1256 (Arabic and Persian of Windows) or cp1252 (of western languages)"
        ) from error


def _require_text(path: Path, data: bytes, is_page: bool, encoding: str) -> None:
    start = data[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    kind = next((kind for mark, kind in _NO_TEXT.items() if start.startswith(mark)), "")
    if is_page and kind.startswith("an HTML page"):
        kind = ""
    if not data.strip():
        kind = "empty"
    if re.match(rb"\{\s*\"|\[\s*[\"{]", start):
        kind = "JSON (the source `files` reads it, called .json)"
    if not kind and not encoding and b"\0" in data:
        kind = "no text: it holds zero bytes, as UTF-16 and programs' own formats do"
    if kind:
        raise UsageError(f"{path} is {kind}: save the book as plain text in UTF-8")
