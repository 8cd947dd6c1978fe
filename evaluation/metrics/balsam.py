"""BLEU and ROUGE-Lsum of answers as BALSAM counts them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from mihakk.evaluation.metrics._overlap import balsam_text, bleu_of_tokens
from mihakk.evaluation.metrics.metric import Case, Scored, metric

_ANSWERS: Final[dict[str, Any]] = {"kinds": ("answer",), "methods": ("written",)}
_BLEU: Final = {**_ANSWERS, "libraries": ("pyarabic", "sacrebleu"), "extra": "metrics"}
_ROUGE: Final = {**_ANSWERS, "libraries": ("rouge-score",), "extra": "eval"}


@metric(title="BLEU per answer", **_BLEU)
def balsam_bleu(case: Case) -> Scored:
    """BLEU-4 of each answer without smoothing; marks stand apart, diacritics are stripped (PyArabic)."""
    return Scored(_bleu(case.reading.text, case.question.answer) or 0.0, {})


@metric(title="BLEU per answer, as published", raw=True, **_BLEU)
def balsam_bleu_compat(case: Case) -> Scored:
    """The published script: the raw reply, and pairs of which one side is empty are left out of the mean."""
    found = _bleu(case.reply, case.question.answer)
    return Scored(found, {} if found is not None else {"dropped": "empty"})


@metric(title="ROUGE-Lsum", **_ROUGE)
def balsam_rouge(case: Case) -> Scored:
    """ROUGE-Lsum (F1) of each answer; marks stand apart, words are split at spaces, diacritics count."""
    return Scored(_rouge(case.reading.text, case.question.answer), {})


@metric(title="ROUGE-Lsum, as published", raw=True, **_ROUGE)
def balsam_rouge_compat(case: Case) -> Scored:
    """The published script: ROUGE-Lsum of the raw reply, whatever form it has."""
    return Scored(_rouge(case.reply, case.question.answer), {})


def _bleu(reply: str, reference: str) -> float | None:
    return bleu_of_tokens(
        [balsam_text(reply, is_reply=True, strip=True)],
        [balsam_text(reference, is_reply=False, strip=True)],
        smooth=False,
    )


def _rouge(reply: str, reference: str) -> float:
    found = _rouge_scorer().score(
        target=balsam_text(reference, is_reply=False, strip=False),
        prediction=balsam_text(reply, is_reply=True, strip=False),
    )
    return float(found["rougeLsum"].fmeasure)


@cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeLsum"], use_stemmer=False, tokenizer=_Spaces())


class _Spaces:
    """Splits at spaces: rouge-score's own tokenizer knows Latin letters alone."""

    def tokenize(self, text: str) -> list[str]:
        """The words of the text."""
        return text.split()
