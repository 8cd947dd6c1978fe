"""Fetching pages politely into the raw store, and reading them from there.

A crawl is a child process (`mihakk.scrapers._spider`): its reactor can't be started twice. It only stores
bytes;
parsers read them from the store, so parsing again needs no network.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from typing import IO, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from mihakk.machinery.errors import ExternalFailure, MihakkError, SourceChanged, UsageError
from mihakk.machinery.settings import settings
from mihakk.machinery.text.encoding import decode
from mihakk.schemas.record import Provenance, Record
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.boundary import parsed
from mihakk.scrapers.raw import Fetched, RawStore
from mihakk.scrapers.source import Entry, Source, SourceOptions

FailureKind = Literal[
    "robots_forbid",
    "other_host",
    "private_address",
    "too_large",
    "not_found",
    "refused",
    "server",
    "timeout",
    "truncated",
    "connection",
]
PASSING: frozenset[str] = frozenset({"server", "timeout", "truncated", "connection"})
"""Failures that may be gone on the next run."""
PROGRESS = "progress: "
"""Begins the lines of a crawler's standard error that are for people."""
_CHALLENGES = (b"Just a moment...", b"challenge-form", b"cf-challenge-running", b"cf-turnstile", b"cf-chl-")


class SiteOptions(SourceOptions):
    """What every source that fetches lets a config say."""

    offline: bool = False
    """Parse what the raw store holds and fetch nothing."""
    base: str = ""
    """Address of the site; the source's own when empty."""
    delay_seconds: float | None = Field(default=None, ge=0)
    """Least pause between two requests; the source's own when empty."""
    timeout_seconds: float = Field(default=30, gt=0)
    most_bytes: int = Field(default=32 << 20, gt=0)
    """Size from which a page is refused, packed or unpacked."""
    most_pages: int = Field(default=200_000, gt=0)
    """Pages from which a crawl is taken for endless and stopped."""
    fresh_hours: float = Field(default=24, ge=0)
    """Pages fetched within this time are not asked for again, so that a stopped crawl resumes."""
    retries: int = Field(default=3, ge=0)
    backoff_seconds: float = Field(default=2, ge=0)
    """Pause before the first retry, doubled before each further one."""
    most_wait_seconds: float = Field(default=300, ge=0)
    """Longest Retry-After that is waited for; a longer one ends the run."""
    allow_loopback: bool = False
    """Fetch from this very machine: for tests."""


class PageRequest(Record):
    """One request."""

    url: str
    kind: str = "page"
    """What the source takes the answer for, e.g. `listing` or `poem`."""
    context: dict[str, str] = Field(default_factory=dict)
    """What the page that led here said, e.g. the poet."""


@dataclass(frozen=True)
class Page:
    """An answer as the raw store holds it."""

    request: PageRequest
    fetched: Fetched
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            SourceChanged: It is none.
        """
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise SourceChanged(f"{self.request.url} is not JSON: {self.body[:120]!r}") from error

    def html(self) -> LexborHTMLParser:
        """The body as HTML, decoded as the server or the page itself says."""
        charset = re.search(r"charset=([\w-]+)", self.fetched.content_type)
        return LexborHTMLParser(decode(self.body, header_charset=charset[1] if charset else None).text)


Follow = Callable[[Page], Iterable[PageRequest]]
"""Requests that a page leads to: a pure function of its bytes, named `module:function` in a plan."""


class CrawlPlan(Record):
    """Everything that the crawling process needs; it travels as JSON over its standard input."""

    source: str
    starts: tuple[PageRequest, ...]
    follow: str
    """`module:function` of a `Follow`."""
    hosts: tuple[str, ...]
    """`host` or `host:port` of the only places that may be asked."""
    options: SiteOptions
    delay_seconds: float
    user_agent: str
    secret_headers: dict[str, str] = Field(default_factory=dict, repr=False)
    """Sent with every request, never stored."""
    say_seconds: float = 60
    """Pause between two lines on how far the crawl is."""
    keep_headers: tuple[str, ...] = ()
    """Response headers that a parser needs, lower-case."""
    quota_headers: tuple[str, ...] = ()
    """Response headers that count down what may still be asked; at 0 the crawl stops."""


class Outcome(Record):
    """What a crawl came to."""

    fetched: int = 0
    unchanged: int = 0
    """Pages for which the server said 304."""
    kept: int = 0
    """Pages that were fresh enough not to be asked for."""
    failures: dict[str, tuple[FailureKind, str]] = Field(default_factory=dict)
    """Address to kind and detail."""
    stopped: Literal[
        "", "changed", "challenge", "endless", "quota", "robots", "crawl_delay", "storage", "bug"
    ] = ""
    detail: str = ""


def plan(
    source: Source[Any],
    options: SiteOptions,
    starts: Iterable[PageRequest],
    follow: str,
    *,
    secret_headers: dict[str, str] | None = None,
    keep_headers: tuple[str, ...] = (),
    quota_headers: tuple[str, ...] = (),
) -> CrawlPlan:
    """Plan of a source's crawl, restricted to the hosts of its first requests.

    Raises:
        UsageError: There is no contact to name in the user agent.
    """
    requests = tuple(starts)
    contact = settings().contact
    if not contact and not options.offline and not options.allow_loopback:
        raise UsageError(
            f"fetching from {source.home} needs a contact in the user agent: set MIHAKK_CONTACT to your "
            "e-mail or a page about you"
        )
    delay = source.delay_seconds if options.delay_seconds is None else options.delay_seconds
    return CrawlPlan(
        source=source.name,
        starts=requests,
        follow=follow,
        hosts=tuple(sorted({urlsplit(request.url).netloc for request in requests})),
        # Fields of the source's own options stay here: the child needs only the shared ones.
        options=SiteOptions.model_validate(options.model_dump(include=set(SiteOptions.model_fields))),
        delay_seconds=delay,
        say_seconds=10 if sys.stderr.isatty() else 60,
        user_agent=f"Mihakk/{metadata.version('mihakk')} (benchmark builder; {contact or 'test'})",
        secret_headers=secret_headers or {},
        keep_headers=keep_headers,
        quota_headers=quota_headers,
    )


def resolve(name: str) -> Follow:
    """The function that a plan names."""
    module, _, function = name.partition(":")
    found: Follow = getattr(importlib.import_module(module), function)
    return found


def is_challenge(status: int, body: bytes) -> bool:
    """The answer is a bot wall, which is never worked around."""
    head = body[:20_000]
    return status == 403 or any(mark in head for mark in _CHALLENGES)


def answered(request: str) -> str:
    """The outcome of one crawl in a process of its own, or the last it said where it died.

    Its standard input stays open until it has answered: the end of it says that this process is gone.
    """
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "mihakk.scrapers._spider"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        last: deque[str] = deque(maxlen=15)
        hearing = threading.Thread(target=_hear, args=(child.stderr, last), daemon=True)
        hearing.start()
        try:
            child.stdin.write(request + "\n")
            child.stdin.flush()
            answer = child.stdout.readline().strip()
            child.stdin.close()
            status = child.wait()
        except BaseException:
            child.kill()
            raise
        hearing.join()
    return "\n".join([f"status {status}", *last]) if status or not answer else answer


def _hear(lines: IO[str], last: deque[str]) -> None:
    """Passes the crawler's progress on to standard error and keeps what else it says."""
    for line in lines:
        if line.startswith(PROGRESS):
            sys.stderr.write(line.removeprefix(PROGRESS))
            sys.stderr.flush()
        else:
            last.append(line.rstrip())


@contextmanager
def only_crawler(hosts: Iterable[str]) -> Iterator[None]:
    """Holds the locks of these hosts: two crawls of one site would ask it twice as often as is polite.

    Raises:
        ExternalFailure: Another process of this machine crawls one of them.
    """
    from mihakk.machinery.lake.stage import try_lock  # Arrow comes with it, which the crawler does without

    folder = settings().cache / "crawls"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for host in sorted(set(hosts)):
            path = folder / f"{re.sub(r'[^a-zA-Z0-9.-]', '_', host)}.lock"
            handle = held.enter_context(path.open("a+", encoding="utf-8"))
            if not try_lock(handle):
                handle.seek(0)
                raise ExternalFailure(
                    f"another run crawls {host} (process {handle.read().strip() or 'unknown'}): wait for its "
                    "end, then run again"
                )
            handle.seek(0)
            handle.truncate()
            handle.write(str(os.getpid()))
            handle.flush()
        yield


def fetch(crawl: CrawlPlan, raw: RawStore) -> Outcome:
    """Runs a crawl in a child process and waits for it.

    Raises:
        SourceChanged: The site answered with a challenge, an endless pager, or pages of another shape.
        ExternalFailure: A quota is spent, robots.txt can't be had, or pages failed in a way that another run
            may fix.
        UsageError: robots.txt asks for a longer pause than the options allow.
    """
    request = json.dumps({"plan": crawl.model_dump(mode="json"), "root": raw.root})
    with only_crawler(crawl.hosts):
        answer = answered(request)
    raw.reload()
    if not answer.startswith("{"):
        raise ExternalFailure(f"the crawl of {crawl.source} ended early:\n{answer}")
    outcome = Outcome.model_validate_json(answer)
    _judge(crawl, outcome)
    return outcome


def _judge(crawl: CrawlPlan, outcome: Outcome) -> None:
    errors: dict[str, type[MihakkError]] = {
        **{"changed": SourceChanged, "challenge": SourceChanged, "endless": SourceChanged},
        **{"quota": ExternalFailure, "storage": ExternalFailure, "robots": ExternalFailure},
        "crawl_delay": UsageError,
    }
    if outcome.stopped == "bug":
        raise RuntimeError(f"the crawl of {crawl.source} met a bug:\n{outcome.detail}")
    if outcome.stopped:
        raise errors[outcome.stopped](f"source {crawl.source!r}: {outcome.detail}")
    passing = {url: detail for url, (kind, detail) in outcome.failures.items() if kind in PASSING}
    if passing:
        url, detail = next(iter(passing.items()))
        raise ExternalFailure(
            f"source {crawl.source!r}: {len(passing)} pages could not be fetched, first {url}: {detail}; "
            "run again; what was fetched is kept"
        )
    for request in crawl.starts:
        if request.url in outcome.failures:
            kind, detail = outcome.failures[request.url]
            raise SourceChanged(f"source {crawl.source!r}: {request.url}: {kind}: {detail}")


def walk(crawl: CrawlPlan, raw: RawStore) -> Iterator[Page | PageRequest]:
    """Pages of the raw store in breadth-first order from a plan's first requests; fetches nothing.

    An address that the store does not hold comes as its bare `PageRequest`.
    """
    follow = resolve(crawl.follow)
    queue = deque(crawl.starts)
    seen = {request.url for request in queue}
    listings: set[str] = set()
    while queue:
        request = queue.popleft()
        fetched = raw.latest(request.url)
        if fetched is None:
            yield request
            continue
        page = Page(request, fetched, raw.read(fetched.sha256))
        yield page
        # A pager that serves its last page for ever ends here.
        if request.kind == "listing":
            if fetched.sha256 in listings:
                continue
            listings.add(fetched.sha256)
        for found in parsed(page.request.url, follow(page)):
            if found.url not in seen:
                seen.add(found.url)
                queue.append(found)


def gather(crawl: CrawlPlan, raw: RawStore) -> Iterator[Page | Rejection]:
    """Fetches what is due, then gives every page, and a rejection for every one that could not be had.

    Raises:
        SourceChanged, ExternalFailure: As `fetch`.
        UsageError: The store holds none of the first pages and the options forbid fetching.
    """
    outcome = Outcome() if crawl.options.offline else fetch(crawl, raw)
    found = False
    for page in walk(crawl, raw):
        if isinstance(page, Page):
            found = True
            yield page
            continue
        kind, detail = outcome.failures.get(page.url, ("not_fetched", "the raw store does not hold the page"))
        yield Rejection(record=page.url, source=crawl.source, reason=kind, detail=f"{page.url}: {detail}")
    if not found:
        raise UsageError(
            f"source {crawl.source!r}: the raw store holds no page of it; run it without `offline`"
        )


def read_pages(
    crawl: CrawlPlan, raw: RawStore, kind: str, read: Callable[[Page], Iterable[Entry]]
) -> Iterator[Entry]:
    """Entries of every page of one kind, and the rejections of `gather`.

    Raises:
        SourceChanged: As `gather`, or a page is malformed; the message names it.
    """
    for found in gather(crawl, raw):
        if isinstance(found, Rejection):
            yield found
        elif found.request.kind == kind:
            yield from parsed(found.request.url, read(found))


def provenance(source: Source[Any], page: Page, **changes: str) -> Provenance:
    """Where the records of a page come from."""
    fetched = page.fetched
    return source.provenance(page.request.url, fetched.sha256, retrieved_at=fetched.retrieved_at, **changes)
