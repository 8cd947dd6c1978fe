"""BLEU and chrF of verse explanations as Fann or Flop counts them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from mihakk.evaluation.metrics._overlap import bleu_of_tokens, fann_or_flop_fold, fann_or_flop_tokens
from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.evaluation.reading.verses import json_pieces

_POEMS: Final[dict[str, Any]] = {"kinds": ("explanation",), "methods": ("written",)}
_BLEU: Final = {**_POEMS, "libraries": ("camel-tools", "sacrebleu"), "extra": "metrics"}


@metric(title="BLEU per poem", **_BLEU)
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


@metric(title="BLEU per poem, as published", raw=True, **_BLEU)
def fannorflop_bleu_compat(case: Case) -> Scored:
    """The published script: explanations taken in order, two merged where there are too many, times coverage.

    A missing one stands as an empty text and lowers coverage as well; a reply that is no JSON is left out.
    """
    written = _in_order(case)
    if not written:
        return _LEFT_OUT
    coverage = sum(map(bool, written)) / len(written)
    return Scored(_bleu(written, case.question.explanations) * coverage, {"coverage": coverage})


@metric(
    title="chrF per poem, as published",
    libraries=("sacrebleu",),
    extra="eval",
    options={"nc": "6", "nw": "0"},
    raw=True,
    **_POEMS,
)
def fannorflop_chrf_compat(case: Case) -> Scored:
    """The published script: chrF (no words) over a poem's verse pairs in order, diacritics removed.

    A missing explanation stands as an empty text; a reply that is no JSON is left out.
    """
    written = _in_order(case)
    if not written:
        return _LEFT_OUT
    references = [fann_or_flop_fold(one) for one in case.question.explanations]
    return Scored(float(_chrf().corpus_score(written, [references]).score) / 100, {})


_LEFT_OUT: Final = Scored(None, {"dropped": "no JSON"})


def in_order(case: Case) -> list[tuple[str, str]]:
    """Explanations of verses beside those of a JSON reply, folded, in order; the longer list is cut."""
    references = map(fann_or_flop_fold, case.question.explanations)
    return list(zip(references, _explained(case), strict=False))


def _in_order(case: Case) -> list[str]:
    """The explanations of a JSON reply, folded, one a verse by their order alone; none without JSON."""
    verses = len(case.question.explanations)
    written = reconciled(_explained(case), verses)
    return written + [""] * (verses - len(written)) if written else []


def _explained(case: Case) -> list[str]:
    """The explanations of a JSON reply, folded, as many as it has."""
    pieces, _ = json_pieces(case.reply)
    return [fann_or_flop_fold(piece.text) for piece in pieces]


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


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=0)
