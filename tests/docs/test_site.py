"""The built site: strict, readable on a phone, and silent to the outside."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.docs_reference import write

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[2]
PAGES = ("index", "book/audit", "ar/quickstart", "dashboard", "checks", "reference/cli", "reference/api")
SERIOUS = ("serious", "critical")
THEIRS = ("scrollable-region-focusable",)
"""Of the theme: it wraps wide tables into a region that the keyboard reaches only in newer browsers."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site built strictly from a copy, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    write(folder / "docs" / "reference")
    told = (ROOT / "zensical.toml").read_text("utf-8").replace('paths = ["."]', f'paths = ["{ROOT}"]')
    (folder / "zensical.toml").write_text(told, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_ask_nothing_outside_and_read_well(browser: Any, served: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    outside: list[str] = []
    errors: list[str] = []
    page.on(
        "request", lambda r: None if r.url.startswith((served, "data:", "blob:")) else outside.append(r.url)
    )
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in PAGES:
        page.goto(f"{served}{name}.html")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        found = Axe().run(page).response["violations"]
        bad = [one["id"] for one in found if one["impact"] in SERIOUS and one["id"] not in THEIRS]
        assert bad == [], (name, bad)
    page.goto(f"{served}ar/quickstart.html")
    assert page.locator("article h1").evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert outside == []
    assert errors == []
    context.close()


def test_search_works_without_a_network(browser: Any, served: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    page = context.new_page()
    outside: list[str] = []
    page.on(
        "request", lambda r: None if r.url.startswith((served, "data:", "blob:")) else outside.append(r.url)
    )
    page.goto(f"{served}index.html")
    page.keyboard.press("Control+k")
    page.wait_for_timeout(500)
    page.keyboard.type("auditors")
    page.get_by_role("link", name="Auditors").first.wait_for(timeout=15_000)
    assert outside == []
    context.close()
