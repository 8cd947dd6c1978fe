"""Solvers that go by form: by one cue, by a classifier of the options alone, by all cues together."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from mihakk.generators.quality.cues import Score, record
from mihakk.machinery.seeds import rng
from mihakk.machinery.text import strip_marks
from mihakk.schemas.item import ChoiceItem

BUCKETS = 1 << 14
"""Slots that character n-grams are hashed into."""
SIZES = (1, 2, 3)
FOLDS = 5
LEAST_QUESTIONS = 20
"""Questions from which the classifier of all cues is trained."""
_NEAR = 1e-9
"""Twice what a step of Newton's may still gain, in nats, when it is the last."""
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


def _fold(group: str) -> int:
    """Which fold a poem or idiom stands in, whatever else is in the set."""
    return zlib.crc32(group.encode()) % FOLDS


def all_cues(items: Sequence[ChoiceItem], scores: Sequence[Sequence[Score | None]]) -> list[float]:
    """Shares right of a classifier that weighs every cue, cross-validated over poems or idioms.

    A conditional logit with a ridge of 1 over standardised cues. Cues take no side: it learns from the other
    folds whether more of one speaks for an option or against it.

    Args:
        items: Questions with one right option.
        scores: For each question its cues, in one order; None where a cue says nothing.

    Returns:
        One share per question; empty where there are too few to train on.
    """
    folds = np.array([_fold(record(item)) for item in items])
    if len(items) < LEAST_QUESTIONS or len(set(folds.tolist())) < FOLDS:
        return []
    gold = np.array([item.gold[0] for item in items])
    cues, there = _stacked(items, scores)
    shares = np.zeros(len(items))
    for held in range(FOLDS):
        weights = _conditional_logit(cues[folds != held], there[folds != held], gold[folds != held])
        for n in np.flatnonzero(folds == held):
            found = [round(float(value), 9) for value in cues[n][there[n]] @ weights]
            shares[n] = share_right(found, items[n].gold)
    return [float(share) for share in shares]


def _stacked(
    items: Sequence[ChoiceItem], scores: Sequence[Sequence[Score | None]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Cues by question, option and cue, each centred and scaled; and which options there are."""
    most = max(len(item.options) for item in items)
    cues = np.zeros((len(items), most, len(scores[0])))
    there = np.zeros((len(items), most), dtype=bool)
    for n, (item, mine) in enumerate(zip(items, scores, strict=True)):
        there[n, : len(item.options)] = True
        for m, score in enumerate(mine):
            if score is not None:
                cues[n, : len(score), m] = np.asarray(score) - np.mean(score)
    spread = np.sqrt((cues**2).mean(axis=(0, 1)))
    return cues / np.where(spread > 0, spread, 1), there


def _conditional_logit(
    cues: NDArray[np.float64], there: NDArray[np.bool_], gold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weights under which the right options are likeliest, by Newton's method."""
    right = cues[np.arange(len(cues)), gold]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """What is least, its slope and its curvature."""
        scores = np.where(there, cues @ weights, -np.inf)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        total = odds.sum(axis=1)
        chosen = np.take_along_axis(scores, gold[:, None], axis=1)[:, 0]
        shares = odds / total[:, None]
        expected = np.einsum("no,nof->nf", shares, cues)
        value = float((np.log(total) - chosen).sum() + weights @ weights / 2)
        curvature = np.einsum("no,nof,nog->fg", shares, cues, cues, optimize=True) - expected.T @ expected
        return value, (expected - right).sum(axis=0) + weights, curvature + np.eye(len(weights))

    weights = np.zeros(cues.shape[2])
    while True:
        value, slope, curvature = loss(weights)
        step = np.linalg.solve(curvature, slope)
        gain = float(slope @ step)
        if gain < _NEAR:  # a last step squares what is left
            return weights - step
        while loss(weights - step)[0] > value - gain / 4:
            step, gain = step / 2, gain / 2
        weights = weights - step


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
    fold = {group: _fold(group) for group in groups}
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
    return _Question(rows, item.gold[0], record(item))


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
