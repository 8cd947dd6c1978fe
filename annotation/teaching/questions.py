"""What annotators asked and noted, gathered in one place, and the lead's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import words
from mihakk.annotation.screens.labelling import DIRECTION, template_names
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.schemas.guideline import AskedQuestion, LeadAnswer
from mihakk.schemas.record import Language


def asked_questions(stores: Stores) -> list[AskedQuestion]:
    """Every note of decisions, answers, calibration and skipped tasks, open ones first, each text once."""
    answers: dict[str, list[str]] = defaultdict(list)
    for row in stored(stores.answers, LeadAnswer):
        if row.question:
            answers[row.question].append(row.answer)
    found: dict[str, AskedQuestion] = {}
    for note in words(stores):
        if note.kind not in ("note", "skipped") or not (said := " ".join(note.text.split())):
            continue
        name = f"q-{digest([note.template, note.subject, said])[:10]}"
        found.setdefault(
            name,
            AskedQuestion(
                id=name,
                template=note.template,
                language=note.language,
                subject=note.subject,
                text=said,
                annotator=note.annotator if note.kind == "note" else "",
                answers=tuple(answers[name]),
            ),
        )
    return sorted(found.values(), key=lambda one: (bool(one.answers), one.template, one.subject, one.id))


def answer_question(
    stores: Stores,
    question: str,
    answer: str,
    *,
    now: datetime,
    template: str = "",
    languages: Sequence[Language] = (),
    substantial: bool = False,
) -> LeadAnswer:
    """Adds the lead's answer; the next push shows it in the instructions, as a new version of the guideline.

    Args:
        question: Its id; `rule` for a rule that nobody asked for, which needs the template.
        languages: Screens it is shown on; by default that of the question, of a rule all.
        substantial: It changes how to judge: calibration is asked again.

    Raises:
        UsageError: There is no such question or template, or nothing is answered.
    """
    if not answer.strip():
        raise UsageError("the answer is empty: write what people should read")
    known = {one.id: one for one in asked_questions(stores)}
    if question == "rule":
        if template not in template_names():
            raise UsageError(f"a rule needs --template, one of {', '.join(template_names())}")
    elif (one := known.get(question)) is not None:
        template = one.template
        own = next((language for language in DIRECTION if language == one.language), None)
        languages = languages or ((own,) if own else ())
    else:
        raise UsageError(
            f"there is no question {question!r}: `mihakk review questions` lists them with their ids"
        )
    row = LeadAnswer(
        question="" if question == "rule" else question,
        template=template,
        languages=tuple(languages),
        answer=answer.strip(),
        substantial=substantial,
        answered_at=now,
    )
    add(stores.answers, LeadAnswer, [row])
    return row
