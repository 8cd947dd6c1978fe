"""What robots.txt asks for, as RFC 9309 has it: a file that can't be had closes the site."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

from protego import Protego
from scrapy import exceptions as scrapy_errors
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from mihakk.scrapers._addresses import PublicResolver

_MOST_REDIRECTS = 5
STOPPED = "the crawl was stopped before"
FORBIDDEN = "robots.txt forbids it"


class RobotsRules:
    """Holds every request against its site's robots.txt, and keeps the pause that the file asks for.

    2xx is read; 4xx means that there are no rules; anything else (5xx, 429, no connection, a redirect to
    another host) may hide rules, so that the crawl stops and can be resumed.
    """

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._rules: dict[str, Protego | None] = {}
        self._next: dict[str, float] = {}
        """Earliest time of the next request to a site, on the monotonic clock."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> RobotsRules:
        """As Scrapy makes a middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Lets a request pass, in its time."""
        if request.meta.get("robots"):
            return
        if self._crawler.spider.outcome["stopped"]:
            raise scrapy_errors.IgnoreRequest(STOPPED)
        parts = urlsplit(request.url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = await self._fetched(site)
        rules = self._rules[site]
        if rules is None:
            return
        agent = self._crawler.settings["USER_AGENT"]
        if not rules.can_fetch(request.url, agent):
            raise scrapy_errors.IgnoreRequest(FORBIDDEN)
        pause = rules.crawl_delay(agent)
        if pause:
            self._bearable(site, pause)
            due = max(self._next.get(site, 0.0), monotonic())
            self._next[site] = due + pause
            await asyncio.sleep(due - monotonic())

    async def _fetched(self, site: str) -> Protego | None:
        """The rules of a site; None where there are none."""
        url = f"{site}/robots.txt"
        response = await self._answer(url)
        for _ in range(_MOST_REDIRECTS):
            if response is None or not 300 <= response.status < 400:
                break
            url = self._target(response, url)
            response = await self._answer(url)
        if response is None or (400 <= response.status < 500 and response.status != 429):
            return None
        if response.status >= 300:
            self._stop("robots", f"{url} answered with status {response.status}")
        return Protego.parse(response.body.decode("utf-8-sig", errors="ignore"))

    async def _answer(self, url: str) -> Response | None:
        """What the site says; None where its address is refused, as the page's own request will tell."""
        request = Request(url, callback=NO_CALLBACK, meta={"robots": True, "handle_httpstatus_all": True})
        try:
            return await self._crawler.engine.download_async(request)
        except Exception as error:
            if urlsplit(url).hostname not in PublicResolver.refused:
                self._stop("robots", f"{url} could not be had ({type(error).__name__}: {error})")
        return None

    def _target(self, response: Response, url: str) -> str:
        location: str = response.headers.get("Location", b"").decode("latin-1")
        target = urljoin(url, location)
        if urlsplit(target).netloc not in self._crawler.spider.plan.hosts:
            self._stop("robots", f"{url} leads to {target}, on another host")
        return target

    def _bearable(self, site: str, pause: float) -> None:
        most = self._crawler.spider.plan.options.most_wait_seconds
        if pause > most:
            asked = f"{site}/robots.txt asks for a pause of {pause:g} s between two requests"
            self._stop("crawl_delay", f"{asked}: raise `most_wait_seconds` ({most:g}) to keep it")

    def _stop(self, why: str, detail: str) -> NoReturn:
        outcome = self._crawler.spider.outcome
        outcome["stopped"], outcome["detail"] = why, detail
        raise scrapy_errors.IgnoreRequest(STOPPED)
