"""BLEU and chrF++ as sacrebleu counts them: of many answers by their summed counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.metrics._overlap import add_up, from_counts, texts
from mihakk.evaluation.metrics.metric import Case, Options, Scored, metric

_FACTS: Final[dict[str, Any]] = {
    "kinds": ("answer", "explanation"),
    "methods": ("written",),
    "high": 100.0,
    "libraries": ("sacrebleu",),
    "extra": "eval",
}


@cache
def _bleu() -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU()


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=2)


def _total(scorer: Callable[[], Any]) -> Callable[[NDArray[np.float64], Options], float]:
    return lambda counts, _: from_counts(scorer(), counts)


def _scored(scorer: Any, case: Case) -> Scored:
    counts = add_up(scorer, *texts(case))
    return Scored(from_counts(scorer, counts), {"statistics": counts})


@metric(
    title="BLEU",
    options={"tok": "13a", "smooth": "exp", "case": "mixed", "eff": "no"},
    total=_total(_bleu),
    **_FACTS,
)
def bleu(case: Case) -> Scored:
    """Corpus BLEU-4 against the reference; verse by verse for an explained poem, a missing verse being empty.

    The figure of many answers is that of their summed counts, not the mean of theirs.
    """
    return _scored(_bleu(), case)


@metric(
    title="chrF++",
    options={"nc": "6", "nw": "2", "case": "mixed", "eff": "yes", "space": "no"},
    total=_total(_chrf),
    **_FACTS,
)
def chrf(case: Case) -> Scored:
    """Corpus chrF++ against the reference; verse by verse for an explained poem, a missing verse being empty.

    The figure of many answers is that of their summed counts, not the mean of theirs.
    """
    return _scored(_chrf(), case)
