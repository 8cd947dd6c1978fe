"""Items a second that the rules get through on one core, without any model.

    python -m performance.checks [--items 20000] [--profile]

The items are made here: Arabic stems as long as school questions, partly vocalised, four options each, one
in fifty damaged. The target is 20,000 items a second and core for the checks of text.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import time
from collections.abc import Callable

from performance._measure import choice_item
from schemas.benchmark import ChecksConfig
from schemas.item import ChoiceItem
from validators.checks import CHECKS, check_items, gather, prepare

BARE = "المدرسة الطالب الكتاب القديم يقرأ في بيت جديد على نهر طويل من جبال عالية ثم عاد إلى مدينته قبل الغروب"
MORE = "وكان الجو لطيفا والناس في السوق يشترون الخبز والتمر والعسل حديقة وردة شجرة"
VOCALISED = "مَكْتَبَةٌ عِلْمٌ سَمَاءٌ قَمَرٌ نَجْمٌ بَعِيدٌ"
WORDS = [*BARE.split(), *MORE.split(), *VOCALISED.split()]


def made(count: int, seed: int = 0) -> list[ChoiceItem]:
    """Choice items of a question of 8 to 18 words and four options of 1 to 6."""
    draw = random.Random(seed)

    def text(least: int, most: int) -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(least, most)))

    items = []
    for n in range(count):
        options = [f"{text(1, 6)} {n + i}" for i in range(4)]
        if n % 50 == 0:
            options[1] = "\u202b" + options[1]
        items.append(choice_item(f"i{n}", f"ما {text(8, 18)}؟", options, draw.randrange(4)))
    return items


def main() -> None:
    """Prints the rates as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    items = made(asked.items)
    config = ChecksConfig()
    check_items(items[:100], config, None)  # imports the checks and reads their tables
    if asked.profile:
        profile = cProfile.Profile()
        profile.runcall(check_items, items, config, None)
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)
        return
    others = tuple(name for name in CHECKS.names() if not name.startswith("TX"))
    prepared = prepare([gather(items)])
    runs: dict[str, Callable[[], object]] = {
        "text_checks": lambda: check_items(items, ChecksConfig(off=others), None),
        "all_that_look_at_one_item": lambda: check_items(items, config, None),
        "all": lambda: check_items(items, config, prepared),
        "index": lambda: prepare([gather(items)]),
    }
    rates = {name: round(len(items) / _seconds(run)) for name, run in runs.items()}
    print(json.dumps({"items": len(items), "items_per_cpu_second": rates, "loop_ns": round(_loop(), 1)}))


def _seconds(run: Callable[[], object]) -> float:
    """Processor seconds, so that a neighbour's work counts only as far as it slows the core itself."""
    started = time.process_time()
    run()
    return time.process_time() - started


def _loop() -> float:
    """Nanoseconds of one turn of an empty loop: about 20 to 40 on an idle core, more where it is shared."""
    turns = 3_000_000

    def run() -> None:
        total = 0
        for n in range(turns):
            total += n

    return _seconds(run) / turns * 1e9


if __name__ == "__main__":
    main()
