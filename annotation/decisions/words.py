"""The one table of what people wrote in their own words: split off before anything else is stored.

Older stores hold such words beside the answers. They are read from there, moved by the next pull, and copied
nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, TypeVar

import orjson

from mihakk.annotation.decisions.store import (
    add,
    decision_id,
    decisions,
    doubted,
    labels,
    rewrite,
    stored,
    subject_of,
)
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.ids import digest
from mihakk.machinery.lake.storage import Storage
from mihakk.schemas.calibration import CalibrationAnswer
from mihakk.schemas.guideline import Guideline, LeadAnswer
from mihakk.schemas.record import LANGUAGE_CODE, Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Voided, Words

R = TypeVar("R", bound=Record)
SKIPPED = "skipped_"
"""Begins the reasons of tasks that people passed by."""
UNCOUNTED = {"notes", "annotation"}
"""Fields of a decision that change nothing: notes, and the annotation's number on the server."""


def split(row: R, names: Mapping[int, str] | None = None) -> tuple[R, Words | None]:
    """A row as the store keeps it, and what a person wrote in it; None where that is nothing.

    Args:
        names: Pseudonyms by member number, for annotations that an older version kept under the number.
    """
    changes, words = _apart(row, names or {})
    return (row.model_copy(update=changes) if changes else row), (words if words and words.text else None)


def add_split(stores: Stores, folder: str, kind: type[R], rows: Iterable[R]) -> list[R]:
    """Adds rows to a store, and before them what people wrote to the table of words; the rows added."""
    halves = [split(row) for row in rows]
    add(stores.words, Words, [words for _, words in halves if words])
    return add(folder, kind, [row for row, _ in halves])


def words(stores: Stores) -> list[Words]:
    """All that people wrote, also what an older version left beside their answers."""
    old = (split(row)[1] for folder, kind in _places(stores) for row in stored(folder, kind))
    return list(dict.fromkeys([*stored(stores.words, Words), *filter(None, old)]))


def with_words(rows: Iterable[Review | Label], stores: Stores) -> list[Review | Label]:
    """One person's rows with their notes in them again, to be handed to that person."""
    said = {one.about: one.text for one in words(stores) if one.kind == "note"}
    return [
        row.model_copy(update={"notes": said.get(decision_id(row), "")})
        if isinstance(row, Review)
        else row.model_copy(update={"value": said.get(decision_id(row), "")})
        if row.name == "notes"
        else row
        for row in rows
    ]


def move_words(stores: Stores, names: Mapping[int, str]) -> None:
    """Moves what an older version left beside people's answers; doing it again finishes a killed one."""
    asked = [f"<b>{escape(row.asked)}</b><br>" for row in stored(stores.answers, LeadAnswer) if row.asked]

    def unasked(row: Guideline) -> Guideline:
        texts = dict(row.instructions)
        for quoted in asked:
            texts = {language: text.replace(quoted, "") for language, text in texts.items()}
        return row.model_copy(update={"instructions": texts})

    if asked:
        rewrite(stores.guidelines, Guideline, unasked)
    for folder, kind in _places(stores):
        rows = stored(folder, kind)
        if any(split(row, names)[0] != row for row in rows):
            add(stores.words, Words, filter(None, (split(row, names)[1] for row in rows)))
            rewrite(folder, kind, lambda row: split(row, names)[0])


def counted_digest(stores: Stores) -> str:
    """Digest that any new, voided or doubted decision changes, and neither words nor their deletion."""
    queued = Storage(stores.queued)
    answers = [row for row in labels(stores) if row.name != "notes"]
    return digest(
        [
            [row.model_dump(mode="json", exclude=UNCOUNTED) for row in (*decisions(stores), *answers)],
            queued.list(queued.root),
            *sorted(doubted(stores)),
        ]
    )


def _places(stores: Stores) -> list[tuple[str, type[Record]]]:
    return [
        (stores.decisions, Review),
        (stores.labels, Label),
        (stores.calibrated, CalibrationAnswer),
        (stores.rejected, Rejection),
        (stores.voided, Voided),
        (stores.answers, LeadAnswer),
    ]


def _apart(row: Record, names: Mapping[int, str]) -> tuple[dict[str, Any], Words | None]:
    """Changes that take a person's words out of a row, and these words."""
    match row:
        case Review() | Label():
            text = row.notes if isinstance(row, Review) else row.value if row.name == "notes" else ""
            template = row.project if isinstance(row, Review) else row.template
            language = _language(row.item.partition("-")[0]) if isinstance(row, Review) else ""
            field = "notes" if isinstance(row, Review) else "value"
            return {field: ""} if text else {}, Words(
                kind="note",
                about=decision_id(row),
                annotator=row.annotator,
                template=template,
                language=language,
                subject=subject_of(row),
                text=text,
            )
        case CalibrationAnswer(values={"notes": text}):
            kept = {name: value for name, value in row.values.items() if name != "notes"}
            return {"values": kept}, Words(
                kind="note",
                about=f"calibration {row.round}",
                annotator=row.annotator,
                template=row.template,
                language=row.language,
                subject=row.subject,
                text=text,
            )
        case Voided(by="lead", why=text) if text:
            return {"why": ""}, Words(kind="voided", about=row.decision, annotator="lead", text=text)
        case LeadAnswer(asked=text) if text:
            return {"asked": ""}, None  # a copy: the question itself is a note
        case Rejection():
            return _unusable(row, names)
    return {}, None


def _unusable(row: Rejection, names: Mapping[int, str]) -> tuple[dict[str, Any], Words | None]:
    body = orjson.loads(row.body) if row.body else {}
    body = body if isinstance(body, dict) else {}
    skipped = row.reason.startswith(SKIPPED)
    said = row.detail if skipped or row.reason == "invalid_annotation" else ""  # it may quote the annotation
    result, member = body.pop("result", None), body.pop("member", None)
    if not said and result is None and member is None:
        return {}, None
    if member is not None:
        body["annotator"] = names.get(member, f"member {member}")
    whole = orjson.dumps([said, result]).decode() if said or result else ""
    _, template, language = (*row.source.split(":"), "", "")[:3]
    changes = {"body": orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()}
    return changes | ({"detail": ""} if said else {}), Words(
        kind="skipped" if skipped else "unusable",
        about=f"annotation {body.get('annotation', '')}".rstrip(),
        annotator=body.get("annotator", ""),
        template=template,
        language=_language(language),
        subject=row.record,
        text=said if skipped else whole,
    )


def _language(name: str) -> str:
    return name if re.fullmatch(LANGUAGE_CODE, name) else ""
