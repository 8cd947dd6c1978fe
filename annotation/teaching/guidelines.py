"""Guidelines: a template's instructions with the lead's answers, numbered whenever they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape

from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.labelling import DIRECTION, labelling
from mihakk.annotation.teaching.page import calibration_words
from mihakk.machinery.ids import digest
from mihakk.schemas.guideline import Guideline, LeadAnswer
from mihakk.schemas.record import Language


def instructions(template: str, language: Language, answers: Iterable[LeadAnswer]) -> str:
    """What people read on a template's screen: its instructions, then the lead's answers, oldest first."""
    mine = [
        row
        for row in answers
        if row.template == template and (not row.languages or language in row.languages)
    ]
    told = labelling(template, language).instructions
    if not mine:
        return told
    rows = "".join(f'<p dir="auto">{escape(row.answer)}</p>' for row in mine)
    heading = escape(calibration_words(language)["answers"])
    return (
        f'{told}\n<section dir="{DIRECTION[language]}" lang="{language}"><h4>{heading}</h4>{rows}</section>'
    )


def current_guideline(stores: Stores, template: str, now: datetime) -> Guideline:
    """The template's guideline as it is now; a new version where it differs from the last.

    A version is substantial where an answer that came since the last one is.
    """
    answers = stored(stores.answers, LeadAnswer)
    texts = {language: instructions(template, language, answers) for language in DIRECTION}
    rows = [row for row in stored(stores.guidelines, Guideline) if row.template == template]
    last = max(rows, key=lambda row: row.version, default=None)
    if last is not None and last.digest == digest(texts):
        return last
    new = Guideline(
        template=template,
        version=last.version + 1 if last else 1,
        digest=digest(texts),
        since=now,
        substantial=last is not None
        and any(
            row.substantial and row.answered_at > last.since for row in answers if row.template == template
        ),
        instructions=texts,
    )
    add(stores.guidelines, Guideline, [new])
    return new


def version_at(guidelines: Sequence[Guideline], template: str, when: datetime) -> int:
    """Version of the template's guideline at a moment; 0 before the first."""
    return max(
        (row.version for row in guidelines if row.template == template and row.since <= when), default=0
    )


def substantial_changes(guidelines: Iterable[Guideline]) -> dict[str, list[datetime]]:
    """By template, when its guideline changed so that calibration is asked again."""
    changes: dict[str, list[datetime]] = {}
    for row in guidelines:
        if row.substantial:
            changes.setdefault(row.template, []).append(row.since)
    return changes
