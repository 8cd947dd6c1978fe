"""aldiwan: Arabic poetry, from its official API or, where that can't be had, from its pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.scrapers.aldiwan import api, page
from mihakk.scrapers.aldiwan.poem import record
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.crawl import CrawlPlan, Page, SiteOptions, plan, provenance, read_pages
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register


class AldiwanOptions(SiteOptions):
    """What is read and which poems are taken."""

    read: Literal["api", "pages"] = "api"
    poets: tuple[str, ...] = ()
    """Numbers of poets whose poems the API lists."""
    eras: tuple[str, ...] = ()
    """Numbers of eras whose poems the API lists."""
    poems: tuple[str, ...] = ()
    """Numbers of poems."""
    start: tuple[str, ...] = ()
    """With `read: pages`: addresses without the host, of poems or of poets' pages."""
    licence: str = "unknown"
    """The text of a poet long dead is in the public domain; the platform's terms say nothing of it."""


def scrape(options: AldiwanOptions, raw: RawStore) -> Iterator[Entry]:
    """Poems with the era, metre, theme and form that aldiwan names."""
    crawl = _api(options) if options.read == "api" else _pages(options)
    yield from read_pages(crawl, raw, "poem", lambda page: rejecting(page.request.url, _poem(page, options)))


def _poem(found: Page, options: AldiwanOptions) -> Iterator[Entry]:
    read, credit = api.read(found) if options.read == "api" else (page.read(found), SOURCE.attribution)
    yield from record(read, provenance(SOURCE, found, licence=options.licence, attribution=credit))


def _api(options: AldiwanOptions) -> CrawlPlan:
    token = settings().aldiwan_token
    if token is None and not options.offline:
        raise UsageError(
            "aldiwan's API asks for a token: get one from the platform and set MIHAKK_ALDIWAN_TOKEN"
        )
    if not (options.poets or options.eras or options.poems):
        raise UsageError("source 'aldiwan' needs `poets`, `eras` or `poems`: numbers of what to take")
    base = (options.base or api.HOME).rstrip("/")
    return plan(
        SOURCE,
        options,
        api.starts(base, options.poets, options.eras, options.poems),
        "mihakk.scrapers.aldiwan.api:follow",
        secret_headers={"Authorization": f"Bearer {token.get_secret_value()}"} if token else {},
        quota_headers=api.QUOTAS,
    )


def _pages(options: AldiwanOptions) -> CrawlPlan:
    if not options.start:
        raise UsageError("source 'aldiwan' with `read: pages` needs `start`, e.g. [/poem66.html]")
    base = (options.base or page.HOME).rstrip("/")
    return plan(SOURCE, options, page.starts(base, options.start), "mihakk.scrapers.aldiwan.page:follow")


def _least(options: AldiwanOptions) -> int:
    """One poem for every second poet, era, page or poem asked for."""
    asked = (*options.poets, *options.eras, *options.start, *options.poems)
    return (len(asked) + 1) // 2


SOURCE = register(
    Source(
        name="aldiwan",
        extra="sources",
        title="aldiwan",
        licence="unknown",
        home="https://www.aldiwan.net",
        languages=("ar",),
        options=AldiwanOptions,
        parser_version="1",
        scrape=scrape,
        delay_seconds=5.0,
        least_of=_least,
        attribution="الديوان (aldiwan.net)",
    )
)
