"""BLEU of verse explanations as Fann or Flop counts it."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.metrics._overlap import bleu_of_tokens, fann_or_flop_fold, fann_or_flop_tokens
from evaluation.metrics.metric import Case, Scored, metric
from evaluation.reading.verses import json_pieces


@metric(
    title="BLEU a poem",
    kinds=("explanation",),
    methods=("written",),
    libraries=("camel-tools", "sacrebleu"),
    extra="metrics",
)
def fannorflop_bleu(case: Case) -> Scored:
    """Smoothed BLEU over the verses a reply explains, times the share of verses it explains.

    Diacritics removed, NFKC, camel-tools' tokenizer; a verse without an explanation counts 0.
    """
    pairs = [
        (written, reference)
        for written, reference in zip(case.reading.verses, case.question.explanations, strict=True)
        if written
    ]
    coverage = len(pairs) / len(case.question.explanations)
    found = _bleu([written for written, _ in pairs], [reference for _, reference in pairs])
    return Scored(found * coverage, {"coverage": coverage})


@metric(
    title="BLEU a poem, as published",
    kinds=("explanation",),
    methods=("written",),
    libraries=("camel-tools", "sacrebleu"),
    extra="metrics",
    raw=True,
)
def fannorflop_bleu_compat(case: Case) -> Scored:
    """The published script: explanations taken in order, two merged where there are too many, times coverage.

    A missing one stands as an empty text and lowers coverage as well; a reply that is no JSON is left out.
    """
    references = case.question.explanations
    pieces, _ = json_pieces(case.reply)
    if not pieces:
        return Scored(None, {"dropped": "no JSON"})
    written = reconciled([fann_or_flop_fold(piece.text) for piece in pieces], len(references))
    written += [""] * (len(references) - len(written))
    coverage = sum(map(bool, written)) / len(written)
    return Scored(_bleu(written, references) * coverage, {"coverage": coverage})


def reconciled(written: list[str], verses: int) -> list[str]:
    """As many explanations as verses at most; every two are merged where there are up to twice as many.

    What the published script does: six explanations of five verses come out as three, each out of its place.
    """
    if verses < len(written) <= 2 * verses:
        written = [" ".join(written[place : place + 2]) for place in range(0, len(written), 2)]
    return written[:verses]


def _bleu(written: Sequence[str], references: Sequence[str]) -> float:
    if not written:
        return 0.0
    found = bleu_of_tokens(
        [fann_or_flop_tokens(one) for one in written],
        [fann_or_flop_tokens(one) for one in references],
        smooth=True,
    )
    return found or 0.0
