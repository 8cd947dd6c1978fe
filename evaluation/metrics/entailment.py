"""Textual entailment between reference and reply, by a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.metrics._models import BATCH, cross_encoder, means, pairs
from mihakk.evaluation.metrics.fannorflop import in_order
from mihakk.evaluation.metrics.metric import Case, Options, Scored, batch_metric
from mihakk.machinery.errors import UsageError

_FACTS: Final[dict[str, Any]] = {
    "kinds": ("answer", "explanation"),
    "options": {"model": "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli", "revision": "main"},
    "libraries": ("sentence-transformers", "transformers", "torch"),
    "extra": "metrics",
}


@batch_metric(title="Entailment", **_FACTS)
def entailment(cases: Sequence[Case], options: Options) -> list[Scored]:
    """Chance that the reference entails the reply, verse by verse; a missing verse counts 0.

    The other direction is kept apart.
    """
    todo = list(pairs(cases, options))
    forth = _chances([(reference, written) for _, reference, written in todo], options)
    back = _chances([(written, reference) for _, reference, written in todo], options)
    values = means([(place, one) for (place, _, _), one in zip(todo, forth, strict=True)], cases, options)
    others = means([(place, one) for (place, _, _), one in zip(todo, back, strict=True)], cases, options)
    return [
        Scored(round(value, 6), {"to_reference": round(other, 6)})
        for value, other in zip(values, others, strict=True)
    ]


def _pooled(sums: NDArray[np.float64], _: Options) -> float:
    return float(sums[0] / sums[1]) if sums[1] else float("nan")


@batch_metric(
    title="Entailment, as published",
    version="2",
    raw=True,
    total=_pooled,
    **{**_FACTS, "kinds": ("explanation",)},
)
def entailment_compat(cases: Sequence[Case], options: Options) -> list[Scored]:
    """Fann or Flop's script: a JSON reply's explanations in order, both directions averaged.

    The figure of many poems is the mean over all their pairs; verses without an explanation are none.
    """
    todo = [
        (place, reference, written)
        for place, case in enumerate(cases)
        for reference, written in in_order(case)
        if reference and written
    ]
    forth = _chances([(reference, written) for _, reference, written in todo], options)
    back = _chances([(written, reference) for _, reference, written in todo], options)
    own: list[list[float]] = [[] for _ in cases]
    for (place, _, _), one, other in zip(todo, forth, back, strict=True):
        own[place].append((one + other) / 2)
    return [
        Scored(
            round(sum(each) / len(each), 6) if each else None,
            {"statistics": [round(sum(each), 6), len(each)], **({} if each else {"dropped": "no pair"})},
        )
        for each in own
    ]


def _chances(sentences: list[tuple[str, str]], options: Options) -> list[float]:
    """Chance that the first text of each pair entails the second."""
    if not sentences:
        return []
    network = cross_encoder(options["model"], options["revision"])
    labels = {str(name).lower(): int(place) for name, place in network.model.config.label2id.items()}
    if "entailment" not in labels:
        raise UsageError(f"{options['model']} is not an entailment model: its labels are {', '.join(labels)}")
    logits = np.asarray(
        network.predict(sentences, batch_size=BATCH, apply_softmax=False, show_progress_bar=False),
        dtype=float,
    )
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return [float(one) for one in (odds / odds.sum(axis=1, keepdims=True))[:, labels["entailment"]]]
