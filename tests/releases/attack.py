"""Running the attacker of `attacker.py` on a release, and counting what he found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from tests.releases.attacker import fold
from tests.releases.attacker import rows as public_rows

ATTACKER = Path(__file__).with_name("attacker.py")
FAMILY_WISE = 0.01


def attacked(
    release: Path, records: Sequence[str], scratch: Path, earlier: Sequence[Path] = ()
) -> dict[str, Any]:
    """What the script says of a public folder, in a process that can't import this project."""
    (scratch / "records.txt").write_text("\n".join(records), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(ATTACKER), str(release), str(scratch / "records.txt"), *map(str, earlier)],
        cwd=scratch,
        capture_output=True,
        check=True,
        timeout=240,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def right_of(
    release: Path, answers: Mapping[str, Mapping[str, Any]], told: Mapping[str, Any]
) -> dict[tuple[str, str], tuple[float, float, int]]:
    """(attack, config) -> expected right guesses, right by chance, questions; a pair of orders is one."""
    found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    asked = {row["id"]: row for row in public_rows(release) if row["sealed"] and not row.get("order")}
    for attack, guesses in told["guesses"].items():
        for name, guessed in guesses.items():
            if name not in asked:
                continue
            row, answer = asked[name], answers[name]
            golds, chance = {fold(answer["answer"] or "")}, 0.0
            if row["kind"] == "choice":
                golds = {fold(row["options"][place]) for place in answer["gold"]}
                chance = len(golds) / len(row["options"])
            counted = found[attack, row["config"]]
            counted[0] += len(golds & set(map(fold, guessed))) / len(guessed)
            counted[1] += chance
            counted[2] += 1
    return {place: (right, chance, int(count)) for place, (right, chance, count) in found.items()}


def told_more_than_chance(
    figures: Mapping[tuple[str, str], tuple[float, float, int]],
) -> dict[tuple[str, str], str]:
    """Attacks that beat chance by more than its interval, over all of them together (Bonferroni)."""
    found = {}
    for place, (right, chance, count) in figures.items():
        luck = binomtest(round(right), count, max(0.005, chance / count), alternative="greater").pvalue
        if luck < FAMILY_WISE / len(figures):
            found[place] = f"{right:.1f} of {count}, by chance {chance:.1f}"
    return found
