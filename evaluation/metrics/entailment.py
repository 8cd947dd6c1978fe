"""Textual entailment between reference and reply, by a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mihakk.evaluation.metrics._models import BATCH, cross_encoder, expected, means, pairs
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
    todo = list(pairs(cases))
    forth = _chances([(reference, written) for _, reference, written in todo], options)
    back = _chances([(written, reference) for _, reference, written in todo], options)
    values = means([(place, one) for (place, _, _), one in zip(todo, forth, strict=True)], cases)
    others = means([(place, one) for (place, _, _), one in zip(todo, back, strict=True)], cases)
    return [
        Scored(round(value, 6), {"to_reference": round(other, 6)})
        for value, other in zip(values, others, strict=True)
    ]


@batch_metric(title="Entailment, as published", raw=True, **_FACTS)
def entailment_compat(cases: Sequence[Case], options: Options) -> list[Scored]:
    """Fann or Flop's script: both directions averaged, over the verses explained and no others."""
    scored = entailment(cases, options)
    found = []
    for case, one in zip(cases, scored, strict=True):
        there = sum(1 for _ in pairs([case]))
        if not there or one.value is None:
            found.append(Scored(None, {"dropped": "nothing explained"}))
            continue
        both = (one.value + one.detail["to_reference"]) / 2
        found.append(Scored(round(both * expected(case) / there, 6), {"verses": there}))
    return found


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
