"""Hindawi's books: idioms, proverbs and verse, from EPUBs or from the pages of chapters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.record import Provenance
from mihakk.scrapers.book import BookOptions, Line, pattern_of, read
from mihakk.scrapers.book_evidence import BookEntry
from mihakk.scrapers.boundary import parsed
from mihakk.scrapers.crawl import Page, SiteOptions, plan, provenance, read_pages
from mihakk.scrapers.epub import Book, Chapter, open_book, parse_xml
from mihakk.scrapers.hindawi import site
from mihakk.scrapers.hindawi.blocks import Block, blocks
from mihakk.scrapers.hindawi.entries import ChapterBlocks, book_lines, idioms, poem
from mihakk.scrapers.hindawi.rights import licence
from mihakk.scrapers.place import find_file
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register

_FRONT_MATTER = re.compile(r"(?:cover|fp\d+|copyright|nav)\.xhtml$")


class HindawiOptions(SiteOptions, BookOptions):
    """Which books, in which form, and what their entries look like."""

    epub: tuple[str, ...] = ()
    """EPUB files that are there already; nothing is fetched then."""
    books: tuple[str, ...] = ()
    """Numbers of books to fetch."""
    listings: tuple[str, ...] = ()
    """Addresses of listings without the host, e.g. `/books/categories/poetry/`; read as pages only."""
    read: Literal["epub", "pages"] = "epub"
    """What is fetched; the EPUB is the stable form."""
    kind: Literal["idiom", "poem"] = "idiom"
    chapters: str = ""
    """Only chapters whose first heading starts with this; a preface or an appendix holds no entries."""
    licence: str = ""
    """Of the text; when empty, as an EPUB's copyright page says, and `unknown` for pages, which have none."""


def scrape(options: HindawiOptions, raw: RawStore) -> Iterator[Entry]:
    """Idioms or poems of the books, in the order of their chapters."""
    if options.kind == "idiom":
        pattern_of(options)  # before anything is fetched
    if options.epub:
        for place, name in enumerate(options.epub):
            book = f"{options.prefix}-{place + 1}" if place else options.prefix
            path, data = find_file(name, "epub")
            origin = SOURCE.provenance(f"file:{path.name}", raw.keep(data))
            yield from parsed(origin.url, _book(data, book, origin, options))
    elif options.read == "epub":
        yield from _fetched_epubs(options, raw)
    else:
        yield from _fetched_pages(options, raw)


def _asked_for(options: HindawiOptions) -> None:
    if not options.books and not (options.listings and options.read == "pages"):
        raise UsageError(
            "source 'hindawi' needs `epub` (files), `books` (numbers) or, with `read: pages`, `listings`"
        )


def _fetched_epubs(options: HindawiOptions, raw: RawStore) -> Iterator[Entry]:
    _asked_for(options)
    base = (options.base or site.DOWNLOADS).rstrip("/")
    crawl = plan(
        SOURCE, options, site.epub_starts(base, options.books), "mihakk.scrapers.hindawi.site:follow"
    )

    def read(page: Page) -> Iterator[Entry]:
        return _book(page.body, page.request.context["book"], provenance(SOURCE, page), options)

    yield from read_pages(crawl, raw, "epub", read)


def _fetched_pages(options: HindawiOptions, raw: RawStore) -> Iterator[Entry]:
    _asked_for(options)
    base = (options.base or site.HOME).rstrip("/")
    starts = site.starts(base, options.books, options.listings)
    crawl = plan(SOURCE, options, starts, "mihakk.scrapers.hindawi.site:follow")
    if options.kind == "poem":
        yield from read_pages(crawl, raw, "chapter", lambda page: _fetched_chapter(page, options))
        return
    books: dict[str, list[tuple[ChapterBlocks, Provenance]]] = defaultdict(list)

    def gathered(page: Page) -> Iterator[Entry]:
        books[page.request.context["book"]].append(_page(page, options))
        yield from ()

    yield from read_pages(crawl, raw, "chapter", gathered)
    for book, chapters in books.items():
        yield from _found(chapters, book, f"{base}/books/{book}/", options)


def _page(page: Page, options: HindawiOptions) -> tuple[ChapterBlocks, Provenance]:
    context, url = page.request.context, page.request.url
    credit = _credit(context["author"], context["title"])
    origin = provenance(SOURCE, page, licence=options.licence or "unknown", attribution=credit)
    part = url.rstrip("/").rpartition("/")[2]
    return ChapterBlocks(part, url, blocks(site.chapter(page), url)), origin


def _fetched_chapter(page: Page, options: HindawiOptions) -> Iterator[Entry]:
    chapter, origin = _page(page, options)
    context = page.request.context
    yield from _poem(chapter, context["book"], context["title"], context["author"], origin, options)


def _book(data: bytes, name: str, origin: Provenance, options: HindawiOptions) -> Iterator[Entry]:
    book = open_book(data, origin.url)
    changes = {
        "licence": options.licence or _licence(book, origin.url),
        "attribution": _credit(book.author, book.title),
    }
    origin = origin.model_copy(update=changes)
    chapters = _chapters(book, origin.url)
    placed = [(one, origin.model_copy(update={"url": one.url})) for one in chapters]
    if options.kind == "idiom":
        yield from _found(placed, name, origin.url, options)
        return
    for chapter, place in placed:
        yield from _poem(chapter, name, book.title, book.author, place, options)


def _chapters(book: Book, url: str) -> list[ChapterBlocks]:
    """The chapters of a book, cover and copyright page left aside."""
    found = []
    for chapter in book.chapters:
        if _FRONT_MATTER.search(chapter.name):
            continue
        where = f"{url}#{chapter.name}"
        part = re.sub(r"\W+", "-", chapter.name.rpartition("/")[2].removesuffix(".xhtml"))
        found.append(ChapterBlocks(part, where, _blocks(chapter, where)))
    return found


def _found(
    chapters: list[tuple[ChapterBlocks, Provenance]], name: str, where: str, options: HindawiOptions
) -> Iterator[Entry]:
    """Idioms of a book at an address.

    Raises:
        SourceChanged: The book does not fit its declaration, and nobody has accepted that.
    """
    chosen = [one for one in chapters if _heading(one[0].blocks).startswith(options.chapters)]
    lines, starts = book_lines(chapter for chapter, _ in chosen)
    try:
        reading = read(lines, options)
    except SourceChanged as error:
        raise SourceChanged(f"{where}: {error}") from error
    by_chapter: dict[int, list[BookEntry]] = defaultdict(list)
    for entry in reading.entries:
        by_chapter[bisect_right(starts, entry.line) - 1].append(entry)
    for place, (chapter, origin) in enumerate(chosen):
        yield from idioms(by_chapter[place], f"hindawi-{name}-{chapter.part}", options, origin)
    if problems := reading.problems():
        raise SourceChanged(f"{where}: {'; '.join(problems)}")


def epub_lines(options: HindawiOptions) -> list[Line]:
    """The lines of the first EPUB as a declaration reads them; none where verse or no file is read."""
    if not options.epub or options.kind != "idiom":
        return []
    path, data = find_file(options.epub[0], "epub")
    chapters = _chapters(open_book(data, f"file:{path.name}"), f"file:{path.name}")
    return book_lines(one for one in chapters if _heading(one.blocks).startswith(options.chapters))[0]


def _blocks(chapter: Chapter, where: str) -> list[Block]:
    return blocks(parse_xml(chapter.data, where), where)


def _licence(book: Book, where: str) -> str:
    page = next((chapter for chapter in book.chapters if chapter.name.endswith("copyright.xhtml")), None)
    if page is None:
        raise SourceChanged(f"{where} has no copyright page: say the licence in the option `licence`")
    return licence("\n".join(block.text for block in _blocks(page, where)))


def _heading(found: list[Block]) -> str:
    return next((block.text for block in found if block.kind == "heading"), "")


def _credit(author: str, title: str) -> str:
    return f"{author}، {title}، مؤسسة هنداوي"


def _poem(  # noqa: PLR0917
    chapter: ChapterBlocks, name: str, title: str, author: str, origin: Provenance, options: HindawiOptions
) -> Iterator[Entry]:
    if _heading(chapter.blocks).startswith(options.chapters):
        yield from poem(
            chapter.blocks, f"hindawi-{name}-{chapter.part}", title=title, poet=author, provenance=origin
        )


def _least(options: HindawiOptions) -> int:
    """Ten idioms a book, where whole collections of them hold hundreds; one poem a book."""
    books = len(options.epub) + len(options.books) + len(options.listings)
    return books * (10 if options.kind == "idiom" else 1)


SOURCE = register(
    Source(
        name="hindawi",
        extra="sources",
        title="Hindawi Foundation",
        licence="unknown",
        home="https://www.hindawi.org",
        languages=("ar",),
        options=HindawiOptions,
        parser_version="1",
        scrape=scrape,
        delay_seconds=3.0,
        least_of=_least,
        attribution="مؤسسة هنداوي",
    )
)
