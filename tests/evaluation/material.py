"""Small questions and answers for the tests of evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from mihakk.evaluation.metrics.metric import Metric
from mihakk.evaluation.scoring import score_batch
from mihakk.machinery.lake.columns import from_table, to_table
from mihakk.schemas.evaluation import Answer, AskedItem, Question, Score

AR = ("أ", "ب", "ج", "د")
OPTIONS = ("كثرة الكلام", "الرجوع بالخيبة", "طول الانتظار", "السرعة")


def place(item: str = "i1", **facts: Any) -> dict[str, Any]:
    """Where an item stands."""
    return {
        "item": item,
        "content_hash": f"hash-{item}",
        "release": "demo",
        "version": "0.1.0",
        "digest": "d" * 64,
        "config": "ar_meaning_choice",
        "task": "meaning_choice",
        "language": "ar",
        "group": f"group-{item}",
        **facts,
    }


def choice(item: str = "i1", gold: int | tuple[int, ...] = 0, **facts: Any) -> Question:
    """A question with four options."""
    own = {"options": OPTIONS, "labels": AR, "gold": gold if isinstance(gold, tuple) else (gold,), **facts}
    return Question.model_validate(place(item) | {"kind": "choice"} | own)


def worded(item: str = "a1", answer: str = "الحيط", **facts: Any) -> Question:
    """A question answered in words."""
    own = {"config": "ar_completion", "task": "completion", "ability": "recall", "answer": answer, **facts}
    return Question.model_validate(place(item) | {"kind": "answer"} | own)


def explained(item: str = "e1", **facts: Any) -> Question:
    """A poem of three verses."""
    own = {
        "config": "ar_verse_explanation",
        "task": "verse_explanation",
        "verses": VERSES,
        "explanations": EXPLANATIONS,
        **facts,
    }
    return Question.model_validate(place(item) | {"kind": "explanation"} | own)


VERSES = (
    "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ بِسِقطِ اللِوى بَينَ الدَخولِ فَحَومَلِ",
    "فَتوضِحَ فَالمِقراةِ لَم يَعفُ رَسمُها لِما نَسَجَتها مِن جَنوبٍ وَشَمأَلِ",
    "تَرى بَعَرَ الآرامِ في عَرَصاتِها وَقيعانِها كَأَنَّهُ حَبُّ فُلفُلِ",
)
EXPLANATIONS = (
    "يطلب الشاعر من صاحبيه الوقوف للبكاء على الديار.",
    "لم تمح آثار الديار رغم تعاقب الريحين عليها.",
    "خلت الديار من أهلها فسكنتها الظباء.",
)


def reply_to(question: Question, reply: str = "", *, model: str = "one", **facts: Any) -> Answer:
    """An answer to a question."""
    own = {name: getattr(question, name) for name in AskedItem.model_fields}
    return Answer.model_validate(own | {"model": model, "reply": reply, "finish_reason": "stop", **facts})


def score_answers(
    answers: Sequence[Answer], questions: Mapping[str, Question], metrics: Sequence[Metric]
) -> list[Score]:
    """Every score of some answers, metric by metric."""
    batches = [
        scored
        for batch in to_table(answers, Answer).to_batches()
        for scored in score_batch(batch, questions, metrics)
    ]
    return from_table(pa.Table.from_batches(batches), Score) if batches else []
