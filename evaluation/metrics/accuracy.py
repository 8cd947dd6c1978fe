"""Accuracy of choices."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.evaluation.reading import read_likelihoods
from mihakk.machinery.text import key
from mihakk.schemas.evaluation import Question


def single(question: Question) -> bool:
    """Whether one option is to be chosen."""
    return not question.multiple


@metric(title="Accuracy", kinds=("choice",), when=single)
def accuracy(case: Case) -> Scored:
    """1 where the option chosen is a right one; by likelihood, the most likely label."""
    return chosen(case.question, case.reading.picks)


@metric(title="Accuracy, by characters", kinds=("choice",), methods=("likelihood",), when=single)
def accuracy_by_characters(case: Case) -> Scored:
    """Accuracy where each label's likelihood is divided by its length in code points (QIMMA's code).

    A label of two code points (هـ) is favoured by it: kept to reproduce published figures.
    """
    return chosen(case.question, read_likelihoods(by_characters(case), case.question.labels).picks)


def by_characters(case: Case) -> list[float]:
    """Each label's likelihood divided by its length in code points."""
    return [one / len(label) for one, label in zip(case.likelihoods, case.question.labels, strict=True)]


def chosen(question: Question, picks: tuple[int, ...]) -> Scored:
    """The score of a pick, with what figures over many answers need of it."""
    pick = picks[0] if picks else None
    detail: dict[str, Any] = {"pick": pick, "gold": question.gold, "options": len(question.options)}
    if pick is not None:
        detail["option"] = content(question.options[pick], question.language)
        if question.option_kinds and pick not in question.gold:
            detail["kind"] = question.option_kinds[pick]
    return Scored(float(pick in question.gold), detail)


@lru_cache(maxsize=1 << 16)
def content(option: str, language: Any) -> str:
    """Names an option by its words, wherever it stands among the others."""
    return hashlib.blake2b((key(option, language) or option).encode(), digest_size=4).hexdigest()
