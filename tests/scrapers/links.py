"""What a crawl in the tests follows; its child process imports nothing else of the tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers.crawl import Page, PageRequest


def follow(page: Page) -> Iterator[PageRequest]:
    """Every `href` of a page; `list` in an address makes it a listing."""
    for link in re.findall(rb'href="([^"]+)"', page.body):
        url = link.decode()
        if url.startswith("/"):
            url = "/".join(page.request.url.split("/")[:3]) + url
        yield PageRequest(url=url, kind="listing" if "list" in url else "page")


def shape_changed(page: Page) -> Iterator[PageRequest]:
    raise SourceChanged(f"{page.request.url} has no heading")
    yield  # a generator, as the crawl expects


def broken(page: Page) -> Iterator[PageRequest]:
    """A bug in a source's `follow`."""
    raise RuntimeError(f"a bug at {page.request.url}")


def full_disk(page: Page) -> Iterator[PageRequest]:
    """What writing to a full disk raises."""
    raise OSError(28, "No space left on device")
    yield
