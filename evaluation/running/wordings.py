"""A release's questions in other words than its own prompt.

Further wordings (`wordings.yaml`), so that figures hang less on one phrasing; and the six prompt forms of
QIMMA (`forms.yaml`), chosen by what a question holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from mihakk.evaluation.questions import listed
from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack
from mihakk.schemas.evaluation import AnswerKind, Question
from mihakk.schemas.record import Language, Record

Form = Literal["mcq", "mcq_c", "mcq_i", "qa", "qa_c", "qa_f"]
_BLANK: Final = "__"


class Wordings(Record):
    """`wordings.yaml`."""

    version: str
    templates: dict[AnswerKind, dict[Language, tuple[str, str]]]


class Forms(Record):
    """`forms.yaml`."""

    version: str
    language: Language
    forms: dict[Form, str]


WORDINGS: Final = load_config(Path(__file__).with_name("wordings.yaml"), Wordings)
FORMS: Final = load_config(Path(__file__).with_name("forms.yaml"), Forms)


def reworded(question: Question, row: Mapping[str, Any], wording: int) -> str:
    """The question of a release's row in wording 1 or 2; 0 is the release's own prompt."""
    template = WORDINGS.templates[question.kind][question.language][wording - 1]
    context = row.get("context") or ""
    return template.format(
        question=row["question"],
        context=f"{context}\n\n" if context else "",
        options=listed(question.labels, question.options),
        labels=("، " if pack(question.language).script == "Arab" else ", ").join(question.labels),
        verses="\n".join(f"{number}. {verse}" for number, verse in enumerate(question.verses, 1)),
    )


def form_of(question: Question, row: Mapping[str, Any]) -> Form:
    """The form that a question is asked in.

    Raises:
        UsageError: There is none for its kind or language.
    """
    if question.language != FORMS.language or question.kind not in ("choice", "answer"):
        raise UsageError(
            f"QIMMA's forms are for choices and answers in Arabic, and {question.item} is {question.kind} in "
            f"{question.language!r}: leave such out by `languages: [ar]` and `only`"
        )
    if row.get("context"):
        return "mcq_c" if question.kind == "choice" else "qa_c"
    if question.kind == "choice":
        return "mcq_i" if _instruction(row) else "mcq"
    return "qa_f" if _BLANK in row["question"] else "qa"


def in_form(question: Question, row: Mapping[str, Any]) -> str:
    """A question's prompt in its form; `row` is the item, with `question`, `context` and `prompt`."""
    return FORMS.forms[form_of(question, row)].format(
        instruction=_instruction(row),
        context=row.get("context") or "",
        question=row["question"],
        options=listed(question.labels, question.options),
    )


def _instruction(row: Mapping[str, Any]) -> str:
    """What the item's own prompt says before its question."""
    before, found, _ = str(row["prompt"]).partition(row["question"])
    return before.strip() if found else ""
