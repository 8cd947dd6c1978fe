"""All rules over whole benchmarks of growing size: processor seconds, memory, slope; datasketch beside them.

    python -m performance.external_rules DATA [--sizes 250 1000 4000 16000 64000 200000] [--peer-size 4000]

Rows are those of EXAMS with four words of the question exchanged for others of the set, so that each has near
copies, as templated benchmarks do. Every size runs in a process of its own. datasketch's MinHashLSH (128
permutations, pairs of words, threshold 0.8) finds near copies alone, over the same rows.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from performance._measure import choice_item, in_own_process, peak_mb, slope
from schemas.item import ChoiceItem

EXCHANGED = 4
SECONDS_GOAL, MEMORY_GOAL, SLOPE_GOAL = 100.0, 1_500, 1.1
"""Of 200,000 rows: seconds of one core, MB; of the sizes: cost against size on logarithmic axes."""


def rows(data: Path, count: int) -> list[ChoiceItem]:
    """`count` rows made of the real ones."""
    draw = random.Random(0)
    lines = (data / "exams" / "exams_arabic_562.jsonl").read_text(encoding="utf-8").splitlines()
    real = [json.loads(line) for line in lines]
    words = sorted({word for row in real for word in row["question"].split()})
    made = []
    for number in range(count):
        row = real[number % len(real)]
        question = row["question"].split()
        for _ in range(EXCHANGED):
            question[draw.randrange(len(question))] = draw.choice(words)
        options = tuple(str(row[letter]) for letter in "ABCD")
        gold = "ABCD".index(row["answer"])
        made.append(choice_item(f"ar-external_choice-{number:07}", " ".join(question), options, gold))
    return made


def measure(data: Path, size: int, *, peer: bool) -> dict[str, float]:
    """Processor seconds and peak memory of one run in this process."""
    items = rows(data, size)
    if not peer:
        our_findings(items[:100])  # imports the checks and reads their tables
    started = time.process_time()
    found = datasketch_copies(items) if peer else our_findings(items)
    seconds = time.process_time() - started
    return {"seconds": seconds, "megabytes": peak_mb(), "found": float(found)}


def our_findings(items: Sequence[ChoiceItem]) -> int:
    """Every check, of rows and of the set."""
    from schemas.benchmark import ChecksConfig
    from validators.checks import check_items, check_set, gather, prepare

    whole = prepare([gather(items)])
    return len(check_items(items, ChecksConfig(), whole)) + len(check_set(whole, ChecksConfig()))


def datasketch_copies(items: Sequence[ChoiceItem]) -> int:
    """Rows that are nearly another one, by MinHash alone."""
    from datasketch import MinHash, MinHashLSH

    index, found = MinHashLSH(threshold=0.8, num_perm=128), 0
    for item in items:
        words = f"{item.question} {' '.join(item.options)}".split()
        sketch = MinHash(num_perm=128, seed=1)
        sketch.update_batch([f"{a} {b}".encode() for a, b in pairwise(words)])
        found += bool(index.query(sketch))
        index.insert(item.id, sketch)
    return found


def run(data: Path, size: int, *flags: str) -> dict[str, float]:
    """The figures of a process of its own."""
    return in_own_process("performance.external_rules", data, "--size", size, *flags)


def main() -> None:
    """Prints a table, the slope, and the peer's figures at one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 1_000, 4_000, 16_000, 64_000, 200_000])
    parser.add_argument("--peer-size", type=int, default=4_000)
    parser.add_argument("--size", type=int)
    parser.add_argument("--peer", action="store_true")
    asked = parser.parse_args()
    if asked.size is not None:
        print(json.dumps(measure(asked.data, asked.size, peer=asked.peer)))
        return
    figures = [run(asked.data, size) for size in asked.sizes]
    for size, one in zip(asked.sizes, figures, strict=True):
        print(f"{size:>9,} rows {one['seconds']:>8.2f} s of one core {one['megabytes']:>7,.0f} MB")
    last = figures[-1]
    print(f"slope {slope(asked.sizes, [one['seconds'] for one in figures]):.2f}, goal at most {SLOPE_GOAL}")
    print(f"largest: goal {SECONDS_GOAL:g} s and {MEMORY_GOAL:,} MB; {last['found']:,.0f} findings")
    peer = run(asked.data, asked.peer_size, "--peer")
    ours = run(asked.data, asked.peer_size)
    print(
        f"{asked.peer_size:,} rows: all our rules {ours['seconds']:.2f} s, datasketch's near copies alone "
        f"{peer['seconds']:.2f} s"
    )


if __name__ == "__main__":
    main()
