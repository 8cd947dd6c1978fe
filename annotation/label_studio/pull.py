"""What people decided, brought home: exported, checked, added to the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from mihakk.annotation.decisions.first_votes import SAVED_WITHIN
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.store import (
    TAMPERED,
    add,
    counting,
    decision_id,
    labels,
    stored,
)
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import Said, said_of, undone_keeps
from mihakk.annotation.decisions.words import SKIPPED, add_split
from mihakk.annotation.label_studio.answers import Reader, may_object, values_of
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exported import Answer, Exported, Row, Task, exported
from mihakk.annotation.label_studio.project import Held, Project
from mihakk.annotation.screens.labelling import Labelling
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.annotation.teaching.guidelines import version_at
from mihakk.annotation.teaching.rounds import Gate
from mihakk.machinery.errors import ExternalFailure, RecordRejected, UsageError
from mihakk.machinery.groups import grouped
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.guideline import Guideline
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Voided


@dataclass
class Pulled:
    """What one pull brought; `annotations = skipped + superseded + rejected + read`."""

    reviews: list[Review] = field(default_factory=list)
    """New decisions; those pulled before are not among them."""
    labels: list[Label] = field(default_factory=list)
    """New labels of the other templates."""
    people: dict[int, str] = field(default_factory=dict)
    """Pseudonyms by number of the members of the server."""
    annotations: int = 0
    read: int = 0
    skipped: int = 0
    """Cancelled: the person passed the task by."""
    skips: list[tuple[Task, Row]] = field(default_factory=list)
    """The skipped tasks and annotations as exported; the reason is kept with the annotations not used."""
    withdrawn: int = 0
    """Decisions pulled earlier whose annotation was deleted since; they count no longer."""
    outside: Counter[str] = field(default_factory=Counter)
    """By pseudonym, answers about texts that the config assigns to others; none of them counts."""
    unanswered: Counter[str] = field(default_factory=Counter)
    """By pseudonym, reviews by people who had not answered the question first (`review.hide_gold`)."""
    doubts: set[Said] = field(default_factory=set)
    """Whose word on what is not known: others changed it, it was taken back, or it can't be used."""
    unusable: set[tuple[str, str]] = field(default_factory=set)
    """Sample id and content hash of whatever was answered in a way that can't be used."""
    withheld: int = 0
    """New decisions kept that don't count: their authors had not passed calibration."""
    there: set[str] = field(default_factory=set)
    """Annotations on the server, as `Review.annotation` names them."""
    superseded: int = 0
    """Earlier annotations of the same task by the same person; what they say is kept as said before."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Annotations that can't be used, per reason; each is in the store of rejects with its body."""
    notes: Counter[str] = field(default_factory=Counter)
    """`config_edited`, `future_dates`, `changed_after_others`: worth a look, but nothing was lost by it."""


def pull(
    project: Project, stores: Stores, config: ReviewConfig | None = None, *, gate: Gate | None = None
) -> Pulled:
    """Adds everything that people finished since the last pull.

    The whole project is exported each time (a thousand tasks take two seconds); what is in the store is not
    added again. Nothing is written before everything has been read, so a pull killed at any point is a pull
    not made.

    The free server opens every project to every member, who can change and delete what others wrote, and
    import answers in their names. An annotation that somebody else changed last, or that nobody submitted, is
    refused as `changed_by_another`; that its author called the item wrong before counts, that they kept it
    does not, for they may have changed their mind. A deleted one is withdrawn, unless its whole task was
    deleted. An answer of somebody to whom the config does not assign the project's language and dialect is
    refused as `not_assigned`. No clock says which of two answers is the later one: what an earlier pull
    brought is older than what this one brings, and of what came together an objection counts.

    Args:
        config: Says who judges what; everybody judges everything where it is None.
        gate: Whose answers count; what others say is kept as voided. None: everybody's.

    Raises:
        UsageError: The project is gone, or the token is refused.
        ExternalFailure: The server failed; run the pull again.
    """
    config = config or ReviewConfig()
    held = project.held() if project.labelling.name == TEMPLATE else []  # first: what comes after is no trace
    found = exported(project.connection.read(f"/api/projects/{project.id}/export", exportType="JSON"))
    pulled = Pulled(people=pseudonyms(stores.people, project.connection.users()))
    rows, rejects = _read(project, found, stores, config, pulled)
    pulled.notes["config_edited"] += project.edited
    rejects += [_skipped(task, row, project.name, pulled.people) for task, row in pulled.skips]
    known = stored(stores.decisions, Review)
    owners = {row.annotation: row for row in known if row.annotation.startswith(f"{project.origin}/")}
    rejects += _malformed(project, found, owners, pulled)
    rejects += _taken_back(project, found, owners, pulled)
    rejects += _emptied(project, found, held, pulled)
    add_split(stores, stores.rejected, Rejection, rejects)
    pulled.there = {f"{project.origin}/{number}" for number in found.ids()}
    reviews, answers = _new(rows, known, stores)
    held_back = _withheld(project, [*reviews, *answers], gate)
    deleted = _deleted(project, pulled, stores) if found.names_all else []
    pulled.withdrawn, pulled.withheld = len(deleted), len(held_back)
    gone = {row.decision: row for row in (*held_back, *deleted)}
    undone = undone_keeps(project.origin, rows, known, gone.keys(), doubts=pulled.doubts, stores=stores)
    # Before the decisions: a pull killed between counts none of them, and who deleted what is not seen again.
    add(stores.voided, Voided, [*gone.values(), *undone])
    pulled.labels = add_split(stores, stores.labels, Label, answers)
    pulled.reviews = add_split(stores, stores.decisions, Review, reviews)
    return pulled


class ExportFile(Connection):
    """An export as a file, in place of the server that wrote it; members are known by their numbers alone."""

    def __init__(self, text: bytes) -> None:
        self.url, self._text = "", text

    def read(self, path: str, **params: Any) -> bytes:  # noqa: ARG002
        """The export."""
        return self._text

    def get(self, path: str, **params: Any) -> Any:  # noqa: ARG002
        """No task is there to be looked at."""
        return {"total": 0, "tasks": []}

    def users(self) -> dict[int, str]:
        """Everybody who annotated."""
        rows = (row for _, rows in exported(self._text).tasks for row in rows)
        people = {row.completed_by for row in rows if row.completed_by is not None}
        return {number: f"member {number}" for number in sorted(people)}


def read_export(file: Path, labelling: Labelling, stores: Stores) -> Pulled:
    """Adds the answers of an export in Label Studio's JSON, for people who work on a server of their own.

    Members are told apart by their numbers alone, so one store should hold the exports of one server.

    Raises:
        UsageError: The file is no such export.
    """
    try:
        export = ExportFile(file.read_bytes())
        name = f"{file.name}:{labelling.name}:ar"
        return pull(Project(export, 0, name, labelling, 1, "", False, "export"), stores)
    except (OSError, ExternalFailure) as error:
        raise UsageError(
            f"{file} is not a JSON export of Label Studio ({error}): export the project with its format JSON"
        ) from error


def _read(
    project: Project,
    found: Exported,
    stores: Stores,
    config: ReviewConfig,
    pulled: Pulled,
) -> tuple[list[Review | Label], list[Rejection]]:
    """Everybody's answers as decisions or labels, and what can't be used; counts both in `pulled`."""
    place = (project.language, project.dialect)
    judges = len(config.judges_of(*place)) if config.people else None
    reader, guidelines = Reader(project.labelling), stored(stores.guidelines, Guideline)
    answered_first = config.hide_gold and project.labelling.name == TEMPLATE
    given = grouped(labels(stores) if answered_first else (), lambda label: label.subject)
    read: list[Review | Label] = []
    rejects = []
    for answer in all_answers(found, pulled, project.origin):
        try:
            who = author_of(answer, pulled.people)
            if not config.may_judge(who, *place):
                pulled.outside[who] += not answer.superseded
                raise RecordRejected("not_assigned", f"{who} does not judge {' '.join(place).strip()}")
            version = version_at(guidelines, project.labelling.name, answer.row.updated_at)
            for record in reader.read(answer, who):
                if isinstance(record, Label):
                    read.append(record.model_copy(update={"guideline": version}))
                    continue
                facts: dict[str, Any] = {"assigned": judges, "guideline": version}
                if config.hide_gold and (question := answer.data.get("own_question")):
                    own = own_answers(given[record.item], [record]).get((record.item, question), {})
                    facts["own_answer"] = own.get(who, "")
                    pulled.unanswered[who] += not (
                        facts["own_answer"] or who in config.adjudicators or answer.superseded
                    )
                read.append(record.model_copy(update=facts))
        except RecordRejected as rejected:
            if _may_object(answer, rejected) and answer.row.completed_by is not None:
                pulled.doubts.add((*about(answer.data), pulled.people.get(answer.row.completed_by, "")))
            if not answer.superseded:
                pulled.rejected[rejected.reason] += 1
                if rejected.reason != "task_edited":
                    pulled.unusable.add(about(answer.data))
            if not answer.superseded or _may_object(answer, rejected):
                rejects.append(_rejection(answer, rejected, project.name, pulled.people))
            continue
        pulled.read += not answer.superseded
        pulled.notes["future_dates"] += answer.row.updated_at > datetime.now(UTC)
    return read, rejects


def author_of(answer: Answer, annotators: Mapping[int, str]) -> str:
    """Pseudonym of who gave an answer; `RecordRejected` where nobody is known to, or another changed it."""
    person, changed_by = answer.row.completed_by, answer.row.updated_by
    if changed_by not in (None, person):
        raise RecordRejected("changed_by_another", f"member {changed_by} changed it last")
    if person is None or person not in annotators:
        raise RecordRejected("unknown_annotator", f"member {person} is not on the server")
    if answer.unsigned:
        raise RecordRejected("changed_by_another", "it was imported, or who changed it is gone")
    return annotators[person]


def _new(
    rows: Iterable[Review | Label], known: Iterable[Review], stores: Stores
) -> tuple[list[Review], list[Label]]:
    """Decisions and labels that the stores lack."""
    before = {decision_id(row) for row in known}
    given = {(decision_id(row), row.name) for row in stored(stores.labels, Label)}
    reviews = [row for row in rows if isinstance(row, Review) and decision_id(row) not in before]
    labelled = (row for row in rows if isinstance(row, Label))
    return reviews, [row for row in labelled if (decision_id(row), row.name) not in given]


def _withheld(project: Project, rows: Iterable[Review | Label], gate: Gate | None) -> list[Voided]:
    """Of new decisions those whose authors had not passed calibration when they made them."""
    if gate is None:
        return []
    template, language = project.labelling.name, project.language
    now = datetime.now(UTC)
    names = dict.fromkeys(
        decision_id(row) for row in rows if not gate.counts(row.annotator, template, language, row.decided_at)
    )
    why = "made before its author had passed the calibration"
    return [Voided(decision=name, by="calibration", why=why, voided_at=now) for name in names]


def _malformed(
    project: Project, found: Exported, owners: Mapping[str, Review], pulled: Pulled
) -> Iterator[Rejection]:
    """What is not of the form of an export; whatever it may call wrong waits."""
    for one in found.malformed:
        told = one.rejection(project.name, pulled.people)
        owner = owners.get(f"{project.origin}/{one.id}")
        if may_object(one.result) and (owner or one.data.get("content_hash")):
            said = said_of(owner) if owner else (*about(one.data), one.author(pulled.people))
            pulled.doubts.add(said)
            pulled.unusable.add(said[:2])
            body = orjson.dumps(orjson.loads(told.body) | {"content_hash": said[1]}).decode()
            told = told.model_copy(update={"record": said[0], "body": body})
        yield told


def _taken_back(
    project: Project, found: Exported, owners: Mapping[str, Review], pulled: Pulled
) -> Iterator[Rejection]:
    """Answers known from earlier pulls that are there no longer as their authors' answers to that item.

    They were made a skip, given to another author or moved to another item, or object and their author has no
    account any more; so may be answers that another member made a skip before any pull. What their authors
    said last may be an objection.
    """
    for task, rows in found.tasks:
        for row in rows:
            author = pulled.people.get(row.completed_by, "") if row.completed_by is not None else ""
            said = (*about(task.data), author)
            owner = owners.get(f"{project.origin}/{row.id}")
            by_another = author and row.was_cancelled and row.updated_by not in (None, row.completed_by)
            moved = said != said_of(owner) if owner and author else may_object(row.result)
            if owner is not None and (row.was_cancelled or moved):
                said = said_of(owner)
            elif not by_another or project.labelling.name != TEMPLATE:
                continue
            pulled.doubts.add(said)
            pulled.unusable.add(said[:2])
            body = {"annotation": row.id, "annotator": said[2], "content_hash": said[1]}
            yield _unused(project.name, task, "taken_back", body=body).model_copy(update={"record": said[0]})


def _emptied(project: Project, found: Exported, held: Iterable[Held], pulled: Pulled) -> Iterator[Rejection]:
    """Tasks in which members did something of which nothing is left: whatever they said was deleted."""
    answered = {one.task for one in found.malformed} | {task.id for task, rows in found.tasks if rows}
    for one in held:
        if one.touched and one.task not in answered:
            pulled.unusable.add((one.sample, one.content_hash))
            body = {"task": one.task, "annotator": "", "content_hash": one.content_hash}
            told = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
            yield Rejection(record=one.sample, source=project.name, reason="taken_back", detail="", body=told)


def _deleted(project: Project, pulled: Pulled, stores: Stores) -> list[Voided]:
    """Decisions that count and whose annotation is no longer on the server, though its task is."""
    gone = [
        row
        for row in counting(stores)
        if row.annotation.startswith(f"{project.origin}/") and row.annotation not in pulled.there
    ]
    tasks = {held.task for held in project.held()} if gone else set()
    names = dict.fromkeys(decision_id(row) for row in gone if row.task in tasks)
    now = datetime.now(UTC)
    return [
        Voided(decision=name, by="deleted", why="its annotation was deleted on the server", voided_at=now)
        for name in names
    ]


def about(data: Mapping[str, Any]) -> tuple[str, str]:
    """Sample id and content hash of what a task shows."""
    return str(data.get("sample_id")), str(data.get("content_hash"))


def all_answers(found: Exported, pulled: Pulled, origin: str) -> list[Answer]:
    """Every finished annotation, oldest first; the first of a person is the one given independently."""
    latest: dict[tuple[int, int | None], Answer] = {}
    answers: list[Answer] = []
    pulled.annotations += len(found.malformed)
    pulled.rejected.update(one.reason for one in found.malformed)
    for task, rows in found.tasks:
        pulled.notes["changed_after_others"] += _changed_after_others(rows)
        for row in rows:
            pulled.annotations += 1
            if row.was_cancelled:
                pulled.skipped += 1
                pulled.skips.append((task, row))
                continue
            unsigned = row.updated_by is None and "updated_by" in row.model_fields_set
            answer = Answer(task, row, f"{origin}/{row.id}", age=_age(row, rows), unsigned=unsigned)
            key = (task.id, row.completed_by)
            pulled.superseded += key in latest
            if key not in latest or latest[key].age < answer.age:
                latest[key] = answer
            answers.append(answer)
    last = {answer.row.id for answer in latest.values()}
    return [
        answer if answer.row.id in last else replace(answer, superseded=True)
        for answer in sorted(answers, key=lambda answer: answer.age)
    ]


def _age(row: Row, rows: Iterable[Row]) -> tuple[datetime, int]:
    """Orders one person's annotations of one task by the server's clock.

    Where its counter shows that the clock was set back in between, what came later counts as later.
    """
    made = row.created_at or row.updated_at
    turned = [
        max(one.updated_at, one.created_at)
        for one in rows
        if one.completed_by == row.completed_by and one.id < row.id
        if one.created_at is not None and one.created_at > made
    ]
    return max([row.updated_at, made, *turned]), row.id


def _changed_after_others(rows: Sequence[Row]) -> int:
    """Answers that somebody changed when others had answered the same task.

    The free server shows everybody's answers in its table of tasks; this is the trace a look there leaves.
    """
    given = [
        (row.completed_by, row.created_at, row.updated_at)
        for row in rows
        if row.created_at and not row.was_cancelled
    ]
    return sum(
        changed - made > SAVED_WITHIN
        and any(other != person and made < when < changed for other, when, _ in given)
        for person, made, changed in given
    )


def _skipped(task: Task, row: Row, project: str, people: Mapping[int, str]) -> Rejection:
    try:
        said = values_of(row.result)
    except RecordRejected:
        said = {}
    (why,) = said.get("skip", ["unsaid"])[:1]
    why = why if why.isidentifier() else "unsaid"
    author = people.get(row.completed_by, "") if row.completed_by is not None else ""
    notes = " ".join(said.get("notes", ())) if author else ""
    body = {"annotation": row.id, "annotator": author}
    return _unused(project, task, f"{SKIPPED}{why}", detail=notes, body=body)


def _rejection(
    answer: Answer, rejected: RecordRejected, project: str, people: Mapping[int, str]
) -> Rejection:
    body: dict[str, Any] = {"annotation": answer.row.id, "annotator": ""}
    detail = rejected.detail
    if answer.row.completed_by is not None and answer.row.completed_by in people:
        body |= {"annotator": people[answer.row.completed_by], "result": answer.row.result}
    else:
        detail = "its author has no account on the server"  # and may have asked for its deletion
    if _may_object(answer, rejected):
        body["content_hash"] = str(answer.data.get("content_hash", ""))  # `doubted` goes by it
    return _unused(project, answer.task, rejected.reason, detail=detail, body=body)


def _may_object(answer: Answer, rejected: RecordRejected) -> bool:
    """Whether an annotation that can't be used may call its item wrong."""
    return rejected.reason in TAMPERED or may_object(answer.row.result)


def _unused(project: str, task: Task, reason: str, *, detail: str = "", body: dict[str, Any]) -> Rejection:
    return Rejection(
        record=str(task.data.get("sample_id") or f"task {task.id}"),
        source=project,
        reason=reason,
        detail=detail,
        body=orjson.dumps({"task": task.id, **body}, option=orjson.OPT_SORT_KEYS).decode(),
    )
