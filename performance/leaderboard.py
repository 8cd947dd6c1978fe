"""Seconds until a leaderboard of 50,000 items and 20 systems can be read from disk, and until it is written.

    python -m performance.leaderboard [ITEMS]

Replies are those of `performance.evaluation`. Chromium opens the page from disk three times: until the
table stands, until the list of all items stands, and until an item's prompt and replies do. Exits 1 when
a goal is missed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import performance.evaluation as material

ITEMS, SYSTEMS = 50_000, 20
OPEN_GOAL, ITEMS_GOAL, ITEM_GOAL = 2.0, 2.0, 1.0
"""Seconds, the slowest of three."""


def main() -> int:
    """Print every figure; 1 when a goal is missed."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        began = time.perf_counter()
        board = _board(folder, items)
        print(f"{items * SYSTEMS:,} answers made and scored: {time.perf_counter() - began:.0f} s", flush=True)
        from reports.leaderboard.site import write_site

        began = time.perf_counter()
        written = write_site(board, folder / "site")
        size = sum(path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file()) / 1e6
        took = time.perf_counter() - began
        print(
            f"site of {written.items:,} items: {took:.0f} s, {written.files:,} files, {size:.0f} MB",
            flush=True,
        )
        first = (folder / "site" / "data" / "board.js").stat().st_size / 1e3
        print(f"loaded before the table stands: {first:.0f} kB of data", flush=True)
        return 0 if all(_opened(folder / "site" / "index.html")) else 1


def _board(folder: Path, items: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from evaluation.rows import write_batches
    from evaluation.scoring import metrics_named, score_file
    from mihakk.ids import sha256
    from reports.leaderboard.site import Board
    from schemas.evaluation import Answer
    from schemas.suite import Suite, System

    material.QUESTIONS = items
    release = folder / "release"
    rows = [
        one.model_dump(exclude={"slices"})
        | {"id": one.item, "prompt": "ما معنى هذه العبارة؟\n" + "\n".join(one.options), "sealed": False}
        for one in material._questions("choice")
    ]
    (release / "choice").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), release / "choice" / "test-00000-of-00001.parquet")
    (release / "MANIFEST.sha256").write_bytes(b"made for speed\n")
    digest = sha256(b"made for speed\n")
    questions = {one.item: one.model_copy(update={"digest": digest}) for one in material._questions("choice")}
    batches = pa.Table.from_batches(material._answers("choice", list(questions.values()), items * SYSTEMS))
    systems = []
    for number in range(SYSTEMS):
        name = f"system-{number:02}"
        own = batches.filter(pc.equal(batches.column("model"), name))
        write_batches(
            folder / "runs" / name / "answers.parquet", own.to_batches(max_chunksize=20_000), Answer
        )
        score_file(
            folder / "runs" / name / "answers.parquet",
            questions,
            metrics_named(["accuracy"]),
            folder / "runs" / name / "scores.parquet",
        )
        systems.append(
            System.model_validate(
                {
                    **{"name": name, "family": "f", "model": name, "kind": "arabic", "open": True},
                    "serve": {"engine": "openai", "endpoints": ["http://127.0.0.1:9/v1"]},
                }
            )
        )
    suite = Suite.model_validate(
        {"name": "speed", "title": "Speed", "pinned": False, "parts": [{"release": str(release)}]}
    )
    return Board(suite, systems, folder / "runs", lambda _: (release, "benchmark"), date(2026, 11, 22))


def _opened(page: Path) -> list[bool]:
    from playwright.sync_api import sync_playwright

    program = os.environ.get("MIHAKK_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    times: dict[str, list[float]] = {"table": [], "all items": [], "one item": []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(3):
            view = browser.new_page()
            began = time.perf_counter()
            view.goto(page.as_uri())
            view.wait_for_selector("#systems tbody tr")
            times["table"].append(time.perf_counter() - began)
            view.select_option("#column", "c0")
            began = time.perf_counter()
            view.locator("#items .open").click()
            view.wait_for_selector("#items tbody tr")
            times["all items"].append(time.perf_counter() - began)
            began = time.perf_counter()
            view.locator("#items tbody button").nth(3).click()
            view.wait_for_selector("#item .cards li")
            times["one item"].append(time.perf_counter() - began)
            view.close()
        browser.close()
    met = []
    for (name, taken), goal in zip(times.items(), (OPEN_GOAL, ITEMS_GOAL, ITEM_GOAL), strict=True):
        print(f"{name}: {', '.join(f'{one:.2f}' for one in taken)} s")
        met.append(material.judge(f"{goal:.0f} s", max(taken) <= goal))
    return met


if __name__ == "__main__":
    sys.exit(main())
