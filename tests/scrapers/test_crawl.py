"""Crawls of a site on loopback: polite, bounded, resumable, and plain about every fault."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.scrapers.crawl import fetch, gather
from mihakk.scrapers.raw import RawStore
from tests.scrapers.site import Site
from tests.scrapers.toy import crawl, pages


@pytest.mark.usefixtures("own_process")
def test_a_crawl_follows_links_once_and_keeps_the_bytes(site: Site, raw: RawStore) -> None:
    site.page("/", '<a href="/a"><a href="/b">')
    site.page("/a", '<a href="/b"><a href="/">')
    site.page("/b", "b")
    bodies, rejected = pages(gather(crawl(site), raw))
    assert bodies == {"/": b'<a href="/a"><a href="/b">', "/a": b'<a href="/b"><a href="/">', "/b": b"b"}
    assert not rejected
    assert sorted(site.paths()) == ["/", "/a", "/b"]
    assert site.asked[0][0] == "/robots.txt"
    assert site.asked[1][1]["User-Agent"].startswith("Mihakk/")


def test_a_second_run_fetches_nothing_fresh_and_asks_only_for_changes_later(
    site: Site, raw: RawStore
) -> None:
    @site.on("/a")
    async def answer(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == '"1"':
            return web.Response(status=304)
        return web.Response(
            text="a", headers={"ETag": '"1"', "Last-Modified": "Sat, 01 Jan 2022 00:00:00 GMT"}
        )

    site.page("/", '<a href="/a">')
    first = fetch(crawl(site), raw)
    assert (first.fetched, first.unchanged, first.kept) == (2, 0, 0)
    again = fetch(crawl(site), raw)
    assert (again.fetched, again.unchanged, again.kept) == (0, 0, 2)
    later = fetch(crawl(site, fresh_hours=0), raw)
    assert (later.fetched, later.unchanged, later.kept) == (1, 1, 0)
    assert site.asked[-1][1]["If-Modified-Since"] == "Sat, 01 Jan 2022 00:00:00 GMT"
    assert site.paths() == ["/", "/a", "/", "/a"]
    before = len(site.asked)
    bodies, _ = pages(gather(crawl(site, offline=True), raw))
    assert bodies["/a"] == b"a"
    assert len(site.asked) == before


def test_retry_after_is_waited_for(site: Site, raw: RawStore) -> None:
    times: list[float] = []

    @site.on("/")
    async def answer(_request: web.Request) -> web.Response:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            return web.Response(status=429, headers={"Retry-After": "1"})
        return web.Response(text="at last")

    bodies, _ = pages(gather(crawl(site), raw))
    assert bodies == {"/": b"at last"}
    assert times[1] - times[0] >= 1.0


def test_a_retry_after_beyond_patience_ends_the_run(site: Site, raw: RawStore) -> None:
    site.page("/", status=429, **{"Retry-After": "7200"})
    with pytest.raises(ExternalFailure, match="asks to come back after 7200"):
        fetch(crawl(site), raw)
    assert site.paths() == ["/"]


def test_a_server_error_is_retried_then_the_run_fails_and_resumes(site: Site, raw: RawStore) -> None:
    healthy = False

    @site.on("/a")
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text="a") if healthy else web.Response(status=500)

    site.page("/", '<a href="/a"><a href="/b">')
    site.page("/b", "b")
    with pytest.raises(
        ExternalFailure, match=r"1 pages could not be fetched.*/a: status 500.*run again"
    ) as caught:
        fetch(crawl(site), raw)
    assert caught.value.exit_code == 75
    assert site.paths().count("/a") == 3
    healthy = True
    outcome = fetch(crawl(site), raw)
    assert (outcome.fetched, outcome.kept) == (1, 2)


def test_a_slow_answer_times_out(site: Site, raw: RawStore) -> None:
    @site.on("/")
    async def answer(_request: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response(text="late")

    with pytest.raises(ExternalFailure, match="could not be fetched"):
        fetch(crawl(site, timeout_seconds=0.3, retries=1), raw)
    assert len(site.paths()) == 2


def test_a_truncated_body_is_not_taken_for_a_page(site: Site, raw: RawStore) -> None:
    @site.on("/")
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"only this")
        assert request.transport is not None
        request.transport.close()
        return response

    with pytest.raises(ExternalFailure, match="could not be fetched"):
        fetch(crawl(site, retries=1), raw)
    assert raw.latest(site.url + "/") is None
    assert len(site.paths()) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [(403, "no"), (200, "<title>Just a moment...</title>"), (503, '<form id="challenge-form">')],
)
def test_a_challenge_stops_the_source(status: int, body: str, site: Site, raw: RawStore) -> None:
    site.page("/a", body, status=status)
    site.page("/", '<a href="/a"><a href="/b">')
    site.page("/b", "b")
    with pytest.raises(SourceChanged, match="keeps programs out; it is not worked around"):
        fetch(crawl(site, retries=0), raw)
    assert raw.latest(site.url + "/a") is None


def test_an_endless_pager_is_stopped(site: Site, raw: RawStore) -> None:
    @site.on("/list")
    async def answer(request: web.Request) -> web.Response:
        number = int(request.query.get("page", 0))
        return web.Response(text=f'page {number} <a href="/list?page={number + 1}">')

    with pytest.raises(SourceChanged, match="more than 20 pages: the pager has no end"):
        fetch(crawl(site, start="/list", most_pages=20), raw)
    assert len(site.paths()) <= 21


def test_a_pager_that_repeats_its_last_page_ends(site: Site, raw: RawStore) -> None:
    @site.on("/list")
    async def answer(request: web.Request) -> web.Response:
        number = int(request.query.get("page", 0))
        # The last page links onward by a relative counter that its own text does not show.
        body = f"page {min(number, 3)}"
        links = (
            "".join(f'<a href="/list?page={n}">' for n in range(8))
            if number >= 3
            else f'<a href="/list?page={number + 1}">'
        )
        return web.Response(text=body + links)

    bodies, rejected = pages(gather(crawl(site, start="/list", most_pages=50), raw))
    assert not rejected
    assert len(bodies) == 9


def test_a_page_beyond_the_cap_is_refused_while_it_comes(site: Site, raw: RawStore) -> None:
    sent = 0

    @site.on("/big")
    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(200):
            try:
                await response.write(b"x" * (1 << 20))
            except ConnectionError:
                break
            sent += 1
        return response

    site.page("/", '<a href="/big">')
    _, rejected = pages(gather(crawl(site, most_bytes=2 << 20, retries=0), raw))
    assert rejected == {"/big": "too_large"}
    assert sent < 50


def test_a_packed_page_is_bounded_unpacked(site: Site, raw: RawStore) -> None:
    import gzip

    bomb = gzip.compress(b"\0" * (40 << 20))
    site.page("/", '<a href="/bomb">')
    site.page("/bomb", bomb, **{"Content-Encoding": "gzip"})
    _, rejected = pages(gather(crawl(site, most_bytes=4 << 20, retries=0), raw))
    assert rejected == {"/bomb": "too_large"}


def test_a_page_of_another_shape_stops_the_source(site: Site, raw: RawStore) -> None:
    site.page("/", "new design")
    with pytest.raises(SourceChanged, match="has no heading"):
        fetch(crawl(site, by="shape_changed"), raw)


def test_a_bug_crashes_and_a_full_disk_ends_the_run(site: Site, raw: RawStore) -> None:
    site.page("/", "x")
    with pytest.raises(RuntimeError, match="a bug at"):
        fetch(crawl(site, by="broken"), raw)
    with pytest.raises(ExternalFailure, match="No space left on device"):
        fetch(crawl(site, by="full_disk", fresh_hours=0), raw)


def test_a_missing_page_is_a_rejection_and_a_missing_start_an_error(site: Site, raw: RawStore) -> None:
    site.page("/", '<a href="/gone">')
    _, rejected = pages(gather(crawl(site), raw))
    assert rejected == {"/gone": "not_found"}
    with pytest.raises(SourceChanged, match="not_found: status 404"):
        fetch(crawl(site, start="/nowhere"), raw)


def test_a_spent_quota_ends_the_run(site: Site, raw: RawStore) -> None:
    site.page("/", '{"error": {"code": "full_text_quota_exceeded"}}', status=429)
    with pytest.raises(ExternalFailure, match="quota is spent"):
        fetch(crawl(site), raw)
    assert len(site.paths()) == 1


def test_secrets_are_sent_and_never_stored(site: Site, raw: RawStore) -> None:
    site.page("/", "ok")
    secret = crawl(site).model_copy(update={"secret_headers": {"Authorization": "Bearer hush-hush"}})
    fetch(secret, raw)
    assert site.asked[-1][1]["Authorization"] == "Bearer hush-hush"
    assert "hush-hush" not in repr(secret)
    stored = json.dumps([entry.model_dump(mode="json") for entry in raw.fetched()])
    assert "hush-hush" not in stored


def test_offline_needs_something_to_read(site: Site, raw: RawStore) -> None:
    with pytest.raises(UsageError, match="run it without `offline`"):
        list(gather(crawl(site, offline=True), raw))


@pytest.mark.usefixtures("own_process")
def test_a_crawl_that_dies_says_its_last(site: Site, raw: RawStore) -> None:
    with pytest.raises(ExternalFailure, match=r"(?s)ended early:\nstatus 1.*ModuleNotFoundError"):
        fetch(crawl(site).model_copy(update={"follow": "no.such.module:follow"}), raw)
