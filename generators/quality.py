"""How good a set of items is, measured on the set itself: what the report and the release gate go by."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from generators import baselines
from generators.corpus import Corpus
from generators.task import AnyItem
from mihakk.embeddings import Embedder
from mihakk.seeds import rng
from schemas.item import ChoiceItem
from schemas.record import Language, Record

VERSE_STRATEGIES = ("same_metre", "shuffled")
"""Strategies (by their beginning) whose options are lines of verse."""


class Baseline(Record):
    """How far one solver that never reads the question gets on one task."""

    task: str
    language: Language
    name: str
    """`random`, `longest`, `shortest`, `most_similar`, `rhyme_only`, `metre_only`, `options_only`."""
    questions: int
    """Questions scored; the two orders of a pair are one."""
    accuracy: float
    """Expected share right, ties broken by lot."""
    chance: float
    low: float
    """Lower end of the 95 % Wilson interval of the accuracy."""
    high: float

    @property
    def margin(self) -> float:
        """How far it beats chance."""
        return self.accuracy - self.chance


class Spread(Record):
    """How one measure of right and wrong options is spread over the questions of a strategy."""

    task: str
    language: Language
    strategy: str
    measure: str
    """`cosine` of right and wrong option, or `length_ratio`: characters of the wrong per one of the right."""
    options: int
    """Wrong options measured."""
    mean: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float


class GoldPositions(Record):
    """Where the right option stands."""

    task: str
    language: Language
    counts: tuple[int, ...]
    """Items per position, both orders of a pair counted."""


class Quality(Record):
    """What was measured of a set."""

    embedder: str
    """Model behind the cosines; empty without embeddings."""
    baselines: tuple[Baseline, ...]
    spreads: tuple[Spread, ...]
    positions: tuple[GoldPositions, ...]


def measure_quality(
    items: Iterable[AnyItem],
    *,
    embedder: Embedder | None = None,
    corpus: Corpus | None = None,
    seed: int = 0,
    most_embedded: int = 200,
) -> Quality:
    """Baselines, spreads and gold positions of every choice task in the set.

    Args:
        items: The set.
        embedder: Model for cosines; without it `most_similar` and cosines are left out.
        corpus: What the items were made from; tells the metre of each line.
        seed: Draws the questions that the classifier, and the embedder, see where there are many.
        most_embedded: Questions per task and language whose cosines are measured.
    """
    groups: dict[tuple[str, Language], list[ChoiceItem]] = defaultdict(list)
    for item in items:
        if isinstance(item, ChoiceItem):
            groups[item.task, item.language].append(item)
    metres = _metres(corpus)
    found: list[Baseline] = []
    spreads: list[Spread] = []
    positions: list[GoldPositions] = []
    for (task, language), all_items in sorted(groups.items()):
        questions = baselines.one_per_pair(all_items)
        vectors = _Vectors(embedder, _sample(questions, most_embedded, seed))
        found += _baselines(task, language, questions, vectors, metres=metres, seed=seed)
        spreads += _spreads(task, language, questions, vectors)
        counts = Counter(place for item in all_items for place in item.gold)
        most = max(len(item.options) for item in all_items)
        positions.append(
            GoldPositions(task=task, language=language, counts=tuple(counts[n] for n in range(most)))
        )
    return Quality(
        embedder=embedder.name if embedder else "",
        baselines=tuple(found),
        spreads=tuple(spreads),
        positions=tuple(positions),
    )


class _Vectors:
    """Cosines within a sample of questions, each text embedded once."""

    def __init__(self, embedder: Embedder | None, questions: Sequence[ChoiceItem]) -> None:
        self.questions = questions if embedder else []
        if embedder is None:
            return
        texts = list(dict.fromkeys(text for item in questions for text in (_asked(item), *item.options)))
        rows = embedder.encode(texts)
        self._rows = dict(zip(texts, rows, strict=True))

    def cosine(self, one: str, other: str) -> float:
        return float(self._rows[one] @ self._rows[other])


def _sample(questions: Sequence[ChoiceItem], most: int, seed: int) -> list[ChoiceItem]:
    if len(questions) <= most:
        return list(questions)
    return sorted(questions, key=lambda item: rng(seed, item.pair_id or item.id, "cosines").random())[:most]


def _asked(item: ChoiceItem) -> str:
    """What a question is about, without the words that all questions of a task share."""
    if item.context:
        return item.context
    parts = [value for name, value in item.fields.items() if name not in ("poet", "title")]
    return " ".join(parts) or item.question


def _baselines(
    task: str,
    language: Language,
    questions: Sequence[ChoiceItem],
    vectors: _Vectors,
    *,
    metres: Mapping[tuple[str, str], str],
    seed: int,
) -> list[Baseline]:
    chance = sum(len(item.gold) / len(item.options) for item in questions) / len(questions)

    def scored(
        name: str,
        score: Callable[[ChoiceItem], baselines.Score | None],
        sample: Sequence[ChoiceItem] = questions,
    ) -> list[Baseline]:
        pairs = [(item, score(item)) for item in sample]
        shares = [baselines.share_right(s, item.gold) for item, s in pairs if s is not None]
        own = [len(item.gold) / len(item.options) for item, s in pairs if s is not None]
        return [_baseline(task, language, name, shares, sum(own) / len(own))] if shares else []

    found = scored("random", lambda item: [0.0] * len(item.options))
    found += scored("longest", baselines.longest) + scored("shortest", baselines.shortest)
    found += scored(
        "most_similar",
        lambda item: [vectors.cosine(_asked(item), o) for o in item.options],
        vectors.questions,
    )
    if all(item.origin.strategy.startswith(VERSE_STRATEGIES) for item in questions):
        found += scored("rhyme_only", baselines.rhyme)
        found += scored("metre_only", lambda item: baselines.metre(item, metres))
    if shares := baselines.options_only(questions, seed):
        found.append(_baseline(task, language, "options_only", shares, chance))
    return found


def _baseline(task: str, language: Language, name: str, shares: Sequence[float], chance: float) -> Baseline:
    accuracy = sum(shares) / len(shares)
    low, high = wilson(accuracy, len(shares))
    return Baseline(
        task=task,
        language=language,
        name=name,
        questions=len(shares),
        accuracy=round(accuracy, 6),
        chance=round(chance, 6),
        low=round(low, 6),
        high=round(high, 6),
    )


def wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """95 % Wilson interval of a share of n."""
    if n == 0:
        return 0.0, 1.0
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def _spreads(
    task: str, language: Language, questions: Sequence[ChoiceItem], vectors: _Vectors
) -> list[Spread]:
    measured: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in questions:
        right = item.options[item.gold[0]]
        for place, wrong in enumerate(item.options):
            if place in item.gold:
                continue
            measured[item.origin.strategy, "length_ratio"].append(len(wrong) / max(1, len(right)))
    for item in vectors.questions:
        right = item.options[item.gold[0]]
        for place, wrong in enumerate(item.options):
            if place not in item.gold:
                measured[item.origin.strategy, "cosine"].append(vectors.cosine(right, wrong))
    return [
        _spread(task, language, strategy, measure, np.array(values))
        for (strategy, measure), values in sorted(measured.items())
    ]


def _spread(
    task: str, language: Language, strategy: str, measure: str, values: NDArray[np.float64]
) -> Spread:
    p05, p25, median, p75, p95 = (round(float(q), 4) for q in np.percentile(values, (5, 25, 50, 75, 95)))
    return Spread(
        task=task,
        language=language,
        strategy=strategy,
        measure=measure,
        options=len(values),
        mean=round(float(values.mean()), 4),
        p05=p05,
        p25=p25,
        median=median,
        p75=p75,
        p95=p95,
    )


def _metres(corpus: Corpus | None) -> dict[tuple[str, str], str]:
    """Metre by (language, key) of every hemistich that stands in one metre only."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in corpus.lines if corpus else ():
        found[line.language, line.first_key].add(line.metre)
        found[line.language, line.second_key].add(line.metre)
    return {hemistich: next(iter(metres)) for hemistich, metres in found.items() if len(metres) == 1}
