"""What a crawl in the tests follows; its child process imports nothing else of the tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mihakk.errors import SourceChanged
from scrapers.crawl import Ask, Page


def follow(page: Page) -> Iterator[Ask]:
    """Every `href` of a page; `list` in an address makes it a listing."""
    for link in re.findall(rb'href="([^"]+)"', page.body):
        url = link.decode()
        if url.startswith("/"):
            url = "/".join(page.ask.url.split("/")[:3]) + url
        yield Ask(url=url, kind="listing" if "list" in url else "page")


def shape_changed(page: Page) -> Iterator[Ask]:
    raise SourceChanged(f"{page.ask.url} has no heading")
    yield  # a generator, as the crawl expects


def broken(page: Page) -> Iterator[Ask]:
    """A bug in a source's `follow`."""
    yield Ask(url=page.ask.context["no such key"])


def full_disk(page: Page) -> Iterator[Ask]:
    """What writing to a full disk raises."""
    raise OSError(28, "No space left on device")
    yield
