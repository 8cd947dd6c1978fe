"""How good a set of items is, measured on the set itself: what the report and the release gate go by."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mihakk.generators.corpus import Corpus
from mihakk.generators.parts.paraphrase import overlap_of
from mihakk.generators.quality import baselines, cues
from mihakk.machinery.embeddings import Embedder
from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import wilson
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.quality import Baseline, ValueSpread
from mihakk.schemas.record import Language, Record

__all__ = [
    "Baseline",
    "GoldPositions",
    "ItemQuality",
    "Paraphrases",
    "ValueSpread",
    "measure_quality",
    "spread_of",
]
VERSE_STRATEGIES = ("same_metre", "shuffled")
"""Strategies (by their beginning) whose options are lines of verse."""


class GoldPositions(Record):
    """Where the right option stands."""

    task: str
    language: Language
    counts: tuple[int, ...]
    """Items per position, both orders of a pair counted."""


class Paraphrases(Record):
    """How far the paraphrases of a language moved from their prose: in words, and not in meaning."""

    language: Language
    paraphrases: int
    self_bleu: float
    """Corpus BLEU-4 of all paraphrases against their prose, 0 to 100 (GhazalBench: 1.574)."""
    similarity: float | None = None
    """Mean cosine of paraphrase and prose (GhazalBench: .891); None without embeddings."""


class ItemQuality(Record):
    """What was measured of a set."""

    embedder: str
    """Model behind the cosines; empty without embeddings."""
    baselines: tuple[Baseline, ...]
    spreads: tuple[ValueSpread, ...]
    positions: tuple[GoldPositions, ...]
    paraphrases: tuple[Paraphrases, ...] = ()


def measure_quality(
    items: Sequence[Item],
    *,
    embedder: Embedder | None = None,
    corpus: Corpus | None = None,
    seed: int = 0,
    most_embedded: int = 200,
) -> ItemQuality:
    """Baselines, spreads and gold positions of every choice task in the set.

    Args:
        items: The set; the questions of one task at a time are in memory, where it makes them anew.
        embedder: Model for cosines; without it `most_similar`, `most_central` and cosines are left out.
        corpus: What the items were made from; tells the metre of each line.
        seed: Draws the questions that the classifier, and the embedder, see where there are many.
        most_embedded: Questions per task and language whose cosines are measured.
    """
    groups: dict[tuple[str, Language], list[int]] = defaultdict(list)
    reworded: dict[Language, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for place, item in enumerate(items):
        if "overlap" in item.metadata:  # one paraphrase serves the completion and both orders of the choice
            reworded[item.language][item.origin.records[0]] = item.metadata
        if isinstance(item, ChoiceItem):
            groups[item.task, item.language].append(place)
    metres = _metres(corpus)
    found: list[Baseline] = []
    spreads: list[ValueSpread] = []
    positions: list[GoldPositions] = []
    for (task, language), places in sorted(groups.items()):
        all_items = [cast("ChoiceItem", items[place]) for place in places]
        questions = baselines.one_per_pair(all_items)
        vectors = _Vectors(embedder, _sample(questions, most_embedded, seed))
        solved = _baselines(questions, vectors, metres, seed)
        found += [_baseline(task, language, *one) for one in solved if one[1]]
        spreads += _spreads(task, language, questions, vectors)
        counts = Counter(place for item in all_items for place in item.gold)
        most = max(len(item.options) for item in all_items)
        positions.append(
            GoldPositions(task=task, language=language, counts=tuple(counts[n] for n in range(most)))
        )
    return ItemQuality(
        embedder=embedder.name if embedder else "",
        baselines=tuple(found),
        spreads=tuple(spreads),
        positions=tuple(positions),
        paraphrases=tuple(_paraphrases(one, list(told.values())) for one, told in sorted(reworded.items())),
    )


def _paraphrases(language: Language, told: Sequence[Mapping[str, str]]) -> Paraphrases:
    shared = reduce(add, (overlap_of(one["overlap"]) for one in told))
    cosines = [float(one["similarity"]) for one in told if "similarity" in one]
    return Paraphrases(
        language=language,
        paraphrases=len(told),
        self_bleu=round(shared.bleu(), 4),
        similarity=round(sum(cosines) / len(cosines), 4) if cosines else None,
    )


class _Vectors:
    """Cosines within a sample of questions, each text embedded once."""

    def __init__(self, embedder: Embedder | None, questions: Sequence[ChoiceItem]) -> None:
        self.questions = questions if embedder else []
        if embedder is None:
            return
        texts = list(dict.fromkeys(text for item in questions for text in (cues.shown(item), *item.options)))
        rows = embedder.encode(texts)
        self._rows = dict(zip(texts, rows, strict=True))

    def cosine(self, one: str, other: str) -> float:
        return float(self._rows[one] @ self._rows[other])

    def to_others(self, item: ChoiceItem) -> list[float]:
        """How near each option is to all: those chosen around the right one leave it in the middle."""
        return [sum(self.cosine(one, other) for other in item.options) for one in item.options]


def _sample(questions: Sequence[ChoiceItem], most: int, seed: int) -> list[ChoiceItem]:
    if len(questions) <= most:
        return list(questions)
    return sorted(questions, key=lambda item: rng(seed, item.pair_id or item.id, "cosines").random())[:most]


_Solved = tuple[str, Sequence[float], float]
"""Name of a solver, its share right of each question it answers, and the chance to be right by lot."""


def _baselines(
    questions: Sequence[ChoiceItem], vectors: _Vectors, metres: Mapping[tuple[str, str], str], seed: int
) -> Iterator[_Solved]:
    yield _chosen("random", questions, [[0.0] * len(item.options) for item in questions])
    known: dict[str, list[cues.Score | None]] = {
        name: [cue(item) for item in questions] for name, cue in cues.FORM.items()
    }
    if all(item.origin.strategy.startswith(VERSE_STRATEGIES) for item in questions):
        known["rhyme_only"] = [cues.rhyme_only(item) for item in questions]
        known["rhyme_shown"] = [cues.rhyme_shown(item) for item in questions]
        known["metre_only"] = [cues.metre_only(item, metres) for item in questions]
    whole = cues.SetCues(questions)
    known["rarest"] = [whole.rarest(item) for item in questions]
    known["options_met"] = [whole.options_met(item) for item in questions]
    yield from (_chosen(name, questions, scores) for name, scores in known.items())
    similar = [[vectors.cosine(cues.shown(item), o) for o in item.options] for item in vectors.questions]
    yield _chosen("most_similar", vectors.questions, similar)
    yield _chosen("most_central", vectors.questions, [vectors.to_others(item) for item in vectors.questions])
    single = [n for n, item in enumerate(questions) if len(item.gold) == 1]
    weighed = [[scores[n] for scores in known.values()] for n in single]
    chance = _chance(questions)
    yield "options_only", baselines.options_only(questions, seed), chance
    yield "all_cues", baselines.all_cues([questions[n] for n in single], weighed), chance


def _chosen(name: str, questions: Sequence[ChoiceItem], scores: Sequence[cues.Score | None]) -> _Solved:
    """The solver that takes the option of the highest score, over the questions that have one."""
    told = [(item, score) for item, score in zip(questions, scores, strict=True) if score is not None]
    shares = [baselines.share_right(score, item.gold) for item, score in told]
    return name, shares, _chance([item for item, _ in told])


def _chance(questions: Sequence[ChoiceItem]) -> float:
    return sum(len(item.gold) / len(item.options) for item in questions) / max(1, len(questions))


def _baseline(task: str, language: Language, name: str, shares: Sequence[float], chance: float) -> Baseline:
    accuracy = sum(shares) / max(1, len(shares))
    low, high = wilson(sum(shares), len(shares))
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


def _spreads(
    task: str, language: Language, questions: Sequence[ChoiceItem], vectors: _Vectors
) -> list[ValueSpread]:
    measured: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in questions:
        for right, wrong in _pairs(item):
            measured[item.origin.strategy, "length_ratio"].append(len(wrong) / max(1, len(right)))
    for item in vectors.questions:
        for right, wrong in _pairs(item):
            measured[item.origin.strategy, "cosine"].append(vectors.cosine(right, wrong))
    return [
        spread_of(task, language, strategy, measure, np.array(values))
        for (strategy, measure), values in sorted(measured.items())
    ]


def _pairs(item: ChoiceItem) -> list[tuple[str, str]]:
    """The right option beside each wrong one."""
    right = item.options[item.gold[0]]
    return [(right, wrong) for place, wrong in enumerate(item.options) if place not in item.gold]


def spread_of(
    task: str, language: Language, strategy: str, measure: str, values: NDArray[np.float64]
) -> ValueSpread:
    """How values that were measured on the options of one strategy are spread."""
    quantiles = [round(float(one), 4) for one in np.percentile(values, (5, 25, 50, 75, 95))]
    return ValueSpread(
        task=task,
        language=language,
        strategy=strategy,
        measure=measure,
        options=len(values),
        mean=round(float(values.mean()), 4),
        **dict(zip(("p05", "p25", "median", "p75", "p95"), quantiles, strict=True)),
    )


def _metres(corpus: Corpus | None) -> dict[tuple[str, str], str]:
    """Metre by (language, key) of every hemistich that stands in one metre only."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in corpus.lines if corpus else ():
        found[line.language, line.first_key].add(line.metre)
        found[line.language, line.second_key].add(line.metre)
    return {hemistich: next(iter(metres)) for hemistich, metres in found.items() if len(metres) == 1}
