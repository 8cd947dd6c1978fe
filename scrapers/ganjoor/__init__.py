"""Ganjoor: Persian poetry, from its public export, its API or its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from mihakk.errors import UsageError
from schemas.record import Provenance
from schemas.rejection import Rejection
from scrapers.crawl import Page, Plan, SiteOptions, gather, plan, provenance
from scrapers.ganjoor import api, page
from scrapers.ganjoor.export import is_poem, members, read_poet
from scrapers.ganjoor.poem import Poet, parse
from scrapers.place import find
from scrapers.raw import RawStore
from scrapers.source import Entry, Source, register

_PUBLIC_DOMAIN_HIJRI = 1370
"""Lunar year of death (1950) up to which life plus seventy years has run out everywhere that counts so."""


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
    """Of all poems; when empty, `public-domain` for poets who died by 1950, `unknown` for others."""


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
    crawl = _crawl(options)
    for found in gather(crawl, raw):
        if isinstance(found, Rejection):
            yield found
        elif found.ask.kind == "poem":
            yield from _from_page(found, options)


def _crawl(options: GanjoorOptions) -> Plan:
    if options.read == "pages":
        base = (options.base or page.HOME).rstrip("/")
        return plan(SOURCE, options, page.starts(base, options.start), "scrapers.ganjoor.page:follow")
    base = (options.base or api.HOME).rstrip("/")
    starts = [*api.starts(base, options.start), *api.similar_starts(base, options.similar)]
    return plan(SOURCE, options, starts, "scrapers.ganjoor.api:follow", keep_headers=(api.PAGING,))


def _from_page(found: Page, options: GanjoorOptions) -> Iterator[Entry]:
    death = found.ask.context.get("poet_death_hijri", "")
    poet = Poet(name=found.ask.context.get("poet", ""), death_hijri=int(death) if death else None)
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
        origin = Provenance(
            source=SOURCE.name,
            url=f"file:{path.name}#{name}",
            licence=_licence(options, poet),
            attribution=SOURCE.attribution,
            sha256=raw.keep(data),
            parser_version=SOURCE.parser_version,
        )
        yield from parse(data, origin, poet)
    if not found:
        raise UsageError(f"{path} holds no JSON file under poets/: is it Ganjoor's export?")


def _wanted(address: str, start: tuple[str, ...]) -> bool:
    return not start or any(
        address == prefix or address.startswith(f"{prefix.rstrip('/')}/") for prefix in start
    )


def _licence(options: GanjoorOptions, poet: Poet) -> str:
    if options.licence:
        return options.licence
    known = poet.death_hijri is not None and poet.death_hijri <= _PUBLIC_DOMAIN_HIJRI
    return "public-domain" if known else "unknown"


SOURCE = register(
    Source(
        name="ganjoor",
        title="Ganjoor",
        licence="unknown",
        home="https://ganjoor.net",
        languages=("fa", "ar"),
        options=GanjoorOptions,
        parser_version="1",
        scrape=scrape,
        delay_seconds=1.0,
        least_of=lambda options: (len(options.start) + len(options.similar) + 1) // 2,
        attribution="Text typed and proofread by the volunteers of Ganjoor (ganjoor.net)",
    )
)
