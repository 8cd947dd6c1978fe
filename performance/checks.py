"""Items a second that the checks get through on one core, and how the cost grows: no model is asked.

    python -m performance.checks [--sizes 250 1000 4000 16000 64000 200000] [FOLDER OF REAL DATA]

Rows are those of EXAMS with four words of the question exchanged for others of the set, so that each has near
copies, as templated benchmarks do. Every size runs in a process of its own. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from performance._measure import choice_item, data_folder, in_own_process, peak_mb, slope, verdict
from schemas.benchmark import ChecksConfig
from validators.checks import CHECKS, check_items, check_set, gather, prepare

EXCHANGED = 4
SIZES = (250, 1_000, 4_000, 16_000, 64_000, 200_000)
SECONDS_GOAL, MEMORY_GOAL, SLOPE_GOAL = 100.0, 1_500, 1.1
"""Of the largest size: seconds of one core, MB; of the sizes: cost against size on logarithmic axes."""


def main() -> int:
    """Prints a row for each size and the slope; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--one", type=int, help="one size alone, its figures as JSON")
    asked = parser.parse_args()
    data = data_folder(asked.data)
    if asked.one:
        print(json.dumps(measure(rows(data, asked.one))))
        return 0
    figures = [in_own_process("performance.checks", data, "--one", size) for size in asked.sizes]
    for size, one in zip(asked.sizes, figures, strict=True):
        rates = ", ".join(f"{name} {size / one[name]:,.0f}/s" for name in ("text", "one item", "all"))
        print(f"{size:>9,} rows {one['all']:>8.2f} s of one core, {one['megabytes']:>6,.0f} MB: {rates}")
    grown, last = slope(asked.sizes, [one["all"] for one in figures]), figures[-1]
    met = grown <= SLOPE_GOAL and last["all"] <= SECONDS_GOAL and last["megabytes"] <= MEMORY_GOAL
    print(f"slope {grown:.2f}; goals {SLOPE_GOAL}, {SECONDS_GOAL:g} s, {MEMORY_GOAL:,} MB: {verdict(met)}")
    return 0 if met else 1


def rows(data: Path, count: int) -> list[Any]:
    """So many rows made of the real ones."""
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


def measure(items: list[Any]) -> dict[str, float]:
    """Processor seconds of the checks of text, of all that look at one item, and of all with the set's."""
    config = ChecksConfig()
    check_items(items[:100], config, None)  # imports the checks and reads their tables
    others = tuple(name for name in CHECKS.names() if not name.startswith("TX"))

    def whole() -> None:
        prepared = prepare([gather(items)])
        check_items(items, config, prepared)
        check_set(prepared, config)

    return {
        "all": seconds(whole),
        "megabytes": peak_mb(),
        "text": seconds(lambda: check_items(items, ChecksConfig(off=others), None)),
        "one item": seconds(lambda: check_items(items, config, None)),
    }


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds, so that a neighbour's work counts only as far as it slows the core itself."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
