"""Where a crawl may go: robots.txt, other hosts, private addresses."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from aiohttp import web

from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.scrapers._addresses import PrivateAddressError, check_address
from mihakk.scrapers.crawl import PageRequest, fetch, gather
from mihakk.scrapers.raw import RawStore
from tests.scrapers.site import Site
from tests.scrapers.toy import crawl, pages


def test_redirects_stay_on_the_host(site: Site, raw: RawStore) -> None:
    site.page("/away", status=302, Location="http://example.com/x")
    site.page("/inside", status=301, Location="http://10.0.0.1/secret")
    site.page("/near", status=301, Location="/here")
    site.page("/round", status=302, Location="/round")
    site.page("/", '<a href="/away"><a href="/inside"><a href="/near"><a href="/round">')
    site.page("/here", "here")
    bodies, rejected = pages(gather(crawl(site), raw))
    assert bodies["/near"] == b"here"
    assert rejected == {"/away": "other_host", "/inside": "other_host", "/round": "refused"}


def test_links_to_other_hosts_are_not_followed(site: Site, raw: RawStore) -> None:
    site.page("/", '<a href="http://example.com/"><a href="http://127.0.0.1:1/"><a href="ftp://127.0.0.1/x">')
    bodies, rejected = pages(gather(crawl(site), raw))
    assert list(bodies) == ["/"]
    assert set(rejected.values()) == {"other_host"}


def test_loopback_is_refused_unless_allowed(
    site: Site, raw: RawStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/", "private")
    with pytest.raises(UsageError, match="set MIHAKK_CONTACT"):
        crawl(site, allow_loopback=False)
    allowed = crawl(site)
    closed = allowed.model_copy(
        update={"options": allowed.options.model_copy(update={"allow_loopback": False})}
    )
    with pytest.raises(SourceChanged, match=r"private_address: 127\.0\.0\.1 is not a public address"):
        fetch(closed, raw)
    named = closed.model_copy(
        update={
            "starts": (PageRequest(url=site.url.replace("127.0.0.1", "localhost")),),
            "hosts": (site.url.replace("127.0.0.1", "localhost").removeprefix("http://"),),
        }
    )
    with pytest.raises(SourceChanged, match="private_address"):
        fetch(named, raw)
    assert site.asked == []


def test_robots_are_obeyed(site: Site, raw: RawStore) -> None:
    site.page("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    site.page("/", '<a href="/private/a"><a href="/b">')
    site.page("/b", "b")
    bodies, rejected = pages(gather(crawl(site), raw))
    assert sorted(bodies) == ["/", "/b"]
    assert rejected == {"/private/a": "robots_forbid"}
    assert "/private/a" not in site.paths()
    with pytest.raises(SourceChanged, match="robots_forbid"):
        fetch(crawl(site, start="/private/b"), raw)


def test_a_crawl_delay_is_kept_between_requests(site: Site, raw: RawStore) -> None:
    times: list[float] = []

    @site.on("*")
    async def answer(request: web.Request) -> web.Response:
        times.append(asyncio.get_running_loop().time())
        return web.Response(text='<a href="/a"><a href="/b">' if request.path == "/" else "x")

    site.page("/robots.txt", "User-agent: *\nCrawl-delay: 0.4\n", content_type="text/plain")
    bodies, _ = pages(gather(crawl(site, delay_seconds=0), raw))
    assert sorted(bodies) == ["/", "/a", "/b"]
    # A request that reaches a busy site late shortens the pause seen after it.
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.3


def test_a_crawl_delay_beyond_patience_is_told(site: Site, raw: RawStore) -> None:
    site.page("/robots.txt", "User-agent: *\nCrawl-delay: 3600\n", content_type="text/plain")
    with pytest.raises(UsageError, match=r"asks for a pause of 3600 s .* raise `most_wait_seconds`"):
        fetch(crawl(site), raw)
    assert site.paths() == []


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (429, 2)])
def test_a_robots_file_that_cannot_be_had_closes_the_site(
    status: int, tries: int, site: Site, raw: RawStore
) -> None:
    site.page("/robots.txt", "User-agent: *\nAllow: /\n", status=status)
    site.page("/", "x")
    with pytest.raises(ExternalFailure, match=rf"robots\.txt answered with status {status}"):
        fetch(crawl(site, retries=1), raw)
    assert [path for path, _ in site.asked] == ["/robots.txt"] * tries
    site.page("/robots.txt", "", content_type="text/plain")
    assert fetch(crawl(site), raw).fetched == 1


def test_a_robots_file_follows_redirects_on_its_host_alone(site: Site, raw: RawStore) -> None:
    site.page("/robots.txt", status=301, Location="/rules.txt")
    site.page("/rules.txt", "User-agent: *\nDisallow: /a\n", content_type="text/plain")
    site.page("/", '<a href="/a">')
    _, rejected = pages(gather(crawl(site), raw))
    assert rejected == {"/a": "robots_forbid"}
    site.page("/robots.txt", status=301, Location="http://10.0.0.1/robots.txt")
    with pytest.raises(ExternalFailure, match=r"leads to http://10\.0\.0\.1/robots\.txt, on another host"):
        fetch(crawl(site, fresh_hours=0), raw)


@pytest.mark.parametrize("status", [404, 403, 410])
def test_no_robots_file_means_no_rules(status: int, site: Site, raw: RawStore) -> None:
    site.page("/robots.txt", "User-agent: *\nDisallow: /\n", status=status)
    site.page("/", "x")
    assert fetch(crawl(site), raw).fetched == 1


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "ff02::1"),
    ],
)
def test_private_addresses_are_refused(address: str) -> None:
    with pytest.raises(PrivateAddressError, match="is not a public address"):
        check_address(address, allow_loopback=False)


def test_public_addresses_pass_and_loopback_where_tests_allow_it() -> None:
    for address in ("93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"):
        check_address(address, allow_loopback=False)
    check_address("127.0.0.1", allow_loopback=True)
    with pytest.raises(PrivateAddressError):
        check_address("10.0.0.1", allow_loopback=True)
