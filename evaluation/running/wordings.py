"""Further wordings of a release's questions (`wordings.yaml`), so that figures hang less on one phrasing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.questions import listed
from mihakk.configs import load_config
from schemas.evaluation import AnswerKind, Question
from schemas.record import Language, Record


class Wordings(Record):
    """`wordings.yaml`."""

    version: str
    templates: dict[AnswerKind, dict[Language, tuple[str, str]]]


WORDINGS: Final = load_config(Path(__file__).with_name("wordings.yaml"), Wordings)


def reworded(question: Question, row: Mapping[str, Any], wording: int) -> str:
    """The question of a release's row in wording 1 or 2; 0 is the release's own prompt."""
    template = WORDINGS.templates[question.kind][question.language][wording - 1]
    context = row.get("context") or ""
    return template.format(
        question=row["question"],
        context=f"{context}\n\n" if context else "",
        options=listed(question.labels, question.options),
        labels=(", " if question.language == "en" else "، ").join(question.labels),
        verses="\n".join(f"{number}. {verse}" for number, verse in enumerate(question.verses, 1)),
    )
