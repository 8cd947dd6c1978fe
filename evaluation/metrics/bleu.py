"""BLEU as sacrebleu counts it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics._overlap import add_up, from_counts, texts
from evaluation.metrics.metric import Case, Options, Scored, metric


@cache
def _bleu() -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU()


def _total(counts: NDArray[np.float64], _: Options) -> float:
    return from_counts(_bleu(), counts)


@metric(
    title="BLEU",
    kinds=("answer", "explanation"),
    methods=("written",),
    high=100.0,
    libraries=("sacrebleu",),
    extra="eval",
    options={"tok": "13a", "smooth": "exp", "case": "mixed", "eff": "no"},
    total=_total,
)
def bleu(case: Case) -> Scored:
    """Corpus BLEU-4 against the reference; verse by verse for an explained poem, a missing verse being empty.

    The figure of many answers is that of their summed counts, not the mean of theirs.
    """
    counts = add_up(_bleu(), *texts(case))
    return Scored(from_counts(_bleu(), counts), {"statistics": counts})
