"""ROUGE-Lsum of answers as BALSAM counts it."""

from __future__ import annotations

from functools import cache
from typing import Any

from evaluation.metrics._overlap import balsam_text
from evaluation.metrics.metric import Case, Scored, metric


class _Spaces:
    """Splits at spaces: rouge-score's own tokenizer knows Latin letters alone."""

    def tokenize(self, text: str) -> list[str]:
        """The words of the text."""
        return text.split()


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeLsum"], use_stemmer=False, tokenizer=_Spaces())


@metric(
    title="ROUGE-Lsum",
    kinds=("answer",),
    methods=("written",),
    libraries=("rouge-score",),
    extra="eval",
)
def balsam_rouge(case: Case) -> Scored:
    """ROUGE-Lsum (F1) of each answer; marks stand apart, words are split at spaces, diacritics count."""
    return Scored(_rouge(case.reading.text, case.question.answer), {})


@metric(
    title="ROUGE-Lsum, as published",
    kinds=("answer",),
    methods=("written",),
    libraries=("rouge-score",),
    extra="eval",
    raw=True,
)
def balsam_rouge_compat(case: Case) -> Scored:
    """The published script: ROUGE-Lsum of the raw reply, whatever form it has."""
    return Scored(_rouge(case.reply, case.question.answer), {})


def _rouge(reply: str, reference: str) -> float:
    found = _scorer().score(
        target=balsam_text(reference, is_reply=False, strip=False),
        prediction=balsam_text(reply, is_reply=True, strip=False),
    )
    return float(found["rougeLsum"].fmeasure)
