"""chrF++ as sacrebleu counts it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics._overlap import add_up, from_counts, texts
from evaluation.metrics.metric import Case, Options, Scored, metric


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=2)


def _total(counts: NDArray[np.float64], _: Options) -> float:
    return from_counts(_chrf(), counts)


@metric(
    title="chrF++",
    kinds=("answer", "explanation"),
    methods=("written",),
    high=100.0,
    libraries=("sacrebleu",),
    extra="eval",
    options={"nc": "6", "nw": "2", "case": "mixed", "eff": "yes", "space": "no"},
    total=_total,
)
def chrf(case: Case) -> Scored:
    """Corpus chrF++ against the reference; verse by verse for an explained poem, a missing verse being empty.

    The figure of many answers is that of their summed counts, not the mean of theirs.
    """
    counts = add_up(_chrf(), *texts(case))
    return Scored(from_counts(_chrf(), counts), {"statistics": counts})
