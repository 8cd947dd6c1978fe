"""Samples of every source, and the raw store that they are read through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.settings import ROOT
from mihakk.schemas.benchmark import SourceUse
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, run
from tests.scrapers.site import Site, serve

SAMPLES = Path(__file__).resolve().parent.parent / "fixtures" / "sources"


@pytest.fixture(autouse=True)
def _functions_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl's own process finds the functions that tests name; it imports nothing from its folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def sample_files() -> list[Path]:
    """`<source>/<case>.yaml` of every sample; `<case>.expected.json` stands beside it."""
    return sorted(path for path in SAMPLES.glob("*/*.yaml"))


def read_sample(path: Path) -> tuple[SourceUse, dict[str, dict[str, Any]]]:
    """The use that a sample describes, and its saved responses by address.

    `$HERE` stands for the sample's folder. `pages` maps an address to a file beside it, or to a mapping with
    `file`, `status`, `content_type` and `headers`.
    """
    text = path.read_text(encoding="utf-8").replace("$HERE", str(path.parent))
    body = yaml.safe_load(text)
    pages = body.pop("pages", {})
    return SourceUse.model_validate(body), {
        url: page if isinstance(page, dict) else {"file": page} for url, page in pages.items()
    }


def fill(raw: RawStore, folder: Path, pages: dict[str, dict[str, Any]]) -> None:
    """Puts a sample's saved responses into the raw store, as a crawl would have."""
    for url, page in pages.items():
        rest = {name: value for name, value in page.items() if name != "file"}
        raw.add(url, (folder / page["file"]).read_bytes(), **rest)


def as_rows(entries: Iterator[Entry]) -> list[dict[str, Any]]:
    """Entries as JSON without what differs per run: fetch times."""
    rows = []
    for entry in entries:
        row = entry.model_dump(mode="json", exclude_defaults=True)
        row.get("provenance", {}).pop("retrieved_at", None)
        row.pop("body", None)
        rows.append(row)
    return rows


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    stop = serve(site)
    yield site
    stop()


@pytest.fixture
def raw(tmp_path: Path) -> RawStore:
    return RawStore(tmp_path / "lake")


@pytest.fixture
def scraped(raw: RawStore) -> Callable[..., list[Entry]]:
    """Runs a source: `scraped("files", path=..., kind=...)`."""

    def scrape(name: str, limit: int | None = None, **options: Any) -> list[Entry]:
        return list(run(SourceUse(use=name, options=options, limit=limit), raw))

    return scrape


def write_expected(path: Path, rows: list[dict[str, Any]]) -> bool:
    """Writes what a sample gives when MIHAKK_UPDATE_SAMPLES is set; read the diff before committing it."""
    if not os.environ.get("MIHAKK_UPDATE_SAMPLES"):
        return False
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return True


@pytest.fixture(scope="session")
def crawler() -> Iterator[Callable[[str], str]]:
    """One crawling process for all tests of a session: starting one costs more than most crawls."""
    child: list[subprocess.Popen[str]] = []

    def answered(request: str) -> str:
        if not child:
            command = [sys.executable, "-m", "mihakk.scrapers._spider"]
            child.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
            )
        (process,) = child
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield answered
    for process in child:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(120) == 0


@pytest.fixture(autouse=True)
def crawls(
    request: pytest.FixtureRequest, crawler: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crawls go to the session's process, but where a test is marked with `own_process`."""
    if "own_process" not in request.fixturenames:
        monkeypatch.setattr("mihakk.scrapers.crawl.answered", crawler)


@pytest.fixture
def own_process() -> None:
    """Crawls start a process each, as outside of tests."""
