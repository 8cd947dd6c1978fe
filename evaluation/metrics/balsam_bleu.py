"""BLEU of answers as BALSAM counts it."""

from __future__ import annotations

from evaluation.metrics._overlap import balsam_text, bleu_of_tokens
from evaluation.metrics.metric import Case, Scored, metric


@metric(
    title="BLEU an answer",
    kinds=("answer",),
    methods=("written",),
    libraries=("pyarabic", "sacrebleu"),
    extra="metrics",
)
def balsam_bleu(case: Case) -> Scored:
    """BLEU-4 of each answer without smoothing; marks stand apart, diacritics are stripped (PyArabic)."""
    return Scored(_bleu(case.reading.text, case.question.answer) or 0.0, {})


@metric(
    title="BLEU an answer, as published",
    kinds=("answer",),
    methods=("written",),
    libraries=("pyarabic", "sacrebleu"),
    extra="metrics",
    raw=True,
)
def balsam_bleu_compat(case: Case) -> Scored:
    """The published script: the raw reply, and pairs of which one side is empty are left out of the mean."""
    found = _bleu(case.reply, case.question.answer)
    return Scored(found, {} if found is not None else {"dropped": "empty"})


def _bleu(reply: str, reference: str) -> float | None:
    return bleu_of_tokens(
        [balsam_text(reply, is_reply=True, strip=True)],
        [balsam_text(reference, is_reply=False, strip=True)],
        smooth=False,
    )
