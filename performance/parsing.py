"""Pages per second per core of every parser, and how the cost grows with the number of pages.

Run: python -m performance.parsing [--seconds 2]

Pages are the samples of tests/fixtures/sources; where the real data lies beside the checkout, Ganjoor's
export, the Hindawi EPUB and the books of Taymur are measured as well.
The peer is what others do with such a page: parse the HTML with lxml and take the text of every h3, which
keeps words of the site's own and loses the pairing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import lxml.html
import yaml

from performance._measure import verdict
from schemas.record import Provenance
from scrapers import book
from scrapers.aldiwan import api as aldiwan_api
from scrapers.aldiwan import page as aldiwan_page
from scrapers.aldiwan.poem import record
from scrapers.crawl import Page, PageRequest
from scrapers.epub import open_book, parse_xml
from scrapers.ganjoor import page as ganjoor_page
from scrapers.ganjoor.poem import Poet, parse
from scrapers.hindawi import site
from scrapers.hindawi.blocks import blocks
from scrapers.hindawi.entries import ChapterBlocks, book_lines, idioms
from scrapers.openiti import OpenitiOptions, open_file
from scrapers.raw import Fetched, RawStore

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests" / "fixtures" / "sources"
SHARED = Path(os.environ.get("MIHAKK_SHARED_DATA", ROOT.parent / "shared" / "data"))
LEAST = 500
"""Pages, or entries of a book, per second per core that parsing is held to."""
LEAST_ENTRIES = 20_000
"""Entries of a declared book per second per core."""
"""Shape to one entry in it."""
AT = Provenance(source="x", url="https://x/poem1.html", licence="unknown", sha256="0", parser_version="1")


def as_page(url: str, body: bytes, kind: str = "poem") -> Page:
    """A page as the raw store would give it."""
    fetched = Fetched(url=url, retrieved_at=datetime.now(UTC), sha256="0", content_type="text/html")
    return Page(PageRequest(url=url, kind=kind), fetched, body)


def rate(work: Callable[[], int], seconds: float) -> float:
    """Pages per second of CPU: the best of three runs, for other processes share the machine."""
    best = 0.0
    for _ in range(3):
        pages = 0
        start = time.process_time()
        while time.process_time() - start < seconds / 3:
            pages += work()
        best = max(best, pages / (time.process_time() - start))
    return best


def aldiwan_b(body: bytes) -> int:
    read = aldiwan_page.read(as_page("https://www.aldiwan.net/poem70.html", body))
    assert list(record(read, AT))
    return 1


def naive(body: bytes) -> int:
    assert [node.text_content() for node in lxml.html.fromstring(body.decode()).iter("h3")]
    return 1


def chapter(body: bytes) -> int:
    found = blocks(site.chapter(as_page("https://x/books/1/1/", body)), "x")
    lines, _ = book_lines([ChapterBlocks("1", "x", found)])
    declared = book.BookOptions(layout="same_line", lettered=True)
    assert list(idioms(book.read(lines, declared).entries, "x", genre="idiom", dialect="", provenance=AT))
    return 1


def works() -> dict[str, Callable[[], int]]:
    """What is measured, by name."""
    b70 = (SAMPLES / "aldiwan" / "b70.html").read_bytes()
    c80 = (SAMPLES / "aldiwan" / "c80.html").read_bytes()
    api = (SAMPLES / "aldiwan" / "poem66.json").read_bytes()
    ganjoor = (SAMPLES / "ganjoor" / "page.html").read_bytes()
    poem = (SAMPLES / "ganjoor" / "poem.json").read_bytes()
    hindawi = (SAMPLES / "hindawi" / "ch1.html").read_bytes()
    c_page = as_page("https://www.aldiwan.net/poem80", c80)
    api_page = as_page("https://api.aldiwan.net/v1/poems/66", api)

    def repeat(parser: Callable[[], object]) -> Callable[[], int]:
        def work() -> int:
            parser()
            return 1

        return work

    return {
        "aldiwan page, generation B": lambda: aldiwan_b(b70),
        "  peer: every h3 by lxml": lambda: naive(b70),
        "aldiwan page, generation C": repeat(lambda: list(record(aldiwan_page.read(c_page), AT))),
        "aldiwan API": repeat(lambda: list(record(aldiwan_api.read(api_page)[0], AT))),
        "ganjoor page": repeat(lambda: list(ganjoor_page.parse(ganjoor, AT, Poet()))),
        "ganjoor API": repeat(lambda: list(parse(poem, AT))),
        "hindawi chapter": lambda: chapter(hindawi),
        **real(),
    }


def real() -> dict[str, Callable[[], int]]:
    """The same on real files, where they lie beside the checkout."""
    tar = SHARED / "ganjoor" / "hafez_ghazals_raw.tar.gz"
    epub = SHARED / "hindawi" / "19507951.epub"
    if not tar.is_file() or not epub.is_file():
        return {}
    poems = ghazals(tar)
    data = epub.read_bytes()

    def export() -> int:
        for body in poems:
            assert list(parse(body, AT))
        return len(poems)

    def kept() -> int:
        with tempfile.TemporaryDirectory() as folder:
            raw = RawStore(folder)
            for body in poems[:100]:
                raw.keep(body)
                assert list(parse(body, AT))
        return 100

    def chapters() -> int:
        found = open_book(data, "book")
        inner = [c for c in found.chapters if not c.name.endswith(("cover.xhtml", "fp1.xhtml", "fp2.xhtml"))]
        for part in inner:
            assert blocks(parse_xml(part.data, part.name), part.name)
        return len(inner)

    return {
        "real: Ganjoor export, ghazals": export,
        "real: the same, bytes kept": kept,
        "real: Hindawi EPUB chapters": chapters,
    }


def books() -> dict[str, float]:
    """Book to entries a second, by the declarations of configs/sources."""
    if not (SHARED / "openiti").is_dir():
        return {}
    rates = {}
    for name in ("amthal_openiti", "kinayat_openiti"):
        text = (ROOT / "configs" / "sources" / f"{name}.yaml").read_text("utf-8")
        given = yaml.safe_load(text.replace("$MIHAKK_SHARED_DATA", str(SHARED)))["options"]
        options = OpenitiOptions.model_validate(given)
        lines = open_file(options).lines
        entries = len(book.read(lines, options).entries)
        seconds = least_seconds(lambda lines=lines, options=options: book.read(lines, options))
        rates[name] = entries / seconds
    return rates


def least_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of five runs, for other processes share the machine."""
    least = math.inf
    for _ in range(5):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def ghazals(tar: Path) -> list[bytes]:
    """Bytes of every ghazal of the packed export."""
    with tarfile.open(tar) as archive:
        streams = [archive.extractfile(m) for m in archive if m.isfile() and "/ghazal/sh" in m.name]
        return [stream.read() for stream in streams if stream is not None]


def slope() -> float | None:
    """Slope of cost against pages on logarithmic axes; 1 is linear."""
    tar = SHARED / "ganjoor" / "hafez_ghazals_raw.tar.gz"
    if not tar.is_file():
        return None
    poems = ghazals(tar)
    points = []
    for size in (500, 1000, 2000, 4000):
        times = []
        for _ in range(3):
            start = time.process_time()
            for index in range(size):
                list(parse(poems[index % len(poems)], AT))
            times.append(time.process_time() - start)
        points.append((math.log(size), math.log(min(times))))
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def main() -> None:
    """Prints pages per second of CPU, and the slope."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds per parser")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rates = {name: round(rate(work, arguments.seconds)) for name, work in works().items()}
    grown = slope()
    read_books = books()
    if arguments.json:
        print(json.dumps({"pages_per_second": rates, "slope": grown, "least": LEAST, "books": read_books}))
        return
    for name, pages in rates.items():
        met = "" if name.startswith("  ") else verdict(pages >= LEAST)
        print(f"{name:<34} {pages:>8,} pages/s/core  {met}")
    for name, entries_a_second in read_books.items():
        met = verdict(entries_a_second >= LEAST_ENTRIES)
        print(f"{name:<34} {entries_a_second:>8,.0f} entries/s/core  {met}")
    if grown is not None:
        print(f"cost against pages, log-log slope: {grown:.2f} (1 is linear)")


if __name__ == "__main__":
    main()
