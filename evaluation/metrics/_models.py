"""Models that metrics ask: loaded once, by name or folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.metrics.metric import Case, Options, not_installed
from mihakk.machinery.errors import UsageError

BATCH = 32
LONGEST = 512
"""Tokens."""


def pairs(cases: Sequence[Case], options: Options) -> Iterator[tuple[int, str, str]]:
    """(place of the case, reference, what was written) of every pair to compare; none for what is missing.

    Of poems a pair is of the `unit` of the options: a verse, two, or all of them joined.
    """
    for place, case in enumerate(cases):
        if case.question.kind == "explanation":
            size = _size(case, options)
            references, written = case.question.explanations, case.reading.verses
            for start in range(0, len(references), size):
                said = " ".join(one for one in written[start : start + size] if one)
                if said:
                    yield place, " ".join(references[start : start + size]), said
        elif case.reading.text:
            yield place, case.question.answer, case.reading.text


def expected(case: Case, options: Options) -> int:
    """How many pairs a case has where nothing is missing."""
    if case.question.kind != "explanation":
        return 1
    return -(-len(case.question.explanations) // _size(case, options))


def _size(case: Case, options: Options) -> int:
    """Verses that are compared as one."""
    sizes = {"verse": 1, "couplet": 2, "poem": max(1, len(case.question.explanations))}
    return sizes[options.get("unit", "verse")]


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


def means(values: Sequence[tuple[int, float]], cases: Sequence[Case], options: Options) -> list[float]:
    """Mean of each case over all pairs it should have; those that are missing count 0."""
    sums: NDArray[np.float64] = np.zeros(len(cases))
    for place, value in values:
        sums[place] += value
    return [float(total) / expected(case, options) for total, case in zip(sums, cases, strict=True)]
