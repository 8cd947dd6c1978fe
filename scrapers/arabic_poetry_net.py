"""arabic-poetry.net, by a map that the config gives.

Nobody on this project has seen a page of it: known are the form of its addresses and that it is made with
Next.js. So nothing is guessed: a page is read from its JSON-LD, from the page data that Next.js embeds or by
CSS selectors, whichever the config maps and the page holds; a page that fits none of them stops the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import orjson
from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.poem import Section
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.crawl import Page, PageRequest, SiteOptions, plan, provenance, read_pages
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register
from mihakk.scrapers.verse import Arrangement, pairs, poem

HOME = "https://arabic-poetry.net"
FIELDS = ("title", "poet", "verses", "era", "genre", "metre", "rhyme", "form", "declared_couplets")
_POEM = "props.pageProps.poem"
_NUMBER = re.compile(r"/poem/(\d+)")
_JSON_LD_IGNORED = {
    *("@context", "@type", "@id", "url", "image", "inLanguage", "datePublished", "dateModified", "publisher"),
    *("description", "isPartOf", "mainEntityOfPage", "headline"),
}


class ArabicPoetryNetOptions(SiteOptions):
    """Which poems, and where on a page their fields are."""

    poems: tuple[str, ...] = Field(min_length=1)
    """Addresses without the host, e.g. `/poem/88042-...`."""
    json_ld: dict[str, str] = Field(default_factory=dict)
    """Field to dotted path in the page's JSON-LD, e.g. `poet: author.name`."""
    page_data: dict[str, str] = Field(default_factory=dict)
    """Field to dotted path below the poem in the data that Next.js embeds."""
    css: dict[str, str] = Field(default_factory=dict)
    """Field to CSS selector; `verses` selects every hemistich or line."""
    ignore: tuple[str, ...] = ()
    """Keys of the poem's data left out on purpose."""
    verses_are: Literal["hemistichs", "lines"] = "hemistichs"
    licence: str = "unknown"


def no_links(_page: Page) -> Iterator[PageRequest]:
    """A poem's page leads nowhere: only what the config names is fetched."""
    return iter(())


def read(page: Page, options: ArabicPoetryNetOptions) -> dict[str, Any]:
    """Fields of a poem by the first map that fits the page.

    Raises:
        SourceChanged: No map fits, or the poem's data has keys that are neither mapped nor ignored.
    """
    tree = page.html()
    for name, found in (
        ("json_ld", _json_ld(tree) if options.json_ld else None),
        ("page_data", _page_data(tree) if options.page_data else None),
    ):
        if found is not None:
            return _mapped(found, getattr(options, name), options, page.request.url, name)
    fields = _css(tree, options)
    if fields is None:
        given = [name for name in ("json_ld", "page_data", "css") if getattr(options, name)]
        raise SourceChanged(
            f"{page.request.url}: no map fits ({', '.join(given)}): look at the page and correct the config"
        )
    return fields


def _json_ld(tree: LexborHTMLParser) -> dict[str, Any] | None:
    for script in tree.css('script[type="application/ld+json"]'):
        data = _loads(script.text())
        for entry in data if isinstance(data, list) else [data]:
            if isinstance(entry, dict) and entry.get("@type") == "CreativeWork":
                return {key: value for key, value in entry.items() if key not in _JSON_LD_IGNORED}
    return None


def _page_data(tree: LexborHTMLParser) -> dict[str, Any] | None:
    script = tree.css_first("script#__NEXT_DATA__")
    found = _at(_loads(script.text()), _POEM) if script is not None else None
    return found if isinstance(found, dict) else None


def _loads(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise SourceChanged(f"data embedded in the page can't be read: {error}") from error


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _mapped(
    found: dict[str, Any], paths: dict[str, str], options: ArabicPoetryNetOptions, where: str, name: str
) -> dict[str, Any]:
    used = {path.split(".")[0] for path in paths.values()}
    leftover = sorted(set(found) - used - set(options.ignore))
    if leftover:
        raise SourceChanged(
            f"{where}: {name} has {', '.join(leftover)}; map them or name them under `ignore`"
        )
    return {field: _at(found, path) for field, path in paths.items()}


def _css(tree: LexborHTMLParser, options: ArabicPoetryNetOptions) -> dict[str, Any] | None:
    if not options.css:
        return None
    fields: dict[str, Any] = {}
    for field, selector in options.css.items():
        nodes = [text for node in tree.css(selector) if (text := node.text().strip())]
        if not nodes and field in ("title", "poet", "verses"):
            return None
        fields[field] = nodes if field == "verses" else (nodes[0] if nodes else "")
    return fields


def _poem(page: Page, options: ArabicPoetryNetOptions) -> Iterator[Entry]:
    number = _NUMBER.search(urlsplit(page.request.url).path)
    if number is None:
        raise SourceChanged(f"{page.request.url} is not the address of a poem")
    identifier = f"arabic_poetry_net-{number[1]}"
    fields = read(page, options)
    missing = [field for field in ("title", "poet", "verses") if not fields.get(field)]
    if missing:
        raise SourceChanged(f"{page.request.url}: the map gives no {', '.join(missing)}")
    verses = fields["verses"]
    texts = verses.splitlines() if isinstance(verses, str) else [str(verse) for verse in verses]
    texts = [text.strip() for text in texts if text.strip()]
    labels = {name: str(fields[name]) for name in ("era", "genre", "metre", "form") if fields.get(name)}
    if "genre" in labels:  # its maker says that a model gave them
        labels["genre_by_machine"] = labels.pop("genre")
    declared = fields.get("declared_couplets")
    lines = options.verses_are == "lines"

    def made() -> Iterator[Entry]:
        yield from poem(
            identifier,
            Arrangement([(text, None) for text in texts], "lines") if lines else Arrangement(pairs(texts)),
            language="ar",
            title=str(fields["title"]),
            poet=str(fields["poet"]),
            sections=(Section(index=0, rhyme=str(fields.get("rhyme") or "")),),
            declared_couplets=int(declared) if declared else None,
            source_labels=labels,
            provenance=provenance(SOURCE, page, licence=options.licence),
        )

    yield from rejecting(identifier, made(), "\n".join(texts))


def scrape(options: ArabicPoetryNetOptions, raw: RawStore) -> Iterator[Entry]:
    """Poems at the addresses that the config names."""
    if not (options.json_ld or options.page_data or options.css):
        raise UsageError("source 'arabic_poetry_net' needs a map: `json_ld`, `page_data` or `css`")
    for name in ("json_ld", "page_data", "css"):
        strange = sorted(set(getattr(options, name)) - set(FIELDS))
        if strange:
            raise UsageError(f"option {name!r} maps {', '.join(strange)}; the fields are {', '.join(FIELDS)}")
    base = (options.base or HOME).rstrip("/")
    starts = [PageRequest(url=f"{base}{quote(address, safe='/%')}", kind="poem") for address in options.poems]
    crawl = plan(SOURCE, options, starts, "mihakk.scrapers.arabic_poetry_net:no_links")
    yield from read_pages(crawl, raw, "poem", lambda page: _poem(page, options))


SOURCE = register(
    Source(
        name="arabic_poetry_net",
        extra="sources",
        title="arabic-poetry.net",
        licence="unknown",
        home=HOME,
        languages=("ar",),
        options=ArabicPoetryNetOptions,
        parser_version="1",
        scrape=scrape,
        delay_seconds=5.0,
        least_of=lambda options: (len(options.poems) + 1) // 2,
        attribution="arabic-poetry.net",
    )
)
