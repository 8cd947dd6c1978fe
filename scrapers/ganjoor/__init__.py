"""Ganjoor: Persian poetry, from its public export, its API or its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from mihakk.machinery.errors import UsageError
from mihakk.scrapers.boundary import parsed
from mihakk.scrapers.crawl import CrawlPlan, Page, SiteOptions, plan, provenance, read_pages
from mihakk.scrapers.ganjoor import api, page
from mihakk.scrapers.ganjoor.export import is_poem, members, read_poet
from mihakk.scrapers.ganjoor.poem import Poet, parse
from mihakk.scrapers.place import find
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register

_PUBLIC_DOMAIN_HIJRI = 1370
"""Lunar year of death (1950) up to which life plus seventy years has run out everywhere that counts so."""
UNSURE_MARGIN = 200
"""Lunar years before that limit from which a year of death that Ganjoor is not sure of is enough: no doubt
about a poet's year spans two centuries."""


class GanjoorOptions(SiteOptions):
    """Where the poems are read from and which are taken."""

    export: str = ""
    """Folder or .tar.gz of the public JSON export; nothing is fetched then."""
    read: Literal["api", "pages"] = "api"
    """What is fetched where there is no export; pages are the fallback."""
    start: tuple[str, ...] = ()
    """Addresses without the host, e.g. `/hafez/ghazal`; all of the export when empty."""
    similar: tuple[str, ...] = ()
    """With the API: queries for poems that share something, e.g. `metre=...&poetId=2`."""
    licence: str = ""
    """Of all poems; when empty, `public-domain` for poets who died by 1950 (where the year is unsure: two
    lunar centuries before), `unknown` for others."""


def scrape(options: GanjoorOptions, raw: RawStore) -> Iterator[Entry]:
    """Poems with a section for every metre and rhyme, and a rejection for all that is not verse."""
    if options.export:
        yield from _from_export(options, raw)
        return
    if not options.start and not options.similar:
        raise UsageError(
            "source 'ganjoor' needs the option `export` (the public export as a folder or .tar.gz) or "
            "`start` (addresses such as /hafez/ghazal to fetch)"
        )
    yield from read_pages(_crawl(options), raw, "poem", lambda page: _from_page(page, options))


def _crawl(options: GanjoorOptions) -> CrawlPlan:
    if options.read == "pages":
        base = (options.base or page.HOME).rstrip("/")
        return plan(SOURCE, options, page.starts(base, options.start), "mihakk.scrapers.ganjoor.page:follow")
    base = (options.base or api.HOME).rstrip("/")
    starts = [*api.starts(base, options.start), *api.similar_starts(base, options.similar)]
    return plan(SOURCE, options, starts, "mihakk.scrapers.ganjoor.api:follow", keep_headers=(api.PAGING,))


def _from_page(found: Page, options: GanjoorOptions) -> Iterator[Entry]:
    death = found.request.context.get("poet_death_hijri", "")
    poet = Poet(
        name=found.request.context.get("poet", ""),
        death_hijri=int(death) if death else None,
        death_sure=bool(found.request.context.get("poet_death_sure")),
    )
    origin = provenance(SOURCE, found, licence=_licence(options, poet))
    reader = parse if options.read == "api" else page.parse
    yield from reader(found.body, origin, poet)


def _from_export(options: GanjoorOptions, raw: RawStore) -> Iterator[Entry]:
    path = find(options.export, "export")
    # A poem's file names its poet's folder but not the poet, whose own file may come later.
    poets = dict(
        read_poet(data, name) for name, data in members(path) if PurePosixPath(name).name == "poet.json"
    )
    found = False
    for name, data in members(path):
        found = True
        address = f"/{name.partition('poets/')[2].removesuffix('.json')}"
        if not is_poem(name) or not _wanted(address, options.start):
            continue
        poet = poets.get(f"/{address.split('/')[1]}", Poet())
        url = f"file:{path.name}#{name}"
        origin = SOURCE.provenance(url, raw.keep(data), licence=_licence(options, poet))
        yield from parsed(origin.url, parse(data, origin, poet))
    if not found:
        raise UsageError(f"{path} holds no JSON file under poets/: is it Ganjoor's export?")


def _wanted(address: str, start: tuple[str, ...]) -> bool:
    return not start or any(
        address == prefix or address.startswith(f"{prefix.rstrip('/')}/") for prefix in start
    )


def _licence(options: GanjoorOptions, poet: Poet) -> str:
    if options.licence:
        return options.licence
    return "public-domain" if in_public_domain(poet) else "unknown"


def in_public_domain(poet: Poet) -> bool:
    """The poet is known to have died by 1950, or by an unsure year at least `UNSURE_MARGIN` years before."""
    limit = _PUBLIC_DOMAIN_HIJRI - (0 if poet.death_sure else UNSURE_MARGIN)
    return poet.death_hijri is not None and poet.death_hijri <= limit


SOURCE = register(
    Source(
        name="ganjoor",
        extra="sources",
        title="Ganjoor",
        licence="unknown",
        home="https://ganjoor.net",
        languages=("fa", "ar"),
        options=GanjoorOptions,
        parser_version="2",
        scrape=scrape,
        delay_seconds=1.0,
        least_of=lambda options: (len(options.start) + len(options.similar) + 1) // 2,
        attribution="Text typed and proofread by the volunteers of Ganjoor (ganjoor.net)",
    )
)
