"""BERTScore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mihakk.evaluation.metrics._models import BATCH, LONGEST, encoder, means, pairs
from mihakk.evaluation.metrics.metric import Case, Options, Scored, batch_metric

BLOCK = 512
"""Pairs whose vectors are in memory at once: with 768 dimensions and 100 tokens a text some 300 MB."""


@batch_metric(
    title="BERTScore",
    kinds=("answer", "explanation"),
    low=-1.0,
    options={"model": "aubmindlab/bert-base-arabertv02", "revision": "main", "layer": "12"},
    libraries=("transformers", "torch"),
    extra="metrics",
)
def bertscore(cases: Sequence[Case], options: Options) -> list[Scored]:
    """BERTScore F1 against the reference, verse by verse where a poem is explained; a missing verse counts 0.

    Without weights for rare words and without rescaling.
    """
    # One reference is held against many systems' replies: side by side its vectors are computed once a block.
    todo = sorted(pairs(cases, options), key=lambda pair: (len(pair[1]), pair[1], pair[0]))
    values = []
    for start in range(0, len(todo), BLOCK):
        block = todo[start : start + BLOCK]
        texts = sorted({text for _, *both in block for text in both}, key=lambda text: (len(text), text))
        vectors = dict(zip(texts, _vectors(texts, options), strict=True))
        values += [(place, _f1(vectors[written], vectors[reference])) for place, reference, written in block]
    return [Scored(round(value, 6), {}) for value in means(values, cases, options)]


def _vectors(texts: Sequence[str], options: Options) -> Iterator[tuple[Any, Any]]:
    """Unit vectors of a text's tokens, and which of them count (not those that open and close it)."""
    import torch

    layer = int(options["layer"])
    tokenizer, network = encoder(options["model"], options["revision"], layer)
    ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    special = torch.tensor([one for one in ends if one is not None], device=network.device)
    for start in range(0, len(texts), BATCH):
        some = list(texts[start : start + BATCH])
        batch = tokenizer(some, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        batch = batch.to(network.device)
        with torch.inference_mode():
            found = network(**batch, output_hidden_states=True).hidden_states[layer]
        found = torch.nn.functional.normalize(found, dim=-1)
        for vectors, ids, mask in zip(found, batch["input_ids"], batch["attention_mask"], strict=True):
            is_there = mask.bool()
            yield vectors[is_there], ~torch.isin(ids[is_there], special)


def _f1(written: tuple[Any, Any], reference: tuple[Any, Any]) -> float:
    """Each counted token's best match on the other side, averaged both ways (T. Zhang et al., 2020)."""
    similar = written[0] @ reference[0].T
    if not written[1].any() or not reference[1].any():
        return 0.0
    precision = similar.max(dim=1).values[written[1]].mean()
    recall = similar.max(dim=0).values[reference[1]].mean()
    return float(2 * precision * recall / (precision + recall))
