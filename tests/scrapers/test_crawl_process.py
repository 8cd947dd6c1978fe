"""The crawling process: it ends with the run that started it, one crawls a site at a time, and it says how far it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from aiohttp import web

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.settings import ROOT
from mihakk.scrapers._spider import describe_progress
from mihakk.scrapers.crawl import fetch, gather, only_crawler
from mihakk.scrapers.raw import RawStore
from tests.scrapers.site import Site
from tests.scrapers.toy import crawl, pages

RUN = """
import sys
from mihakk.scrapers.crawl import CrawlPlan, fetch
from mihakk.scrapers.raw import RawStore
fetch(CrawlPlan.model_validate_json(sys.argv[1]), RawStore(sys.argv[2]))
"""


def endless(site: Site) -> None:
    """A site whose every page leads to the next."""

    @site.on("*")
    async def page(request: web.Request) -> web.Response:
        if not request.path.startswith("/page"):
            return web.Response(status=404)
        number = int(request.path.removeprefix("/page"))
        return web.Response(text=f'<a href="/page{number + 1}">next</a>', content_type="text/html")


def test_the_crawler_of_a_killed_run_stops_at_once(site: Site, raw: RawStore) -> None:
    endless(site)
    plan = crawl(site, start="/page0", delay_seconds=0.1)
    run = subprocess.Popen([sys.executable, "-c", RUN, plan.model_dump_json(), raw.root], cwd=ROOT)
    deadline = time.monotonic() + 60
    while len(site.paths()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(site.paths()) >= 3
    crawlers = psutil.Process(run.pid).children(recursive=True)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert crawlers
    assert psutil.wait_procs(crawlers, timeout=60)[1] == [], "a crawler goes on"


@pytest.mark.usefixtures("own_process")
def test_the_end_of_its_input_stops_a_crawler_too(site: Site, raw: RawStore) -> None:
    """Where the system does not end a child with its parent, the closed pipe does."""
    endless(site)
    plan = crawl(site, start="/page0", delay_seconds=0.1)
    request = json.dumps({"plan": plan.model_dump(mode="json"), "root": raw.root})
    child = subprocess.Popen(
        [sys.executable, "-m", "mihakk.scrapers._spider"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert child.stdin is not None
    child.stdin.write(f"{request}\n".encode())
    child.stdin.flush()
    deadline = time.monotonic() + 60
    while len(site.paths()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.stdin.close()
    assert child.wait(60) == 1


def test_one_crawler_a_site(site: Site, raw: RawStore) -> None:
    site.page("/", "home")
    plan = crawl(site)
    with (
        only_crawler(plan.hosts),
        pytest.raises(ExternalFailure, match=rf"process {os.getpid()}\).*run again"),
    ):
        fetch(plan, raw)
    assert pages(gather(plan, raw))[0] == {"/": b"home"}


@pytest.mark.usefixtures("own_process")
def test_a_crawl_says_how_far_it_is(site: Site, raw: RawStore, capsys: pytest.CaptureFixture[str]) -> None:
    site.page("/", "".join(f'<a href="/{n}">' for n in range(4)))
    for number in range(4):
        site.page(f"/{number}", "page")
    fetch(crawl(site).model_copy(update={"say_seconds": 0.0}), raw)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("toy: ") for line in lines)
    assert "5 pages asked for, 0 fresh, 0 known to come" in lines[-1]


def test_progress_names_rate_and_time_left() -> None:
    assert describe_progress(60, 40, 400, 30.0) == (
        "60 pages asked for, 40 fresh, 300 known to come, 2.00 a second, about 2 min left"
    )
    assert describe_progress(0, 0, 1, 0.0) == "0 pages asked for, 0 fresh, 1 known to come, 0.00 a second"
