"""Guidelines: instructions of annotators, version by version, and the lead's answers to their questions."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mihakk.schemas.record import Language, Record


class Guideline(Record):
    """One version of a template's guideline."""

    template: str
    version: int
    """From 1 on."""
    digest: str
    """Of the instructions in all languages."""
    since: datetime
    """When it came onto the server; answers given from then on are made under it."""
    substantial: bool = False
    """The lead said that it changes how to judge: calibration is asked again."""
    instructions: dict[Language, str] = Field(default_factory=dict)
    """HTML by language of the screen."""


class LeadAnswer(Record):
    """What the lead answered to a question, or a rule nobody asked for; part of the next guideline."""

    question: str = ""
    """Id of the question; empty for a rule."""
    template: str
    languages: tuple[Language, ...] = ()
    """Screens it is shown on; empty: all."""
    asked: str = ""
    """The question, in stores of an older version; it is an annotator's own words, and shown no more."""
    answer: str
    substantial: bool = False
    answered_at: datetime


class AskedQuestion(Record):
    """A question or note that an annotator left."""

    id: str
    template: str
    language: str
    """Of the screen; empty where the store doesn't say."""
    subject: str
    """Item or question it was left at."""
    annotator: str = ""
    """Pseudonym; empty where the task was skipped."""
    text: str
    answers: tuple[str, ...] = ()
    """The lead's."""
