"""What annotators asked and noted, gathered in one place, and the lead's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from annotation.decisions.store import add, stored
from annotation.decisions.stores import Stores
from annotation.screens.labelling import DIRECTION, template_names
from annotation.screens.ratings import Label
from annotation.teaching.page import template as page_template
from mihakk.errors import UsageError
from mihakk.ids import digest
from schemas.calibration import CalibrationAnswer
from schemas.guideline import AskedQuestion, LeadAnswer
from schemas.record import Language
from schemas.rejection import Rejection
from schemas.review import Review

SKIPPED = "skipped_"


def asked_questions(stores: Stores) -> list[AskedQuestion]:
    """Every note of decisions, answers, calibration and skipped tasks, open ones first, each text once."""
    answers: dict[str, list[str]] = defaultdict(list)
    for row in stored(stores.answers, LeadAnswer):
        if row.question:
            answers[row.question].append(row.answer)
    found: dict[str, AskedQuestion] = {}
    for one in _notes(stores):
        found.setdefault(one.id, one.model_copy(update={"answers": tuple(answers[one.id])}))
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
    asked = ""
    if question == "rule":
        if template not in template_names():
            raise UsageError(f"a rule needs --template, one of {', '.join(template_names())}")
    elif (one := known.get(question)) is not None:
        asked, template = one.text, one.template
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
        asked=asked,
        answer=answer.strip(),
        substantial=substantial,
        answered_at=now,
    )
    add(stores.answers, LeadAnswer, [row])
    return row


def questions_page(name: str, questions: Sequence[AskedQuestion]) -> str:
    """All questions and answers as one HTML page."""
    return page_template("questions.html.jinja").render(name=name, questions=questions)


def _notes(stores: Stores) -> Iterator[AskedQuestion]:
    for row in stored(stores.decisions, Review):
        yield from _note(row.project, row.item.partition("-")[0], row.item, row.notes, row.annotator)
    for label in stored(stores.labels, Label):
        if label.name == "notes":
            yield from _note(label.template, "", label.subject, label.value, label.annotator)
    for given in stored(stores.calibrated, CalibrationAnswer):
        notes = given.values.get("notes", "")
        yield from _note(given.template, given.language, given.subject, notes, given.annotator)
    for skipped in stored(stores.rejected, Rejection):
        if skipped.reason.startswith(SKIPPED):
            _, template, language = (*skipped.source.split(":"), "", "")[:3]
            yield from _note(template, language, skipped.record, skipped.detail)


def _note(
    template: str, language: str, subject: str, text: str, annotator: str = ""
) -> Iterator[AskedQuestion]:
    if said := " ".join(text.split()):
        yield AskedQuestion(
            id=f"q-{digest([template, subject, said])[:10]}",
            template=template,
            language=language if language in DIRECTION else "",
            subject=subject,
            text=said,
            annotator=annotator,
        )
