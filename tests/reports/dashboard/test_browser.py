"""The pages in a real browser: readable on a phone, from the keyboard, by everybody, and silent to the outside."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from mihakk.reports.dashboard.app import dashboard_app
from mihakk.reports.dashboard.overview import Gatherer
from mihakk.reports.dashboard.page import write_overview, write_report
from tests.reports.dashboard.conftest import Made

pytestmark = pytest.mark.services
WIDTHS = (390, 1280)


@pytest.fixture
def served(made: Made) -> Iterator[str]:
    door = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(dashboard_app([made.build]), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{door.getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=20)
    door.close()


class Reader:
    """A page and everything it did that it should not have."""

    def __init__(self, browser: Any, own: str, width: int, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.page.on(
            "request", lambda r: None if r.url.startswith((own, "data:")) else self.outside.append(r.url)
        )
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def look(self, address: str, width: int) -> None:
        from axe_playwright_python.sync_playwright import Axe

        self.page.goto(address)
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width, (
            f"{address} scrolls sideways"
        )
        assert self.page.evaluate("window.__ran") is None, f"{address} ran what a text said"
        found = Axe().run(self.page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == [], address
        if kept := os.environ.get("MIHAKK_SCREENSHOTS"):
            name = address.rpartition("/")[2].partition("?")[0] or "home"
            self.page.screenshot(path=Path(kept) / f"dashboard-{name}-{width}.png", full_page=True)

    def close(self) -> None:
        assert self.errors == []
        assert self.outside == []
        self.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_reads_well(browser: Any, served: str, made: Made, width: int, scheme: str) -> None:
    reader = Reader(browser, served, width, scheme)
    items = [f"/small/items/{item}" for item in (made.hostile, made.fixed, made.discarded)]
    for path in ("/", "/small", "/small/items", "/small/rejected", *items):
        reader.look(served + path, width)
    reader.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_opens_offline(browser: Any, made: Made, tmp_path: Path, width: int) -> None:
    overview = write_overview(Gatherer(made.build).facts(), tmp_path / "overview.html")
    for file in (overview, write_report(replace(made.build, run_folder=tmp_path))):
        reader = Reader(browser, file.as_uri(), width)
        reader.context.set_offline(True)
        reader.look(file.as_uri(), width)
        reader.close()


def test_a_search_needs_nothing_but_the_keyboard(browser: Any, served: str) -> None:
    reader = Reader(browser, served, 1280)
    page = reader.page
    page.goto(f"{served}/small")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.goto(f"{served}/small/items")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "text":
            break
    page.keyboard.type("دمه")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=*")
    assert page.locator(".list > li a").count() > 0
    while page.evaluate("document.activeElement.matches('.list a') ? 1 : 0") == 0:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/ar-*")
    assert page.locator(".item.text").first.evaluate("e => getComputedStyle(e).direction") == "rtl"
    reader.close()
