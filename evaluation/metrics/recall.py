"""Whether a line was recalled."""

from __future__ import annotations

from mihakk.evaluation.metrics._recall import distance, nearest, published_fold, published_gold
from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.evaluation.reading import read_strict_tag
from mihakk.schemas.evaluation import Question


def _recalled(question: Question) -> bool:
    return question.ability == "recall"


@metric(title="Recall", kinds=("answer",), methods=("written",), when=_recalled)
def recall(case: Case) -> Scored:
    """1 where the line is complete or in part what stands in the source, by its folded letters.

    Complete: at most 1 edit (2 from 40 letters, 3 from 80); in part: at most one in five letters. Spaces,
    marks and letter variants do not count. The nearest accepted answer does.
    """
    given, found = nearest(case)
    label = found.label if given else "none"
    detail = {"label": label, "edits": found.edits, "format_ok": case.reading.format_ok}
    return Scored(float(label != "none"), detail)


@metric(title="Recall, as published", kinds=("answer",), methods=("written",), when=_recalled, raw=True)
def recall_compat(case: Case) -> Scored:
    """GhazalBench's own rule: the whole reply is one closed answer tag, few letter variants are folded."""
    question = case.question
    reading = read_strict_tag(case.reply)
    given = published_fold(reading.text, question.language)
    found = distance(given, published_gold(question.answer, question.language))
    detail = {"label": found.label, "edits": found.edits, "cer": found.cer, "format_ok": reading.format_ok}
    return Scored(float(found.label != "none"), detail)
