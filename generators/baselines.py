"""How far solvers that never read the question get: what form alone gives away."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from mihakk.seeds import rng
from mihakk.text import key, strip_marks
from schemas.item import ChoiceItem

Score = Sequence[float]
"""One number per option; the highest is chosen, ties share the choice."""

BUCKETS = 1 << 14
"""Slots that character n-grams are hashed into."""
SIZES = (1, 2, 3)
FOLDS = 5
EPOCHS = 5
MOST_PAIRS = 1500
"""Questions the classifier is trained and tested on at most, drawn by seed."""


def one_per_pair(items: Iterable[ChoiceItem]) -> list[ChoiceItem]:
    """Every question once: two orders of the same options are one observation."""
    found: dict[str, ChoiceItem] = {}
    for item in items:
        found.setdefault(item.pair_id or item.id, item)
    return list(found.values())


def share_right(scores: Score, gold: Sequence[int]) -> float:
    """Expected share of right choices when the highest score is chosen and ties are broken by lot."""
    best = max(scores)
    chosen = [n for n, score in enumerate(scores) if score == best]
    return len(set(chosen) & set(gold)) / len(chosen)


def longest(item: ChoiceItem) -> Score:
    """Length in characters."""
    return [float(len(strip_marks(option))) for option in item.options]


def shortest(item: ChoiceItem) -> Score:
    """Length in characters, the other way round."""
    return [-score for score in longest(item)]


def rhyme(item: ChoiceItem) -> Score:
    """Letters each option shares at its end with the other options and with the hemistich in the question."""
    keys = [key(option, item.language) for option in item.options]
    asked = key(item.fields.get("first", ""), item.language)
    return [
        sum(shared_ending(one, other) for n, other in enumerate([*keys, asked]) if n != m)
        for m, one in enumerate(keys)
    ]


def shared_ending(one: str, other: str) -> float:
    """Letters two keys have in common at their end."""
    size = 0
    while size < min(len(one), len(other)) and one[-size - 1] == other[-size - 1]:
        size += 1
    return float(size)


def metre(item: ChoiceItem, metres: Mapping[tuple[str, str], str]) -> Score | None:
    """1 for options whose line stands in the question's metre; None where an option's metre is not known.

    Args:
        item: A choice among lines.
        metres: Metre by (language, key of a hemistich).
    """
    found = [metres.get((item.language, key(option, item.language))) for option in item.options]
    if any(one is None for one in found):
        return None
    return [float(one == item.metadata.get("metre")) for one in found]


@dataclass(frozen=True, slots=True)
class _Question:
    """Options as rows of hashed n-grams, with what the other options of the question have subtracted."""

    features: list[tuple[NDArray[np.int64], NDArray[np.float64]]]
    gold: int
    group: str


def options_only(items: Sequence[ChoiceItem], seed: int = 0) -> list[float]:
    """Shares right of a classifier that sees the options alone, cross-validated.

    A conditional logit over hashed character n-grams (1 to 3) and the relative length of each option.
    Questions from one poem or idiom stand in one fold, so that no line is learnt by heart.

    Returns:
        One share per question tested; empty where there are too few to train on.
    """
    single = [item for item in items if len(item.gold) == 1]
    single.sort(key=lambda item: rng(seed, item.pair_id or item.id, "baseline").random())
    questions = [_question(item) for item in single[:MOST_PAIRS]]
    groups = sorted({question.group for question in questions})
    if len(questions) < 10 * FOLDS or len(groups) < FOLDS:
        return []
    fold = {group: zlib.crc32(group.encode()) % FOLDS for group in groups}
    shares = []
    for held in range(FOLDS):
        weights = _train([q for q in questions if fold[q.group] != held], seed)
        for question in questions:
            if fold[question.group] == held:
                shares.append(share_right(_scores(question, weights), (question.gold,)))
    return shares


def _question(item: ChoiceItem) -> _Question:
    counts = [_ngrams(option) for option in item.options]
    lengths = [log(1 + len(option)) for option in item.options]
    mean_length = sum(lengths) / len(lengths)
    everywhere: dict[int, float] = defaultdict(float)
    for one in counts:
        for bucket, value in one.items():
            everywhere[bucket] += value / len(counts)
    rows = []
    for one, length in zip(counts, lengths, strict=True):
        row = {bucket: one.get(bucket, 0.0) - mean for bucket, mean in everywhere.items()}
        row[BUCKETS] = length - mean_length
        # Options of one question are compared with each other: what all share says nothing.
        row = {bucket: value for bucket, value in row.items() if value}
        rows.append((np.fromiter(row, np.int64, len(row)), np.fromiter(row.values(), np.float64, len(row))))
    return _Question(rows, item.gold[0], _group(item))


def _group(item: ChoiceItem) -> str:
    """Poem or idiom a question is from: a couplet's id starts with its poem's."""
    return item.origin.records[0].rpartition(":")[0] or item.origin.records[0]


def _ngrams(option: str) -> dict[int, float]:
    text = f"^{strip_marks(option)}$"
    counts: dict[int, float] = defaultdict(float)
    for size in SIZES:
        for start in range(len(text) - size + 1):
            counts[zlib.crc32(text[start : start + size].encode()) % BUCKETS] += 1.0
    norm = sqrt(sum(value * value for value in counts.values()))
    return {bucket: value / norm for bucket, value in counts.items()}


def _train(questions: Sequence[_Question], seed: int) -> NDArray[np.float64]:
    """Weights by AdaGrad on the likelihood of the gold among its options."""
    weights, squares = np.zeros(BUCKETS + 1), np.full(BUCKETS + 1, 1e-3)
    order = list(range(len(questions)))
    random = rng(seed, "options_only", "epochs")
    for _ in range(EPOCHS):
        random.shuffle(order)
        for n in order:
            question = questions[n]
            scores = np.array(_scores(question, weights))
            odds = np.exp(scores - scores.max())
            odds /= odds.sum()
            for place, (buckets, values) in enumerate(question.features):
                gradient = (odds[place] - (place == question.gold)) * values + 1e-4 * weights[buckets]
                squares[buckets] += gradient**2
                weights[buckets] -= 0.3 * gradient / np.sqrt(squares[buckets])
    return weights


def _scores(question: _Question, weights: NDArray[np.float64]) -> list[float]:
    return [float(weights[buckets] @ values) for buckets, values in question.features]
