"""Ganjoor's API: which requests lead to the poems of a poet, a category or an address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.shape import check_fields

HOME = "https://api.ganjoor.net"
PAGING = "paging-headers"
"""Response header with a JSON object that says how many pages a listing has."""
_PAGE_SIZE = 100
_POEM_FLAGS = (
    "catInfo=true&catPoems=false&rhymes=false&recitations=false&images=false&songs=false&comments=false"
    "&verseDetails=true&navigation=false&relatedpoems=false"
)
_CAT_USED = ("poet", "cat")
_CATEGORY_USED = ("children", "poems", "fullUrl")
_CATEGORY_IGNORED = (
    *(
        "id",
        "title",
        "urlSlug",
        "tableOfContentsStyle",
        "catType",
        "description",
        "descriptionHtml",
        "bookName",
    ),
    *("mixedModeOrder", "published", "next", "previous", "ancestors", "sumUpSubsGeoLocations", "mapName"),
    *("rImageId", "imageUrl", "hasSubs", "mainSections"),
)


def starts(base: str, addresses: Iterable[str]) -> Iterator[PageRequest]:
    """First requests: the category of each address (a poet's address is that of the poet's root category)."""
    for address in addresses:
        yield PageRequest(url=category_url(base, address), kind="category")


def similar_starts(base: str, queries: Iterable[str]) -> Iterator[PageRequest]:
    """First pages of the listings of poems that share a metre, a rhyme, a poet or a form."""
    for query in queries:
        asked = f"{quote(query, safe='=&')}&PageNumber=1&PageSize={_PAGE_SIZE}"
        yield PageRequest(url=f"{base}/api/ganjoor/poems/similar?{asked}", kind="listing")


def category_url(base: str, address: str) -> str:
    """Address of a category with the titles of its poems."""
    return f"{base}/api/ganjoor/cat?url={quote(address)}&poems=true"


def poem_url(base: str, address: str) -> str:
    """Address of a poem with its verses and sections and nothing that is not used."""
    return f"{base}/api/ganjoor/poem?url={quote(address)}&{_POEM_FLAGS}"


def follow(page: Page) -> Iterator[PageRequest]:
    """Poems and child categories of a category; poems and the next page of a listing.

    Raises:
        SourceChanged: The answer has another shape than the parser knows.
    """
    if page.request.kind == "listing":
        yield from _listed(page)
    elif page.request.kind == "category":
        yield from _category(page)


def _listed(page: Page) -> Iterator[PageRequest]:
    rows = page.json()
    header = page.fetched.headers.get(PAGING)
    if not isinstance(rows, list) or header is None:
        raise SourceChanged(f"{page.request.url}: a list of poems with the header {PAGING} was expected")
    paging = orjson.loads(header)
    parts = urlsplit(page.request.url)
    base = f"{parts.scheme}://{parts.netloc}"
    for row in rows:
        yield PageRequest(url=poem_url(base, row["fullUrl"]), kind="poem")
    number = paging["currentPage"]
    if rows and number < paging["totalPages"]:
        address = page.request.url.replace(f"&PageNumber={number}&", f"&PageNumber={number + 1}&")
        yield PageRequest(url=address, kind="listing")


def _category(page: Page) -> Iterator[PageRequest]:
    body = _object(page)
    check_fields(body, required=_CAT_USED, where=page.request.url)
    category = body["cat"]
    check_fields(
        category, required=_CATEGORY_USED, ignored=_CATEGORY_IGNORED, where=f"{page.request.url}, cat"
    )
    parts = urlsplit(page.request.url)
    base = f"{parts.scheme}://{parts.netloc}"
    poet = body["poet"]
    context = {"poet": poet["name"]}
    if poet.get("deathYearInLHijri"):
        context["poet_death_hijri"] = str(poet["deathYearInLHijri"])
        context["poet_death_sure"] = "yes" if poet.get("validDeathDate") else ""
    for poem in category["poems"] or ():
        # A poem's summary in a category has no address of its own; it is the category's and the poem's slug.
        address = f"{category['fullUrl']}/{poem['urlSlug']}"
        yield PageRequest(url=poem_url(base, address), kind="poem", context=context)
    for child in category["children"] or ():
        yield PageRequest(url=category_url(base, child["fullUrl"]), kind="category")


def _object(page: Page) -> dict[str, Any]:
    body = page.json()
    if not isinstance(body, dict):
        # Errors of the service come as a bare string with status 200 or 400.
        raise SourceChanged(f"{page.request.url} answered {body!r}")
    return body
