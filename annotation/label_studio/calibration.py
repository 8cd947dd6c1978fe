"""Calibration on a server: a project of its own for each template and language, pushed, pulled and enforced.

The free server opens every project to every member, so nobody can be kept out of the real work. Instead the
answers of who has not passed are kept and don't count, and once they have passed they are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.store import add, stored, subject_of
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import add_split
from mihakk.annotation.label_studio.answers import Reader, texts_of
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exported import exported
from mihakk.annotation.label_studio.project import (
    CALIBRATION,
    Project,
    ensure_project,
    find_projects,
    shortened,
)
from mihakk.annotation.label_studio.pull import Pulled, all_answers, author_of
from mihakk.annotation.label_studio.push import Pushed, push
from mihakk.annotation.screens.labelling import words
from mihakk.annotation.screens.tasks import numbered
from mihakk.annotation.teaching.guidelines import current_guideline, substantial_changes
from mihakk.annotation.teaching.page import calibration_words
from mihakk.annotation.teaching.rounds import Gate, current, draw_round, due, is_right, needed
from mihakk.annotation.teaching.state import calibration_state, withheld_rows
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.groups import grouped
from mihakk.machinery.languages import pack
from mihakk.schemas.benchmark import CalibrationConfig
from mihakk.schemas.calibration import CalibrationAnswer, Known, Round
from mihakk.schemas.guideline import Guideline
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection

EVERYBODY = 10_000
"""Overlap of a calibration project: whoever comes answers each question once."""


def calibration_of(benchmark: str) -> str:
    """The name under which a benchmark's calibration projects are known on a server."""
    return f"{benchmark}{CALIBRATION}"


def push_calibration(
    connection: Connection,
    benchmark: str,
    candidates: Callable[[], Iterable[Known]],
    *,
    templates: Collection[str],
    stores: Stores,
    config: CalibrationConfig,
    seed: int,
) -> dict[str, Pushed]:
    """Draws the rounds that are due and brings what people are asked now onto the server.

    Questions are noted before they are pushed, so a push killed at any point is finished by the next one.

    Args:
        candidates: Gives the questions whose answers are known; asked only where a round is due.
        templates: Those that people are to be calibrated for; empty: only who failed is asked again.

    Returns:
        By `calibration <template> <language>`, what changed on the server.
    """
    changed = substantial_changes(stored(stores.guidelines, Guideline))
    rounds = grouped(stored(stores.rounds, Round), lambda row: (row.template, row.language))
    states = grouped(calibration_state(stores), lambda one: (one.template, one.language))
    why = {key: due(mine, states[key], changed.get(key[0], ())) for key, mine in rounds.items()}
    if not templates and not any(why.values()):
        return {}
    is_due = any(why.values()) or set(templates) - {template for template, _ in rounds}
    by_project = grouped(candidates() if is_due else (), lambda known: (known.template, known.language))
    pushed: dict[str, Pushed] = {}
    for key in sorted({*rounds, *(one for one in by_project if one[0] in templates)}):
        (template, language), mine = key, rounds[key]
        if reason := why.get(key, "first"):
            mine += _draw(stores, by_project[key], config, seed, why=reason, number=len(mine) + 1)
        asked = current(mine)
        tasks = [
            one.sent
            for one in stored(stores.known, Known)
            if (one.template, one.language) == (template, language) and one.round in asked
        ]
        if tasks:
            last = max(mine, key=lambda row: row.number)
            project = ensure_project(
                connection, calibration_of(benchmark), template, language, overlap=EVERYBODY
            )
            _set_up(project, benchmark, last, stores)
            pushed[f"calibration {template} {language}"] = push(project, numbered(tasks))
    return pushed


def _draw(
    stores: Stores,
    candidates: Sequence[Known],
    config: CalibrationConfig,
    seed: int,
    *,
    why: Any,
    number: int,
) -> list[Round]:
    if not candidates:
        return []
    template, language = candidates[0].template, candidates[0].language
    used = {
        row.base
        for row in stored(stores.known, Known)
        if (row.template, row.language) == (template, language)
    }
    chosen = draw_round(candidates, config.items, number, seed, used)
    if not chosen:
        return []
    add(stores.known, Known, chosen)
    begun = Round(
        template=template,
        language=language,
        number=number,
        why=why,
        items=len(chosen),
        needed=needed(len(chosen), config.pass_mark),
        begun_at=datetime.now(UTC),
    )
    return add(stores.rounds, Round, [begun])


def _set_up(project: Project, benchmark: str, last: Round, stores: Stores) -> None:
    """Title, instructions and no skipping, which would let a person choose their questions."""
    t = calibration_words(project.language)
    told = t["preface"].format(items=last.items, needed=last.needed)
    guideline = current_guideline(stores, project.labelling.name, datetime.now(UTC))
    wanted = {
        "title": calibration_title(project.labelling.name, project.language, benchmark),
        "expert_instruction": with_preface(told, guideline.instructions[project.language], project.language),
        "show_skip_button": False,
    }
    settle_settings(project, wanted)


def instruct(connection: Connection, benchmark: str, stores: Stores, *, calibrated: bool) -> int:
    """Shows every project of a benchmark its guideline as it is now; returns how many were changed.

    A guideline that differs from the last one becomes the next version. With `calibrated` the instructions
    say that calibration comes first, where a template has a round.
    """
    asked = {(row.template, row.language) for row in stored(stores.rounds, Round)} if calibrated else set()
    count = 0
    for project in find_projects(connection, benchmark):
        template, language = project.labelling.name, project.language
        told = current_guideline(stores, template, datetime.now(UTC)).instructions[language]
        if (template, language) in asked:
            title = calibration_title(template, language, benchmark)
            told = with_preface(calibration_words(language)["before"].format(title=title), told, language)
        count += settle_settings(project, {"expert_instruction": told})
    return count


def calibration_title(template: str, language: Language, benchmark: str) -> str:
    """What people call a calibration project."""
    title = f"{calibration_words(language)['title']}: {words(template, language)['title']} · {benchmark}"
    return shortened(title)


def with_preface(told: str, instructions: str, language: Language) -> str:
    """Instructions with a sentence before them."""
    return f'<p dir="{pack(language).direction}" lang="{language}"><b>{escape(told)}</b></p>\n{instructions}'


def settle_settings(project: Project, wanted: Mapping[str, Any]) -> bool:
    """Changes a project's settings where they are not these; whether any was changed."""
    held = project.connection.get(f"/api/projects/{project.id}", include=",".join(wanted))
    changes = {name: value for name, value in wanted.items() if held.get(name) != value}
    if changes:
        project.connection.patch(f"/api/projects/{project.id}", changes)
    return bool(changes)


def pull_calibration(connection: Connection, benchmark: str, stores: Stores) -> int:
    """Adds what people answered to known questions since the last pull; returns how many answers are new.

    Of each person's answers to a question the first that was pulled counts: it is explained from then on.
    """
    given = {
        (row.annotator, row.template, row.language, row.round, row.subject)
        for row in stored(stores.calibrated, CalibrationAnswer)
    }
    known = {
        (row.template, row.language, row.subject, row.content_hash): row
        for row in stored(stores.known, Known)
    }
    new: list[CalibrationAnswer] = []
    for project in find_projects(connection, calibration_of(benchmark)):
        reader, template, language = Reader(project.labelling), project.labelling.name, project.language
        people = pseudonyms(stores.people, connection.users())
        found = exported(connection.read(f"/api/projects/{project.id}/export", exportType="JSON"))
        malformed = [one.rejection(project.name, people) for one in found.malformed]
        add_split(stores, stores.rejected, Rejection, malformed)
        for answer in all_answers(found, Pulled(), project.origin):
            key = (
                template,
                language,
                str(answer.data.get("sample_id")),
                str(answer.data.get("content_hash")),
            )
            if answer.superseded or (row := known.get(key)) is None:
                continue
            try:
                person, values = author_of(answer, people), texts_of(reader.values(answer), template)
            except RecordRejected:
                continue
            if (person, template, language, row.round, row.subject) not in given:
                new.append(
                    CalibrationAnswer(
                        template=template,
                        language=language,
                        round=row.round,
                        subject=row.subject,
                        annotator=person,
                        values=values,
                        right=is_right(row.accepts, values),
                        decided_at=answer.row.updated_at,
                        seconds=answer.row.lead_time,
                        annotation=answer.origin,
                    )
                )
    add_split(stores, stores.calibrated, CalibrationAnswer, new)
    return len(new)


def ask_again(
    project: Project, found: Pulled, stores: Stores, opened: Gate, wanted: Collection[tuple[str, str]]
) -> int:
    """Gives people who have passed since the questions back whose answers did not count; how many.

    The server offers nobody a task twice, so the answers that don't count are deleted there; the store keeps
    them. Only what still lacks answers (`wanted`: subject and content hash) is asked again.
    """
    template, language, now = project.labelling.name, project.language, datetime.now(UTC)
    again = {
        row.annotation: row.annotator
        for row in withheld_rows(stores)
        if row.annotation in found.there and (subject_of(row), row.content_hash) in wanted
    }
    count = 0
    for annotation, person in again.items():
        if opened.counts(person, template, language, now):
            project.connection.delete(f"/api/annotations/{annotation.rpartition('/')[2]}/")
            count += 1
    return count
