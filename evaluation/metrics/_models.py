"""Models that metrics ask: loaded once, by name or folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.metrics.metric import Case, not_installed
from mihakk.machinery.errors import UsageError

BATCH = 32
LONGEST = 512
"""Tokens."""


def pairs(cases: Sequence[Case]) -> Iterator[tuple[int, str, str]]:
    """(place of the case, reference, what was written) of every pair to compare; none for what is missing."""
    for place, case in enumerate(cases):
        if case.question.kind == "explanation":
            for written, reference in zip(case.reading.verses, case.question.explanations, strict=False):
                if written:
                    yield place, reference, written
        elif case.reading.text:
            yield place, case.question.answer, case.reading.text


def expected(case: Case) -> int:
    """How many pairs a case has where nothing is missing."""
    return len(case.question.explanations) if case.question.kind == "explanation" else 1


@lru_cache(maxsize=2)
def cross_encoder(model: str, revision: str) -> Any:
    """A cross-encoder for pairs of texts.

    Raises:
        UsageError: sentence-transformers is missing, or the model is not there.
    """
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise not_installed("sentence-transformers") from error
    try:
        return CrossEncoder(model, revision=revision, max_length=LONGEST)
    except (OSError, ValueError) as error:
        raise UsageError(f"the model {model!r} can't be loaded: {error}") from error


@lru_cache(maxsize=2)
def encoder(model: str, revision: str, layer: int) -> Any:
    """Tokenizer and network of a model, on the GPU where there is one.

    Raises:
        UsageError: transformers is missing, the model is not there, or has fewer layers.
    """
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise not_installed("transformers and torch") from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision)
        network = AutoModel.from_pretrained(model, revision=revision)
    except (OSError, ValueError) as error:
        raise UsageError(f"the model {model!r} can't be loaded: {error}") from error
    layers = network.config.num_hidden_layers
    if not 1 <= layer <= layers:
        raise UsageError(f"{model} has {layers} layers: layer {layer} can't be asked for")
    return tokenizer, network.to("cuda" if torch.cuda.is_available() else "cpu")


def means(values: Sequence[tuple[int, float]], cases: Sequence[Case]) -> list[float]:
    """Mean of each case over all pairs it should have; those that are missing count 0."""
    sums: NDArray[np.float64] = np.zeros(len(cases))
    for place, value in values:
        sums[place] += value
    return [float(total) / expected(case) for total, case in zip(sums, cases, strict=True)]
