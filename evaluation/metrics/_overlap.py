"""Words and letters shared with a reference, by sacrebleu; texts prepared as two published protocols do."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from math import exp, log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.metrics.metric import Case, not_installed

_FANN_OR_FLOP_MARKS: Final = re.compile("[\u0617-\u061a\u064b-\u0652]")
_BALSAM_SIGNS: Final = "`÷×؛<>_()*&^%][ـ،/:\"؟.,'{}~¦+|!…–"


def texts(case: Case) -> tuple[list[str], list[list[str]]]:
    """What was written and, beside each text, its references: one pair, or one a verse of a poem."""
    question = case.question
    if question.kind == "explanation":
        written = [one or "" for one in case.reading.verses] or [""] * len(question.explanations)
        return written, [[reference] for reference in question.explanations]
    return [case.reading.text], [[question.answer, *question.accepted]]


def add_up(scorer: Any, written: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """Sum of the counts that a corpus figure of sacrebleu is made of."""
    counts = [_counts(scorer, text, several) for text, several in zip(written, references, strict=True)]
    return [int(total) for total in np.sum(counts, axis=0)]


def _counts(scorer: Any, text: str, references: Sequence[str]) -> list[float]:
    # sacrebleu's own bootstrap adds up what this gives; its public calls give the figure alone.
    found: list[list[float]] = scorer._extract_corpus_statistics([text], [[one] for one in references])
    return found[0]


def from_counts(scorer: Any, counts: Sequence[float] | NDArray[np.float64]) -> float:
    """sacrebleu's figure (0 to 100) from a sum of counts."""
    return float(scorer._aggregate_and_compute([[round(count) for count in counts]]).score)


def bleu_of_tokens(written: Sequence[str], references: Sequence[str], *, smooth: bool) -> float | None:
    """BLEU-4 (0 to 1) over texts whose words stand between spaces; None where nothing was written.

    Smoothed as in C.-Y. Lin and F. Och, 2004: one is added to every count, that of single words too.
    """
    found = _plain_bleu().corpus_score(list(written), [list(references)])
    if not found.sys_len or not found.ref_len:
        return None
    more = 1 if smooth else 0
    shares = [
        (right + more) / (all_of + more) if all_of + more else 0.0
        for right, all_of in zip(found.counts, found.totals, strict=True)
    ]
    if min(shares) == 0:
        return 0.0
    brevity = 1.0 if found.sys_len > found.ref_len else exp(1 - found.ref_len / found.sys_len)
    return exp(sum(map(log, shares)) / len(shares)) * brevity


@cache
def _plain_bleu() -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize="none", smooth_method="none", force=True)


def fann_or_flop_fold(text: str) -> str:
    """Text as Fann or Flop compares it: no diacritics, then NFKC."""
    return " ".join(unicodedata.normalize("NFKC", _FANN_OR_FLOP_MARKS.sub("", text)).split())


def fann_or_flop_tokens(text: str) -> str:
    """Its words and marks between spaces, by camel-tools' tokenizer.

    Its code asks for a segmenter first, which no release of camel-tools has, and then for this.
    """
    try:
        from camel_tools.tokenizers.word import simple_word_tokenize
    except ImportError as error:
        raise not_installed("camel-tools") from error
    return " ".join(simple_word_tokenize(fann_or_flop_fold(text)))


def balsam_text(text: str, *, is_reply: bool, strip: bool) -> str:
    """Text as BALSAM compares it: spaces around marks, braces of replies as brackets."""
    text = _balsam_marks().sub(r" \1 ", text)
    if is_reply:
        text = text.replace("{", "[").replace("}", "]")
    if strip:
        try:
            from pyarabic import araby
        except ImportError as error:
            raise not_installed("pyarabic") from error
        text = araby.strip_diacritics(text)
    return text.strip()


@cache
def _balsam_marks() -> re.Pattern[str]:
    marks = [chr(i) for i in range(sys.maxunicode) if unicodedata.category(chr(i)).startswith("P")]
    return re.compile(f"([{re.escape(''.join(marks) + _BALSAM_SIGNS)}])")
