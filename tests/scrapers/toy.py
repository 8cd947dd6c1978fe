"""A toy source over a site on loopback, and what a crawl of it gave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.crawl import CrawlPlan, Page, PageRequest, SiteOptions, plan
from mihakk.scrapers.source import Source
from tests.scrapers.site import Site

SOURCE = Source(
    name="toy",
    title="Toy",
    licence="CC0-1.0",
    home="http://toy",
    languages=("ar",),
    options=SiteOptions,
    parser_version="1",
    scrape=lambda _options, _raw: iter(()),
)


def crawl(site: Site, start: str = "/", by: str = "follow", **options: Any) -> CrawlPlan:
    defaults = {"allow_loopback": True, "backoff_seconds": 0.01, "retries": 2, "timeout_seconds": 5}
    return plan(
        SOURCE,
        SiteOptions.model_validate(defaults | options),
        [PageRequest(url=site.url + start, kind="listing")],
        f"tests.scrapers.links:{by}",
    )


def pages(found: Iterator[Page | Rejection]) -> tuple[dict[str, bytes], dict[str, str]]:
    bodies: dict[str, bytes] = {}
    rejected: dict[str, str] = {}
    for entry in found:
        if isinstance(entry, Page):
            bodies["/" + entry.request.url.split("/", 3)[3]] = entry.body
        else:
            rejected["/" + entry.record.split("/", 3)[3]] = entry.reason
    return bodies, rejected
