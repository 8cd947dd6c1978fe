"""One text that stands in place of the own text of many rows, however it is worded there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from mihakk.machinery.groups import Groups
from mihakk.validators.checks.restated import Asked, same_answer

LEAST_ROWS: Final = 5
"""Rows from which one text in their place is a cause of its own; fewer are copies or rivals."""
LEAST_OPTIONS: Final = 3
LEAST_RIVALS: Final = 0.25
"""Share of the seed's rows whose very question has another answer elsewhere."""
LEAST_CONFLICT: Final = 1 / 3
"""Share of the seed's pairs that offer the same options and call different ones right."""
MOST_PAIRS: Final = 400
USUAL: Final = 0.3
"""Share of a cluster's rows that hold a word from which the word tells of it."""
TELLING: Final = 5.0
"""How many times as usual a word must be inside as outside."""
LEAST_TELLING: Final = 6
"""Telling words a text must have: a shorter one can't be known again in other words."""
SHARES: Final = 0.5
"""Share of what a row of the cluster is expected to hold, by weight, from which a row shares the text.

Of AceGPT's Arabic MMLU no sound row reaches .15, and of the pasted ones 998 of 1,000 .5.
"""
LEAST_OPTION: Final = 6
"""Words of an option from which it alone, if most of them tell, says that a row shares the text."""
MOST_OF_OPTION: Final = 0.6
ROUNDS: Final = 4


class Foreign(NamedTuple):
    """Rows that hold one text that is not theirs."""

    seed: str
    """The row that holds most of it."""
    rows: tuple[str, ...]


def foreign_texts(
    worded: Sequence[Asked], linked: Groups[str], rivals: Mapping[str, object]
) -> list[Foreign]:
    """Texts pasted over rows, each with every row that holds it or a part of it, the largest first.

    Questions in words and of two options are left out: a statement given twice, as right and as wrong, is a
    contradiction and no foreign text. A seed is a group of linked rows that ask the same in the same options
    and call different ones right: no rows of an exam do. It grows by its telling words to rows in which the
    text is worded otherwise.

    Args:
        worded: All items of outside benchmarks.
        linked: Items that copies, rivals or near copies link.
        rivals: Items whose very question has another answer elsewhere.
    """
    worded = [one for one in worded if _options(one) >= LEAST_OPTIONS]
    by_name = {one.item: one for one in worded}
    seeds = [
        known
        for group in linked.members().values()
        if len(known := [name for name in group if name in by_name]) >= LEAST_ROWS
        and sum(name in rivals for name in known) >= LEAST_RIVALS * len(known)
        and _conflict([by_name[name] for name in known])
    ]
    if not seeds:
        return []
    found: list[Foreign] = []
    taken: set[str] = set()
    for seed in sorted(seeds, key=lambda names: (-len(names), names)):
        if sum(name in taken for name in seed) > len(seed) / 2:
            continue
        scores = _grown(set(seed), by_name)
        rows = sorted(scores.keys() - taken)
        if len(rows) >= LEAST_ROWS:
            found.append(Foreign(max(rows, key=lambda name: (scores[name], name)), tuple(rows)))
            taken.update(rows)
    return sorted(found, key=lambda one: (-len(one.rows), one.rows))


def _options(one: Asked) -> int:
    """How many options an item has, counted where they are packed."""
    count = place = 0
    while place < len(one.answers):
        place += 1 + one.answers[place]
        count += 1
    return count


def _conflict(group: Sequence[Asked]) -> bool:
    """Whether rows offer the same options and disagree on the right one, more often than by mistake."""
    known = [(one.gold, one.unpacked()) for one in group if one.gold >= 0]
    pairs = list(pairwise(known))
    pairs = pairs[:: len(pairs) // MOST_PAIRS + 1]
    unlike = sum(same_answer(*one, *other) is False for one, other in pairs)
    return bool(pairs) and unlike >= LEAST_CONFLICT * len(pairs)


def _offered(one: Asked) -> frozenset[int]:
    """The words of all its options."""
    return frozenset().union(*one.unpacked())


def _holding(words: Collection[int], rows: Mapping[str, Asked]) -> Iterator[Asked]:
    """Rows that may hold any of these words: sets of all rows' words would fill the memory."""
    known = frozenset(words)
    return (
        row for row in rows.values() if not (known.isdisjoint(row.words) and known.isdisjoint(row.answers))
    )


def _grown(inside: set[str], held: Mapping[str, Asked]) -> dict[str, float]:
    """Every row that shares the text, and how much of it; empty where its words tell too little.

    Its options must share it too, as questions on one passage hold the same passage; or a long option does.
    """
    scores: dict[str, float] = {}
    for _ in range(ROUNDS):
        weights = _weights(inside, held)
        if len(weights) < LEAST_TELLING:
            return {}
        told = weights.keys()
        sums: dict[str, tuple[float, ...]] = {}
        for row in _holding(told, held):
            offered = told & _offered(row)
            if hit := offered | told & frozenset(row.words):
                sums[row.item] = tuple(sum(weights[word] for word in some) for some in (hit, offered))
        of_all, of_options = (sum(sums[name][part] for name in inside & sums.keys()) for part in (0, 1))
        usual, usual_offered = of_all / len(inside), of_options / len(inside)
        scores = {
            name: total / usual
            for name, (total, offered) in sums.items()
            if (total >= SHARES * usual and offered >= SHARES / 2 * usual_offered)
            or any(
                len(told & option) >= MOST_OF_OPTION * len(option)
                for option in held[name].unpacked()
                if len(option) >= LEAST_OPTION
            )
        }
        if scores.keys() == inside:
            break
        inside = set(scores)
    return scores


def _weights(inside: set[str], held: Mapping[str, Asked]) -> dict[int, float]:
    """Words that are usual inside and rare outside, with the logarithm of how many times as usual."""
    usual = _counted(_offered(held[name]).union(held[name].words) for name in inside)
    likely = {word for word, count in usual.items() if count >= USUAL * len(inside)}
    outside = _counted(
        _offered(row).union(row.words) & likely for row in _holding(likely, held) if row.item not in inside
    )
    rest = len(held) - len(inside)
    ratios = {word: usual[word] / len(inside) * (rest + 1) / (outside[word] + 0.5) for word in likely}
    return {word: math.log(ratio) for word, ratio in ratios.items() if ratio >= TELLING}


def _counted(sets: Iterable[frozenset[int]]) -> Counter[int]:
    found: Counter[int] = Counter()
    for words in sets:
        found.update(words)
    return found
