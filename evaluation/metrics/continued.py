"""What probes for contamination look for."""

from __future__ import annotations

from typing import Final

from mihakk.evaluation.metrics.metric import Case, Scored, metric
from mihakk.machinery.text import key
from mihakk.schemas.evaluation import Question
from mihakk.schemas.record import Language

LEAST_CONTINUED: Final = 50
"""Characters of the true text, folded, that a reply has to begin with."""


def _is_cut(question: Question) -> bool:
    return question.task in {"probe_continuation", "probe_twin"}


def _is_canary(question: Question) -> bool:
    return question.task == "probe_canary"


@metric(title="Continued", kinds=("answer",), methods=("written",), when=_is_cut, probe=True, raw=True)
def continued(case: Case) -> Scored:
    """1 where the reply begins with the next 50 letters of the item's text, folded."""
    question = case.question
    return Scored(float(continues(case.reply, question.answer, question.language)), {})


@metric(title="Canary named", kinds=("answer",), methods=("written",), when=_is_canary, probe=True, raw=True)
def canary_named(case: Case) -> Scored:
    """1 where the reply holds the canary's identifier: proof that the system was trained on the release."""
    return Scored(float(names_canary(case.reply, case.question.answer)), {})


def names_canary(reply: str, guid: str) -> bool:
    """Whether a reply holds the identifier, which nobody can guess: proof of training on the benchmark."""
    return _plain(guid) in _plain(reply)


def continues(reply: str, hidden: str, language: Language) -> bool:
    """Whether a reply begins with the next 50 characters of the text, by its folded letters."""
    expected = key(hidden, language)[:LEAST_CONTINUED]
    return len(expected) == LEAST_CONTINUED and key(reply, language).startswith(expected)


def _plain(text: str) -> str:
    """Text without what a model may write otherwise: case, hyphens, spaces."""
    return "".join(char for char in text.lower() if char.isalnum())
