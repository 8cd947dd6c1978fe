"""The crawling process: plans on its standard input, bytes into the raw store, what came of each printed."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

import scrapy
from scrapy import exceptions as scrapy_errors
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Request, Response
from scrapy.settings import Settings
from twisted.python.failure import Failure

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers._addresses import PrivateAddressError, PublicResolver, check_address
from mihakk.scrapers._robots import FORBIDDEN, STOPPED
from mihakk.scrapers.boundary import parsed
from mihakk.scrapers.crawl import (
    PROGRESS,
    CrawlPlan,
    FailureKind,
    Outcome,
    Page,
    PageRequest,
    is_challenge,
    resolve,
)
from mihakk.scrapers.raw import Fetched, RawStore

_MOST_REDIRECTS = 5
_PASSING_STATUS = (408, 429, 500, 502, 503, 504, 522, 524)
_ERRORS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (scrapy_errors.DownloadTimeoutError, "timeout"),
    (scrapy_errors.DownloadCancelledError, "too_large"),
    (scrapy_errors.ResponseDataLossError, "truncated"),
    (scrapy_errors.CannotResolveHostError, "connection"),
    (scrapy_errors.DownloadConnectionRefusedError, "connection"),
    (scrapy_errors.DownloadFailedError, "connection"),
)


class PoliteRetry(RetryMiddleware):  # type: ignore[misc]
    """Retries after the time the server asks for, else after a growing pause."""

    async def process_request(self, request: Request) -> None:  # noqa: ARG002 - Scrapy names it
        if self.crawler.spider.outcome["stopped"]:
            raise scrapy_errors.IgnoreRequest(STOPPED)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        spider = self.crawler.spider
        # Of robots.txt itself, 403 says nothing (RFC 9309).
        if "page_request" in request.meta:
            spider.judge(request.url, response)
        if spider.outcome["stopped"] or response.status not in _PASSING_STATUS:
            return response
        wait = retry_after(response.headers.get("Retry-After", b"").decode("latin-1"))
        if wait is not None and wait > spider.plan.options.most_wait_seconds:
            return response
        again = self._retry(request, f"status {response.status}")
        if again is None:
            return response
        await asyncio.sleep(max(wait or 0, self._pause(request)))
        return again

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        refused = urlsplit(request.url).hostname in PublicResolver.refused
        if refused or not isinstance(exception, self.exceptions_to_retry):
            return None
        again: Request | None = self._retry(request, exception)
        if again is not None:
            await asyncio.sleep(self._pause(request))
        return again

    def _pause(self, request: Request) -> float:
        backoff: float = self.crawler.spider.plan.options.backoff_seconds
        tries: int = request.meta.get("retry_times", 0)
        return backoff * float(2**tries)


def retry_after(value: str) -> float | None:
    """Seconds that a Retry-After header asks for: a number or an HTTP date."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def describe_progress(asked: int, kept: int, seen: int, seconds: float) -> str:
    """Pages asked for, pages known to come, rate, and when these will be had."""
    rate = asked / seconds if seconds > 0 else 0.0
    left = max(seen - asked - kept, 0)
    text = f"{asked:,} pages asked for, {kept:,} fresh, {left:,} known to come, {rate:.2f} a second"
    return text + (f", about {left / rate / 60:,.0f} min left" if rate and left else "")


class PageSpider(scrapy.Spider):  # type: ignore[misc]
    """Asks for the pages of a plan and stores what comes."""

    name = "pages"

    def __init__(self, plan: CrawlPlan, raw: RawStore, outcome: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.plan = plan
        self.raw = raw
        self.outcome = outcome
        self._follow = resolve(plan.follow)
        self._seen: set[str] = set()
        self._listings: set[str] = set()
        self._pending = 0
        self._began = self._said = time.monotonic()
        self._fresh = datetime.now(UTC) - timedelta(hours=plan.options.fresh_hours)

    async def start(self) -> AsyncIterator[Request]:
        for request in self._requests(self.plan.starts):
            yield request

    def _say(self) -> None:
        """How far the crawl is, every ten seconds where somebody watches, else every minute."""
        now = time.monotonic()
        if now - self._said < self.plan.say_seconds:
            return
        self._said = now
        counts = self.outcome
        asked = counts["fetched"] + counts["unchanged"] + len(counts["failures"])
        text = describe_progress(asked, counts["kept"], len(self._seen), now - self._began)
        failed = f", {len(counts['failures']):,} failed" if counts["failures"] else ""
        sys.stderr.write(f"{PROGRESS}{self.plan.source}: {text}{failed}\n")
        sys.stderr.flush()

    def _close_when_done(self) -> None:
        """Ends the crawl with its last page; Scrapy alone would look for that only every five seconds."""
        self._say()
        if self._pending == 0:
            raise scrapy_errors.CloseSpider("finished")

    def _requests(self, requests: Iterable[PageRequest]) -> Iterator[Request]:
        """Requests for addresses not yet seen; pages that are fresh in the store are followed at once."""
        queue = list(reversed(list(requests)))
        while queue and not self.outcome["stopped"]:
            wanted = queue.pop()
            if wanted.url in self._seen:
                continue
            if len(self._seen) >= self.plan.options.most_pages:
                most = self.plan.options.most_pages
                self._stop("endless", f"more than {most} pages: the pager has no end, or raise `most_pages`")
            self._seen.add(wanted.url)
            known = self.raw.latest(wanted.url)
            if known is not None and known.retrieved_at > self._fresh:
                self.outcome["kept"] += 1
                queue.extend(reversed(self._links_of(Page(wanted, known, self.raw.read(known.sha256)))))
            elif self._allowed(wanted.url, wanted.url):
                yield self._request(wanted, known)

    def _request(self, wanted: PageRequest, known: Fetched | None, url: str = "", hops: int = 0) -> Request:
        self._pending += 1
        headers = dict(self.plan.secret_headers)
        if known is not None and known.etag:
            headers["If-None-Match"] = known.etag
        if known is not None and known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
        return Request(
            url or wanted.url,
            headers=headers,
            callback=self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={"handle_httpstatus_all": True, "page_request": wanted, "known": known, "hops": hops},
        )

    def _allowed(self, url: str, asked: str) -> bool:
        """Whether an address may be asked; notes why not."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.netloc not in self.plan.hosts:
            self._fail(asked, "other_host", f"{url} is not on {', '.join(self.plan.hosts)}")
            return False
        try:
            check_address(parts.hostname or "", allow_loopback=self.plan.options.allow_loopback)
        except PrivateAddressError as error:
            self._fail(asked, "private_address", str(error))
            return False
        except ValueError:
            return True  # a name: PublicResolver checks where it leads
        return True

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        try:
            yield from self._answered(response)
        except OSError as error:
            self._stop("storage", f"{response.url} could not be stored: {error}")
        except scrapy_errors.CloseSpider:
            raise
        except Exception:
            # Scrapy would log a bug and go on without the page.
            self._stop("bug", traceback.format_exc())
        self._pending -= 1
        self._close_when_done()

    def _answered(self, response: Response) -> Iterator[Request]:
        wanted: PageRequest = response.meta["page_request"]
        known: Fetched | None = response.meta["known"]
        if self.outcome["stopped"]:
            raise scrapy_errors.CloseSpider(self.outcome["stopped"])
        if response.status == 304 and known is not None:
            self.outcome["unchanged"] += 1
            yield from self._requests(self._links_of(self._page(wanted, self.raw.confirm(known))))
        elif 300 <= response.status < 400:
            yield from self._redirected(response, wanted, known)
        elif response.status == 200:
            self.outcome["fetched"] += 1
            yield from self._requests(self._links_of(self._page(wanted, self._store(response, wanted))))
        elif response.status in _PASSING_STATUS:
            wait = response.headers.get("Retry-After", b"").decode("latin-1")
            asked = f", asks to come back after {wait}" if wait else ""
            self._fail(wanted.url, "server", f"status {response.status} at every try{asked}")
        else:
            kind: FailureKind = "not_found" if response.status in (404, 410) else "refused"
            self._fail(wanted.url, kind, f"status {response.status}")

    def failed(self, failure: Failure) -> None:
        wanted: PageRequest = vars(failure)["request"].meta["page_request"]  # Scrapy adds it
        error = failure.value
        if str(error) == STOPPED:
            raise scrapy_errors.CloseSpider(self.outcome["stopped"])
        refused = PublicResolver.refused.get(urlsplit(wanted.url).hostname or "")
        if refused:
            self._fail(wanted.url, "private_address", refused)
        elif isinstance(error, scrapy_errors.IgnoreRequest):
            forbidden = str(error) == FORBIDDEN
            self._fail(wanted.url, "robots_forbid" if forbidden else "too_large", str(error))
        else:
            kind: FailureKind = "connection"
            kind = next((found for known, found in _ERRORS if isinstance(error, known)), kind)
            self._fail(wanted.url, kind, f"{type(error).__name__}: {error}")
        self._pending -= 1
        self._close_when_done()

    def _page(self, wanted: PageRequest, fetched: Fetched) -> Page:
        return Page(wanted, fetched, self.raw.read(fetched.sha256))

    def _store(self, response: Response, wanted: PageRequest) -> Fetched:
        def header(name: str) -> str:
            return str(response.headers.get(name, b"").decode("latin-1"))

        return self.raw.add(
            wanted.url,
            response.body,
            status=response.status,
            content_type=header("Content-Type"),
            etag=header("ETag"),
            last_modified=header("Last-Modified"),
            headers={name: header(name) for name in self.plan.keep_headers if header(name)},
        )

    def _redirected(
        self, response: Response, wanted: PageRequest, known: Fetched | None
    ) -> Iterator[Request]:
        target = urljoin(response.url, response.headers.get("Location", b"").decode("latin-1"))
        hops = response.meta["hops"] + 1
        if hops > _MOST_REDIRECTS:
            self._fail(wanted.url, "refused", f"more than {_MOST_REDIRECTS} redirects, last to {target}")
        elif self._allowed(target, wanted.url):
            yield self._request(wanted, known, url=target, hops=hops)

    def _links_of(self, page: Page) -> list[PageRequest]:
        if page.request.kind == "listing":
            if page.fetched.sha256 in self._listings:
                return []
            self._listings.add(page.fetched.sha256)
        try:
            return list(parsed(page.request.url, self._follow(page)))
        except SourceChanged as error:
            self._stop("changed", str(error))

    def judge(self, url: str, response: Response) -> None:
        """Notes what ends the crawl, before another request can leave."""
        if is_challenge(response.status, response.body):
            self.outcome["stopped"] = "challenge"
            self.outcome["detail"] = (
                f"{url} answered with status {response.status} and a page that keeps programs out; it is "
                "not worked around: use the site's API or an export"
            )
        elif quota := self._quota_spent(response):
            self.outcome["stopped"] = "quota"
            self.outcome["detail"] = (
                f"{quota} is spent; run again when it is renewed: what was fetched is kept"
            )

    def _quota_spent(self, response: Response) -> str:
        """Which quota an answer says is spent, or nothing."""
        if response.status != 429:
            return ""
        if b"quota_exceeded" in response.body[:2000]:
            return "the site's quota"
        for name in self.plan.quota_headers:
            if response.headers.get(name, b"").strip() == b"0":
                return name
        return ""

    def _fail(self, url: str, kind: FailureKind, detail: str) -> None:
        self.outcome["failures"][url] = (kind, detail)

    def _stop(self, why: str, detail: str) -> NoReturn:
        self.outcome["stopped"], self.outcome["detail"] = why, detail
        raise scrapy_errors.CloseSpider(why)


def _settings(plan: CrawlPlan) -> dict[str, Any]:
    options = plan.options
    return {
        "USER_AGENT": plan.user_agent,
        "AUTOTHROTTLE_ENABLED": plan.delay_seconds > 0,
        "AUTOTHROTTLE_START_DELAY": plan.delay_seconds,
        "DOWNLOAD_DELAY": plan.delay_seconds,
        "CONCURRENT_REQUESTS": 1,
        "DOWNLOAD_TIMEOUT": options.timeout_seconds,
        "DOWNLOAD_MAXSIZE": options.most_bytes,
        "RETRY_TIMES": options.retries,
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        # The whole lists, not changes to Scrapy's: no cookies, redirects, proxies, consoles, remote control,
        # and none of the seconds that importing them takes.
        "DOWNLOADER_MIDDLEWARES_BASE": {
            "mihakk.scrapers._robots.RobotsRules": 100,
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
            "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
            "mihakk.scrapers._spider.PoliteRetry": 550,
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 590,
        },
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},
        "REMOTE_CONTROL_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }


async def _crawled(process: AsyncCrawlerProcess, request: dict[str, Any]) -> Outcome:
    plan = CrawlPlan.model_validate(request["plan"])
    outcome = Outcome().model_dump()
    PublicResolver.allow_loopback = plan.options.allow_loopback
    PublicResolver.refused.clear()
    crawler = Crawler(PageSpider, Settings(_settings(plan)))
    await process.crawl(crawler, plan=plan, raw=RawStore(request["root"]), outcome=outcome)
    return Outcome.model_validate(outcome)


def _read_requests(
    loop: asyncio.AbstractEventLoop, requests: asyncio.Queue[str], busy: threading.Event
) -> None:
    """Passes requests on; the end of standard input while a crawl goes on says that the run was killed."""
    for line in sys.stdin:
        busy.set()
        loop.call_soon_threadsafe(requests.put_nowait, line)
    if busy.is_set():
        os._exit(1)
    loop.call_soon_threadsafe(requests.put_nowait, "")


async def _serve(process: AsyncCrawlerProcess) -> None:
    from twisted.internet import reactor  # importing it installs it

    requests: asyncio.Queue[str] = asyncio.Queue()
    busy = threading.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read_requests, args=(loop, requests, busy), daemon=True).start()
    try:
        while line := await requests.get():
            outcome = await _crawled(process, json.loads(line))
            busy.clear()
            print(outcome.model_dump_json(), flush=True)  # noqa: T201 - the parent reads it
    except Exception:
        process.bootstrap_failed = True
        traceback.print_exc()
    reactor.stop()  # type: ignore[misc]  # as its stubs have it


def _die_with_parent() -> None:
    """Asks Linux to end this process with the one that started it; elsewhere the end of its input says so."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def main() -> None:
    """Crawls as each line of standard input says, one after the other, and prints each outcome on a line."""
    _die_with_parent()
    process = AsyncCrawlerProcess(
        {"TWISTED_DNS_RESOLVER": "mihakk.scrapers._addresses.PublicResolver", "LOG_LEVEL": "ERROR"}
    )
    serving = asyncio.get_event_loop().create_task(_serve(process))
    process.start(stop_after_crawl=False)
    if process.bootstrap_failed or not serving.done():
        sys.exit(1)


if __name__ == "__main__":
    # Scrapy imports its middlewares by name; run the module under that name too, not as a second copy.
    importlib.import_module("mihakk.scrapers._spider").main()
