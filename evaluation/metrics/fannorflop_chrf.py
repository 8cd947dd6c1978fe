"""chrF of verse explanations as Fann or Flop counts it."""

from __future__ import annotations

from functools import cache
from typing import Any

from evaluation.metrics._overlap import fann_or_flop_fold
from evaluation.metrics.fannorflop_bleu import reconciled
from evaluation.metrics.metric import Case, Scored, metric
from evaluation.reading.verses import json_pieces


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=0)


@metric(
    title="chrF a poem, as published",
    kinds=("explanation",),
    methods=("written",),
    libraries=("sacrebleu",),
    extra="eval",
    options={"nc": "6", "nw": "0"},
    raw=True,
)
def fannorflop_chrf_compat(case: Case) -> Scored:
    """The published script: chrF (no words) over a poem's verse pairs in order, diacritics removed.

    A missing explanation stands as an empty text; a reply that is no JSON is left out.
    """
    references = [fann_or_flop_fold(one) for one in case.question.explanations]
    pieces, _ = json_pieces(case.reply)
    if not pieces:
        return Scored(None, {"dropped": "no JSON"})
    written = reconciled([fann_or_flop_fold(piece.text) for piece in pieces], len(references))
    written += [""] * (len(references) - len(written))
    return Scored(float(_chrf().corpus_score(written, [references]).score) / 100, {})
