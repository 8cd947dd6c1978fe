"""Near duplicates among verses: recall, false pairs, time and memory, beside datasketch in one run.

    python -m performance.duplicates [--million] [--seed N] [FOLDER OF REAL DATA]

Couplets are made from real ones (MetRec, Hafez) by changing three words in five of each hemistich for other
real words, so that each is its own; one in twenty is then followed, somewhere later, by a near duplicate of
a known kind. Ours runs as curation does: whole couplets, then their hemistichs. datasketch's MinHashLSH
(threshold 0.5, 128 permutations, letter groups of four) gets the same couplets and the same test of every
pair it proposes. Each size runs in a process of its own, for its peak of memory. Exits 1 when a stated goal
is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from performance._measure import data_folder, ganjoor, in_own_process, metrec, peak_mb, slope, verdict

SEED = 20261121
THRESHOLD = 0.68
HALF_THRESHOLD = 0.9
PLANTED = 20
"""One couplet in so many is a near duplicate."""
KINDS = ("one character", "one word", "two words", "word dropped", "half line")
PEER_SIZE = 50_000
SIZES = [10_000, 100_000]
RATIO_GOAL, RECALL_GOAL, MEMORY_GOAL, SLOPE_GOAL = 8.0, 0.98, 2048, 1.1


class Verse(NamedTuple):
    """Words of two hemistichs, folded; a half line has one."""

    first: list[str]
    second: list[str]

    def halves(self) -> tuple[str, ...]:
        return tuple("".join(words) for words in self if words)


Figures = dict[str, Any]
"""`seconds` (processor), `megabytes`, `recall` by kind, `false` pairs a couplet by likeness."""


class Planted(NamedTuple):
    copy: int
    original: int
    kind: str


def main() -> int:
    """Print a row for each size, and ours beside datasketch; 1 when a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--million", action="store_true", help="also a million couplets (minutes)")
    parser.add_argument("--size", type=int, help="one size alone, its figures as JSON")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--seed", type=int, default=SEED, help="of the couplets and their near duplicates")
    options = parser.parse_args()
    data = data_folder(options.data)
    if options.size:
        print(json.dumps(measure(data, options.size, options.seed, peer=options.peer)))
        return 0
    kinds = "  ".join(f"{kind:>13}" for kind in KINDS)
    print(f"{'couplets':<22} {'cpu s':>7} {'peak MB':>8}  {kinds}   false pairs a couplet")
    seed = options.seed
    ours, peer = run(data, PEER_SIZE, seed), run(data, PEER_SIZE, seed, "--peer")
    sizes = [*SIZES, 1_000_000] if options.million else SIZES
    rows = [run(data, size, seed) for size in sizes]
    goals = {
        f"speed over datasketch's at least {RATIO_GOAL:g}": peer["seconds"] / ours["seconds"] >= RATIO_GOAL,
        "recall at least datasketch's": all(
            ours["recall"][kind] >= min(peer["recall"][kind], RECALL_GOAL) for kind in KINDS
        ),
        f"recall at least {RECALL_GOAL}": min(rows[-1]["recall"].values()) >= RECALL_GOAL,
        f"peak at most {MEMORY_GOAL:,} MB": rows[-1]["megabytes"] <= MEMORY_GOAL,
        f"slope at most {SLOPE_GOAL}": slope(sizes, [row["seconds"] for row in rows]) <= SLOPE_GOAL,
    }
    for goal, is_met in goals.items():
        print(f"{goal}: {verdict(is_met)}")
    return 0 if all(goals.values()) else 1


def run(data: Path, size: int, seed: int, *flags: str) -> Figures:
    """One size in a process of its own; its row is printed."""
    row = in_own_process("performance.duplicates", data, "--size", size, "--seed", seed, *flags)
    recall = "  ".join(f"{row['recall'][kind]:>13.3f}" for kind in KINDS)
    false = ", ".join(f"{rate:.5f} at {least}" for least, rate in row["false"].items())
    name = f"{size:,}{' datasketch' if flags else ''}"
    print(f"{name:<22} {row['seconds']:>7.1f} {row['megabytes']:>8,.0f}  {recall}   {false}", flush=True)
    return row


def measure(data: Path, size: int, seed: int, *, peer: bool) -> Figures:
    """Figures of one run on `size` couplets."""
    verses, planted = synthesise(real(data), size, seed)
    halves = [verse.halves() for verse in verses]
    del verses
    pairs = datasketch_pairs if peer else our_pairs
    pairs(halves[:2])  # imports are not timed
    start = time.process_time()
    found = pairs(halves)
    seconds = time.process_time() - start
    known = {(p.original, p.copy) for p in planted}
    recall = {
        kind: sum((p.original, p.copy) in found for p in planted if p.kind == kind)
        / max(1, sum(p.kind == kind for p in planted))
        for kind in KINDS
    }
    strangers = found.keys() - known - chained(planted)
    false = {least: sum(found[pair] >= least for pair in strangers) / size for least in (THRESHOLD, 0.9)}
    return {
        "seconds": seconds,
        "megabytes": peak_mb(),
        "recall": recall,
        "false": {str(least): rate for least, rate in false.items()},
    }


def chained(planted: list[Planted]) -> set[tuple[int, int]]:
    """Pairs of two copies of one original, which may be alike as well."""
    copies: dict[int, list[int]] = {}
    for plant in planted:
        copies.setdefault(plant.original, []).append(plant.copy)
    return {(a, b) for group in copies.values() for a in group for b in group if a < b}


def our_pairs(halves: list[tuple[str, ...]]) -> dict[tuple[int, int], float]:
    from mihakk.machinery.dedup import near_duplicates, shared_halves

    found = {(a, b): alike for a, b, alike in shared_halves(halves, HALF_THRESHOLD)}
    whole = near_duplicates(["".join(couplet) for couplet in halves], THRESHOLD)
    return found | {(a, b): alike for a, b, alike in whole}


def datasketch_pairs(halves: list[tuple[str, ...]]) -> dict[tuple[int, int], float]:
    from datasketch import MinHash, MinHashLSH
    from rapidfuzz.distance import Indel

    index = MinHashLSH(threshold=0.5, num_perm=128)
    keys = ["".join(couplet) for couplet in halves]
    found = {}
    for number, key in enumerate(keys):
        sketch = MinHash(num_perm=128, seed=1)
        sketch.update_batch([key[i : i + 4].encode() for i in range(max(1, len(key) - 3))])
        for other in index.query(sketch):
            alike = Indel.normalized_similarity(keys[other], key)
            if alike >= THRESHOLD or share_half(halves[other], halves[number]):
                found[other, number] = alike
        index.insert(number, sketch)
    return found


def share_half(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    from rapidfuzz.distance import Indel

    return any(Indel.normalized_similarity(a, b) >= HALF_THRESHOLD for a in one for b in other)


def real(data: Path) -> list[Verse]:
    """The couplets of MetRec and Hafez."""
    from mihakk.machinery.text import words_key

    verses = [Verse(*(words_key(half, "ar").split() for half in pair)) for _, *pair in metrec(data)]
    for poem in ganjoor(data):
        texts = [words_key(half, "fa").split() for half in poem]
        verses += [Verse(*pair) for pair in zip(texts[::2], texts[1::2], strict=False)]
    return [verse for verse in verses if len(verse.first) > 1 and len(verse.second) > 1]


def synthesise(source: list[Verse], size: int, seed: int) -> tuple[list[Verse], list[Planted]]:
    """Couplets of which some are near duplicates of earlier ones, and which; of one seed always the same."""
    draw = random.Random(seed)
    pool = [word for verse in source for half in verse for word in half]
    verses: list[Verse] = []
    planted: list[Planted] = []
    for number in range(size):
        if number % PLANTED == PLANTED - 1:
            kind = KINDS[len(planted) % len(KINDS)]
            original = draw.randrange(number)
            while original % PLANTED == PLANTED - 1 or not fits(verses[original], kind):
                original = draw.randrange(number)
            planted.append(Planted(number, original, kind))
            verses.append(changed(verses[original], kind, pool, draw))
        else:
            base = draw.choice(source)
            verses.append(Verse(*(stranger(half, pool, draw) for half in base)))
    return verses, planted


def fits(verse: Verse, kind: str) -> bool:
    """Two changed words of four or five would leave another couplet."""
    return kind != "two words" or len(verse.first) + len(verse.second) >= 6


def stranger(half: list[str], pool: list[str], draw: random.Random) -> list[str]:
    """A hemistich with three words in five changed, at least."""
    replaced = set(draw.sample(range(len(half)), math.ceil(0.6 * len(half))))
    return [draw.choice(pool) if place in replaced else word for place, word in enumerate(half)]


def changed(verse: Verse, kind: str, pool: list[str], draw: random.Random) -> Verse:
    """A near duplicate of a verse."""
    first, second = list(verse.first), list(verse.second)
    if kind == "half line":
        return Verse(first, []) if draw.random() < 0.5 else Verse(second, [])
    half = draw.choice([first, second])
    place = draw.randrange(len(half))
    if kind == "one character":
        word = half[place]
        at = draw.randrange(len(word))
        half[place] = word[:at] + draw.choice("ابتجحدرسعفقكلمنهوي") + word[at + 1 :]
    elif kind == "word dropped":
        del half[place]
    else:
        half[place] = draw.choice(pool)
        if kind == "two words":
            other = second if half is first else first
            other[draw.randrange(len(other))] = draw.choice(pool)
    return Verse(first, second)


if __name__ == "__main__":
    sys.exit(main())
