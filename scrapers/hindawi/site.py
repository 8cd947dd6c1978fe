"""Pages of Hindawi's site: listings, books, chapters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.hindawi.blocks import from_html

HOME = "https://www.hindawi.org"
DOWNLOADS = "https://downloads.hindawi.org"
_BOOK = re.compile(r"/books/(\d+)/?$")
_CHAPTER = re.compile(r"/books/(\d+)/([\w.]+)/?$")


@dataclass(frozen=True)
class BookPage:
    """What a book's own page says."""

    number: str
    title: str
    author: str
    chapters: tuple[str, ...]


def starts(base: str, books: Iterable[str], listings: Iterable[str]) -> Iterator[PageRequest]:
    """First requests: pages of books and of listings."""
    for book in books:
        yield PageRequest(url=f"{base}/books/{book}/", kind="book")
    for listing in listings:
        yield PageRequest(url=f"{base}{listing}", kind="listing")


def epub_starts(base: str, books: Iterable[str]) -> Iterator[PageRequest]:
    """First requests where the EPUBs themselves are wanted."""
    for book in books:
        yield PageRequest(url=f"{base}/books/{book}.epub", kind="epub", context={"book": book})


def follow(page: Page) -> Iterator[PageRequest]:
    """Books and further pages of a listing; chapters of a book."""
    if page.request.kind == "listing":
        yield from _listed(page)
    elif page.request.kind == "book":
        book = read_book(page)
        for address in book.chapters:
            context = {"book": book.number, "title": book.title, "author": book.author}
            yield PageRequest(url=urljoin(page.request.url, address), kind="chapter", context=context)


def _listed(page: Page) -> Iterator[PageRequest]:
    tree = page.html()
    covers = tree.css("li.bookCover > a[href]")
    if not covers:
        raise SourceChanged(f"{page.request.url}: no li.bookCover in a listing")
    for cover in covers:
        address = cover.attributes["href"] or ""
        if not _BOOK.search(address):
            raise SourceChanged(f"{page.request.url}: the parser does not know the book address {address!r}")
        yield PageRequest(url=urljoin(page.request.url, address), kind="book")
    # The pager stands above and below the books.
    for link in tree.css("div.pagination .pages a[aria-label]"):
        if "active" not in (link.attributes.get("class") or "").split():
            yield PageRequest(
                url=urljoin(page.request.url, link.attributes.get("href") or ""), kind="listing"
            )


def read_book(page: Page) -> BookPage:
    """Title, author and chapters of a book's page.

    Raises:
        SourceChanged: The page does not show them where Hindawi has them.
    """
    tree = page.html()
    number = _BOOK.search(urlsplit(page.request.url).path)
    heading = tree.css_first("article.book div.details h2") or tree.css_first("h2")
    meta = tree.css_first('meta[property="og:title"]')
    # TITLE | AUTHOR | publisher; the page's h1 is the same on every page.
    named = [part.strip() for part in ((meta.attributes.get("content") if meta else "") or "").split("|")]
    author = tree.css_first("div.author a")
    title = heading.text(strip=True) if heading else named[0]
    writer = author.text(strip=True) if author else (named[1] if len(named) == 3 else "")
    if number is None or not title or not writer:
        raise SourceChanged(f"{page.request.url}: no title or author where Hindawi has them")
    links = [link.attributes.get("href") or "" for link in tree.css("div.bookIndex a[href]")]
    chapters = [urljoin(page.request.url, link) for link in links]
    own = [link for link in dict.fromkeys(chapters) if _CHAPTER.search(urlsplit(link).path)]
    if links and not own:
        raise SourceChanged(f"{page.request.url}: the index leads to no chapter: {links[:3]}")
    return BookPage(
        number[1], title, writer, tuple(own) or (urljoin(page.request.url, f"/books/{number[1]}/1/"),)
    )


def chapter(page: Page) -> Element:
    """The chapter of a page as an element tree.

    Raises:
        SourceChanged: The page holds no chapter.
    """
    article = page.html().css_first("article.chapterContent")
    if article is None:
        raise SourceChanged(f"{page.request.url}: no article.chapterContent")
    return from_html(article)
