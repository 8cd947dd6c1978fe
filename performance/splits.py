"""How far likeness chains works together, and what the cap on chains does about it, on real verse.

    python -m performance.splits [FOLDER OF REAL DATA]

The 47,124 couplets of MetRec stand, in the order of the file, in poems of 20, 50 and 100 couplets; links are
couplets at least 0.68 alike and hemistichs at least 0.9 alike, as curation reports them. For each length: the
largest group and the share of test (0.8 asked) where every chain is followed, and where it is closed at
`releases.content.split.MOST_SHARE`; and the items of dev left out for being like test. Goal: the capped
test share is within ten points, the largest group within a tenth, and at most one in a hundred is left out;
else exits 1.
"""

from __future__ import annotations

import sys
from collections import Counter

from mihakk.dedup import near_duplicates, shared_halves
from mihakk.draw import split_of
from mihakk.text import key
from performance._measure import data_folder, metrec
from releases.content.split import group_items, split_items
from schemas.item import AnswerItem, Origin
from schemas.rejection import Cluster

ASKED = 0.8


def links(verses: list[tuple[str, str]]) -> list[tuple[int, int, float, str]]:
    """Pairs of couplets that curation would report, with likeness and method."""
    folded = [(key(first, "ar"), key(second, "ar")) for first, second in verses]
    whole = near_duplicates(["".join(halves) for halves in folded], 0.68)
    return [
        *((a, b, alike, "similar") for a, b, alike in whole),
        *((a, b, alike, "half") for a, b, alike in shared_halves(folded, 0.9)),
    ]


def measure(verses: list[tuple[str, str]], found: list[tuple[int, int, float, str]], length: int) -> bool:
    """Print the line of one length of poems; whether the goals are met."""

    def record(number: int) -> str:
        return f"poem{number // length:05d}:{number % length}"

    items = [
        AnswerItem(
            id=f"i{number}",
            task="continuation",
            language="ar",
            question="ما الشطر الثاني؟",
            fields={"first": first},
            answer=second,
            licence="MIT",
            origin=Origin(records=(record(number),), generator="benchmark", generator_version="1"),
        )
        for number, (first, second) in enumerate(verses)
    ]
    clusters = [
        Cluster(
            kept=record(a), merged=(record(b),), level="couplet", method=method, similarity=min(1.0, alike)
        )
        for a, b, alike, method in found
        if a // length != b // length
    ]
    free = Counter(group_items(items, clusters, most=len(items)).values())
    free_test = sum(size for group, size in free.items() if split_of(group, ASKED) == "test") / len(items)
    split = split_items(items, ASKED, clusters)
    capped = Counter(group for _, group in split.places.values())
    test = sum(side == "test" for side, _ in split.places.values()) / len(items)
    largest, left_out = max(capped.values()) / len(items), len(split.left_out) / len(items)
    print(
        f"{length:>8} {max(free.values()) / len(items):>14.1%} {free_test:>6.1%}"
        f" {largest:>16.1%} {test:>6.1%} {left_out:>9.2%}"
    )
    return abs(test - ASKED) <= 0.1 and largest <= 0.1 and left_out <= 0.01


def main() -> int:
    """Print the table; 1 when a goal is missed."""
    verses = [(first, second) for _, first, second in metrec(data_folder(*sys.argv[1:2]))]
    found = links(verses)
    print(f"{len(verses):,} couplets, {len(found):,} likenesses")
    print(
        "couplets  every chain followed      chains closed\n"
        " a poem      largest   test          largest   test  left out"
    )
    met = [measure(verses, found, length) for length in (20, 50, 100)]
    print(f"goal: {'met' if all(met) else 'missed'}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
