"""Sources that fetch, from the first request to the record, against a site on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.machinery.settings import settings
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry
from tests.scrapers.conftest import SAMPLES
from tests.scrapers.site import Site

Scrape = Callable[..., list[Entry]]
LOCAL = {"allow_loopback": True, "delay_seconds": 0, "backoff_seconds": 0.01, "retries": 1}


def sample(source: str, name: str) -> bytes:
    return (SAMPLES / source / name).read_bytes()


def test_ganjoor_is_read_through_its_api_and_again_without_it(
    site: Site, scraped: Scrape, raw: RawStore
) -> None:
    @site.on("/api/ganjoor/cat")
    async def category(request: web.Request) -> web.Response:
        body = json.loads(sample("ganjoor", "cat.json"))
        if request.query["url"] == "/nemune":
            body["cat"] |= {"fullUrl": "/nemune", "poems": [], "children": [{"fullUrl": "/nemune/ghazal"}]}
        return web.json_response(body)

    site.page("/api/ganjoor/poem", sample("ganjoor", "poem.json"), content_type="application/json")
    entries = scraped("ganjoor", base=site.url, start=["/nemune"], **LOCAL)
    (poem,) = [entry for entry in entries if isinstance(entry, Poem)]
    assert [section.metre for section in poem.sections] == ["fa_3", "fa_18"]
    assert poem.provenance.licence == "public-domain"
    assert poem.provenance.retrieved_at is not None
    assert raw.read(poem.provenance.sha256) == sample("ganjoor", "poem.json")
    assert len(site.paths()) == 3
    again = scraped("ganjoor", base=site.url, start=["/nemune"], offline=True, **LOCAL)
    assert again == entries
    assert len(site.paths()) == 3


def test_ganjoor_listings_are_followed_by_their_paging_header(site: Site, scraped: Scrape) -> None:
    @site.on("/api/ganjoor/poems/similar")
    async def similar(request: web.Request) -> web.Response:
        number = int(request.query["PageNumber"])
        paging = {"totalPages": 3, "currentPage": number, "pageSize": 100, "totalCount": 3}
        rows = [{"id": number, "fullUrl": f"/nemune/ghazal/sh{number}"}]
        return web.json_response(rows, headers={"paging-headers": json.dumps(paging)})

    @site.on("/api/ganjoor/poem")
    async def poem(request: web.Request) -> web.Response:
        body = json.loads(sample("ganjoor", "poem.json"))
        return web.json_response(body | {"id": int(request.query["url"][-1])})

    entries = scraped("ganjoor", base=site.url, similar=["metre=مفاعلن&poetId=9"], **LOCAL)
    ids = [entry.id for entry in entries if isinstance(entry, Poem)]
    assert sorted(ids) == ["ganjoor-1", "ganjoor-2", "ganjoor-3"]
    assert sum("similar" in path for path in site.paths()) == 3


def test_an_error_of_the_service_in_place_of_a_category_stops_the_source(site: Site, scraped: Scrape) -> None:
    site.page("/api/ganjoor/cat", '"cat is null"', content_type="application/json")
    with pytest.raises(SourceChanged, match="answered 'cat is null'"):
        scraped("ganjoor", base=site.url, start=["/nemune"], **LOCAL)


def test_aldiwan_asks_for_a_token_and_sends_it(
    site: Site, scraped: Scrape, monkeypatch: pytest.MonkeyPatch, raw: RawStore
) -> None:
    with pytest.raises(UsageError, match="set MIHAKK_ALDIWAN_TOKEN"):
        scraped("aldiwan", base=site.url, poems=["66"], **LOCAL)
    monkeypatch.setenv("MIHAKK_ALDIWAN_TOKEN", "hush-hush")
    settings.cache_clear()
    site.page("/poems/66", sample("aldiwan", "poem66.json"), content_type="application/json")
    (poem,) = scraped("aldiwan", base=site.url, poems=["66"], **LOCAL)
    assert isinstance(poem, Poem)
    assert poem.provenance.attribution == "المصدر: الديوان https://www.aldiwan.net/poem66.html"
    assert site.asked[-1][1]["Authorization"] == "Bearer hush-hush"
    kept = [path.read_bytes() for path in Path(raw.root).rglob("*") if path.is_file()]
    assert not any(b"hush-hush" in data for data in kept)


def test_aldiwan_stops_when_the_daily_quota_is_spent(
    site: Site, scraped: Scrape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_ALDIWAN_TOKEN", "hush-hush")
    settings.cache_clear()

    site.page("/poems/1", "{}", status=429, **{"X-FullTextQuota-Daily-Remaining": "0"})
    with pytest.raises(ExternalFailure, match="x-fulltextquota-daily-remaining is spent"):
        scraped("aldiwan", base=site.url, poems=["1", "2"], **LOCAL)
    assert site.paths() == ["/poems/1"]


def test_pages_of_aldiwan_are_crawled_read_and_after_a_day_only_asked_about(
    site: Site, scraped: Scrape
) -> None:
    """A poet's listing to its poems in the older layout, then poems of the newer one; nothing is sent twice."""
    asked: list[str] = []

    def serve(path: str, name: str) -> None:
        @site.on(path)
        async def page(request: web.Request) -> web.Response:
            if request.headers.get("If-None-Match") == f'"{name}"':
                asked.append(path)
                return web.Response(status=304)
            body = sample("aldiwan", name)
            return web.Response(body=body, headers={"Content-Type": "text/html", "ETag": f'"{name}"'})

    serve("/cat-poet-sample", "listing_b.html")
    for number in (70, 71, 72):
        serve(f"/poem{number}.html", f"b{number}.html")
    for number in (80, 81, 82):
        serve(f"/poem{number}", f"c{number}.html")
    start = ["/cat-poet-sample", "/poem80", "/poem81", "/poem82"]
    first = scraped("aldiwan", read="pages", base=site.url, start=start, least_yield=1, **LOCAL)
    ids = {entry.id for entry in first if isinstance(entry, Poem)}
    for sheet in ("pages_b", "pages_c"):
        rows = json.loads((SAMPLES / "aldiwan" / f"{sheet}.expected.json").read_text(encoding="utf-8"))
        assert {row["id"] for row in rows if row.get("kind") == "poem" or "couplets" in row} <= ids
    fetched = len(site.paths())
    assert fetched == 7
    day_later = scraped(
        "aldiwan", read="pages", base=site.url, start=start, least_yield=1, fresh_hours=0, **LOCAL
    )
    assert len(asked) == 7
    assert [getattr(entry, "id", "") for entry in day_later] == [getattr(entry, "id", "") for entry in first]


def test_pages_of_ganjoor_are_crawled_and_read(site: Site, scraped: Scrape) -> None:
    site.page("/nemune/ghazal/sh1", sample("ganjoor", "page.html"), content_type="text/html; charset=utf-8")
    found = scraped(
        "ganjoor", read="pages", base=site.url, start=["/nemune/ghazal/sh1"], least_yield=1, **LOCAL
    )
    (poem,) = [entry for entry in found if isinstance(entry, Poem)]
    rows = json.loads((SAMPLES / "ganjoor" / "pages.expected.json").read_text(encoding="utf-8"))
    assert [couplet.first.raw for couplet in poem.couplets] == [
        couplet["first"]["raw"] for couplet in rows[-1]["couplets"]
    ]


def test_hindawi_is_read_by_pages_and_by_epub(site: Site, scraped: Scrape) -> None:
    for path, name in (("", "book.html"), ("0.1/", "ch01.html"), ("1/", "ch1.html"), ("2/", "ch2.html")):
        site.page(f"/books/123/{path}", sample("hindawi", name))
    site.page("/books/123.epub", sample("hindawi", "book.epub"), content_type="application/epub+zip")
    options = {"base": site.url, "books": ["123"], "chapters": "حرف", "least_yield": 1, **LOCAL}
    pages = scraped("hindawi", read="pages", layout="same_line", lettered=True, **options)
    book = scraped("hindawi", read="epub", layout="terms", **options)

    def phrases(entries: list[Entry]) -> list[str]:
        return [entry.phrase.raw for entry in entries if isinstance(entry, Idiom)]

    assert phrases(pages) == ["بَابْ رِزْقْ", "بِحْرُهْ عَمِيقْ", "تَحْتْ أَمْرُهْ"]
    assert phrases(book) == ["باب رزق", "بحره عميق"]
    assert {e.provenance.licence for e in book if isinstance(e, Idiom)} == {"public-domain"}


@pytest.mark.parametrize(
    ("entry", "layout"), [("<p>{}: {}.</p>", "same_line"), ("<p>«{}»</p><p>{}.</p>", "quoted")]
)
def test_hindawi_pages_are_read_by_one_declaration_over_all_chapters(
    entry: str, layout: str, site: Site, scraped: Scrape
) -> None:
    """Paragraphs used to be read as a definition list, and all but the lists were lost in silence."""
    rows = [
        json.loads(line)
        for line in Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines()
    ]
    want = [(row["text"], row["explanation"]) for row in rows if row["kind"] == "idiom"]
    head, page = sample("hindawi", "book.html").decode(), sample("hindawi", "ch1.html").decode()
    chapters = [want[:20], want[20:]]
    site.page("/books/123/", re.sub('<a href="/books/123/0.1/">.*?</a>', "", head).encode())
    for number, part in enumerate(chapters, start=1):
        body = "".join(entry.format(*one) for one in part)
        made = re.sub(
            "<h2>.*?</article>",
            lambda _, n=number, b=body: f"<h2>الجزء {n}</h2>{b}</article>",
            page,
            flags=re.DOTALL,
        )
        site.page(f"/books/123/{number}/", made.encode())
    options = {"base": site.url, "books": ["123"], "read": "pages", "layout": layout, **LOCAL}
    with pytest.raises(SourceChanged, match=r"neither numbers nor the alphabet count them.*\(entries\)"):
        scraped("hindawi", **options)
    options["entries"] = len(want)
    found = [one for one in scraped("hindawi", **options) if isinstance(one, Idiom)]
    assert [(one.phrase.raw, one.explanation.raw.removesuffix(".")) for one in found] == want
    assert {one.provenance.url for one in found} == {f"{site.url}/books/123/{n}/" for n in (1, 2)}
    with pytest.raises(SourceChanged, match="`entry` matches nothing"):
        scraped("hindawi", **options | {"layout": "terms"})


def test_hindawi_pages_without_a_declaration_are_refused_with_how_to_get_one(
    site: Site, scraped: Scrape
) -> None:
    for path, name in (("", "book.html"), ("0.1/", "ch01.html"), ("1/", "ch01.html"), ("2/", "ch01.html")):
        site.page(f"/books/123/{path}", sample("hindawi", name))
    with pytest.raises(UsageError, match="`mihakk source try FILE --suggest` prints"):
        scraped("hindawi", base=site.url, books=["123"], read="pages", **LOCAL)


def test_hindawi_that_has_moved_says_where_to(site: Site, scraped: Scrape) -> None:
    site.page("/books/123/", status=301, Location="https://www.safahat.org/books/123/")
    with pytest.raises(SourceChanged, match=r"other_host: https://www\.safahat\.org/books/123/ is not on"):
        scraped("hindawi", base=site.url, read="pages", books=["123"], layout="terms", **LOCAL)


def test_a_chapter_that_is_gone_is_a_rejection(site: Site, scraped: Scrape) -> None:
    for path, name in (("", "book.html"), ("0.1/", "ch01.html"), ("1/", "ch1.html")):
        site.page(f"/books/123/{path}", sample("hindawi", name))
    options = {"base": site.url, "books": ["123"], "chapters": "حرف", "least_yield": 1, **LOCAL}
    entries = scraped("hindawi", read="pages", layout="same_line", lettered=True, **options)
    gone = [entry for entry in entries if isinstance(entry, Rejection) and entry.reason == "not_found"]
    assert [entry.record for entry in gone] == [f"{site.url}/books/123/2/"]


def test_a_page_in_an_old_encoding_is_read_by_its_header(site: Site, scraped: Scrape) -> None:
    page = sample("aldiwan", "b70.html").decode().replace('<meta charset="utf-8">', "")
    site.page("/poem70.html", page.encode("cp1256"), **{"Content-Type": "text/html; charset=windows-1256"})
    (poem,) = scraped("aldiwan", base=site.url, read="pages", start=["/poem70.html"], **LOCAL)
    assert isinstance(poem, Poem)
    assert poem.poet == "شاعر العينة"
