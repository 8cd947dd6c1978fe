"""Push of one benchmark: its review queue and its campaigns, brought into the projects they belong to."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Final, Literal

from mihakk.annotation.campaigns.drawing import draw
from mihakk.annotation.campaigns.questions import Question
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.store import add, decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import resolutions
from mihakk.annotation.label_studio.project import ensure_project, find_projects
from mihakk.annotation.label_studio.push import Pushed, push
from mihakk.annotation.screens.labelling import DIRECTION
from mihakk.annotation.screens.queue import by_subject
from mihakk.annotation.screens.tasks import (
    OWN_ANSWER,
    TEMPLATE,
    answerable,
    numbered,
    own_answer_task,
    question_hash,
    review_task,
    urgency,
)
from mihakk.annotation.statistics.sampling import NEWCOMER_CHECKS, Queued, QueueEntry, choose, wanted_changed
from mihakk.machinery.ids import content_hash
from mihakk.machinery.languages import stand_in
from mihakk.machinery.seeds import rng
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.campaign import Campaign, Drawn
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language
from mihakk.schemas.review import Resolution

SUSPECT: Final = "suspect"
"""Stands in the place of a check's id where systems' answers speak against an item."""
Place = tuple[Language, str]
"""Language and dialect of a project; the dialect is empty where it holds all, or texts without one."""
OPEN: Final = ("flagged", "suspect")
"""Why an item is queued whose own findings say how urgent it is."""


def push_review(
    connection: Connection,
    benchmark: str,
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding],
    *,
    audits: Iterable[Audit],
    stores: Stores,
    seed: int,
    config: ReviewConfig,
    suspects: Mapping[str, str] | None = None,
    attention_every: int = 20,
) -> dict[str, Pushed]:
    """Brings the review queue of a benchmark onto the server, one project per language, or per language and
    dialect where the config assigns people to dialects.

    Args:
        items: Items of the audited stage; corrected ones with their new content and verdicts.
        suspects: Items that systems' answers speak against, and how; it decides their place.
        attention_every: One attention check per so many tasks; 0 for none.

    Returns:
        By language, or `<language> <dialect>`, what changed on the server.
    """
    tasks, entries = queue_tasks(
        items,
        verdicts,
        findings,
        audits=audits,
        stores=stores,
        seed=seed,
        config=config,
        suspects=suspects,
        attention_every=attention_every,
    )
    bring = partial(
        _bring,
        connection,
        benchmark,
        dialects={entry.item.id: entry.item.dialect for entry in entries},
        config=config,
        overlap=config.overlap,
    )
    if not config.hide_gold:
        return bring(OWN_ANSWER, []) | bring(TEMPLATE, tasks)  # closes questions asked while it was set
    asked, ready = _answered_first(tasks, {entry.item.id: entry.item for entry in entries}, stores, config)
    waiting = set(map(_key, tasks)).difference(map(_key, ready))
    left = [task for task in tasks if _key(task) in waiting]
    return bring(OWN_ANSWER, asked, left=left, why_left="unanswered") | bring(TEMPLATE, ready)


def _key(task: Mapping[str, Any]) -> tuple[str, str]:
    return task["data"]["sample_id"], task["data"]["content_hash"]


def queue_tasks(
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding],
    *,
    audits: Iterable[Audit],
    stores: Stores,
    seed: int,
    config: ReviewConfig,
    suspects: Mapping[str, str] | None = None,
    attention_every: int = 20,
) -> tuple[list[dict[str, Any]], list[QueueEntry]]:
    """Tasks of the review queue, the most urgent first, and why each item is in it, which the stores keep."""
    doubted, queued = suspects or {}, stored(stores.queued, Queued)
    first = _newcomer_checks(stores, config)
    entries = choose(
        items,
        verdicts,
        seed=seed,
        sample=config.miss_rate_sample,
        draw=config.miss_rate_draw,
        queued=queued,
        corrected=wanted_changed(decisions(stores)),
        suspects=doubted.keys(),
        agreed=_agreed(items, resolutions(stores, config)),
        attention_every=attention_every,
        newcomer_checks=first,
    )
    answers = [
        Finding(check=SUSPECT, severity="flag", subject=item, detail=told) for item, told in doubted.items()
    ]
    asked = {name for entry in entries for name in (entry.item.id, entry.base)}
    said, seen = by_subject(
        (one for one in chain(findings, answers) if one.subject in asked),
        (one for one in audits if one.item in asked),
    )
    _note(stores, entries, seen)
    return _tasks(entries, said, seen, seed, first, after_answer=config.hide_gold), entries


def _newcomer_checks(stores: Stores, config: ReviewConfig) -> int:
    """Attention checks beside the usual ones, so that everybody known or expected sees their share of them.

    It never falls while people come: who begins late gets checks that nobody has answered yet.
    """
    there = {row.annotator for row in decisions(stores)}.difference(config.adjudicators)
    people = max(len(there), len(config.people), config.team, config.overlap)
    return math.ceil(people * NEWCOMER_CHECKS / max(1, config.overlap))


def _answered_first(
    tasks: Iterable[dict[str, Any]], items: Mapping[str, Item], stores: Stores, config: ReviewConfig
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The questions of all reviews that can be answered, and the reviews whose questions have been.

    The free server shows every task of a project to all its members, so a review waits until as many people
    have answered its question as are to review it.
    """
    own = own_answers(labels(stores))
    asked, ready = [], []
    for task in tasks:
        item = items[task["data"]["sample_id"]]
        wanted = max(1, config.votes_on(item.language, item.dialect if config.by_dialect else ""))
        if answerable(item):
            asked.append(own_answer_task(item, priority=task["data"]["priority"]))
        if not answerable(item) or len(own.get((item.id, question_hash(item)), ())) >= wanted:
            ready.append(task)
    return asked, ready


def _bring(
    connection: Connection,
    benchmark: str,
    template: str,
    tasks: Iterable[dict[str, Any]],
    *,
    dialects: Mapping[str, str],
    config: ReviewConfig,
    overlap: int,
    left: Iterable[dict[str, Any]] = (),
    why_left: Literal["", "unanswered", "size"] = "",
) -> dict[str, Pushed]:
    """Brings a template's tasks into the projects of their languages, and of their dialects where the config
    assigns people to dialects; a task that somebody has answered stays where it is.

    Args:
        dialects: By sample id.
        overlap: People who judge each, or fewer where fewer are assigned to it.
        left: Tasks that are not pushed now, to be told of, and why.
    """
    there = [one for one in find_projects(connection, benchmark) if one.labelling.name == template]
    answered = {
        (held.sample, held.content_hash): (one.language, one.dialect)
        for one in there
        if config.by_dialect or any(other.dialect for other in there)
        for held in one.held()
        if held.annotations
    }
    placed, behind = (_by_place(some, dialects, answered, config) for some in (tasks, left))
    languages = list(DIRECTION)
    pushed: dict[str, Pushed] = {}
    known = {(one.language, one.dialect) for one in there}
    for place in sorted(
        {*placed, *known, *behind}, key=lambda one: (languages.index(stand_in(one[0], languages)), *one)
    ):
        wanted, judges = placed.get(place, []), config.judges_of(*place)
        nobody = len(wanted) if config.people and not judges else 0
        found = Pushed()
        if place in known or (wanted and not nobody):
            votes = max(1, overlap if template == "connotation" else config.votes_on(*place, overlap))
            project = ensure_project(connection, benchmark, template, *place, overlap=votes)
            found = push(project, numbered([] if nobody else wanted))
        pushed[" ".join(filter(None, ("" if template == TEMPLATE else template, *place)))] = replace(
            found,
            judges=tuple(judges),
            nobody=nobody,
            left=len(behind.get(place, ())),
            why_left=why_left if place in behind else "",
        )
    return pushed


def _by_place(
    tasks: Iterable[dict[str, Any]],
    dialects: Mapping[str, str],
    answered: Mapping[tuple[str, str], Place],
    config: ReviewConfig,
) -> dict[Place, list[dict[str, Any]]]:
    """Tasks by language and dialect, the dialect empty where the config assigns nobody to dialects."""
    placed: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    for task in tasks:
        data = task["data"]
        own = (data["language"], dialects.get(data["sample_id"], "") if config.by_dialect else "")
        placed[answered.get((data["sample_id"], data["content_hash"]), own)].append(task)
    return placed


def _agreed(items: Iterable[Item], resolved: Mapping[tuple[str, str], Resolution]) -> set[str]:
    """Ids of items that several people, or an adjudicator, settled to keep as they stand now."""
    kept = {key for key, told in resolved.items() if told.outcome == "keep" and told.by_several}
    return {item.id for item in items if (item.id, content_hash(item)) in kept} if kept else set()


def _note(stores: Stores, entries: Iterable[QueueEntry], seen: Mapping[str, list[Audit]]) -> None:
    """Stores why each item is queued; a sampled one only when it is drawn, whatever auditors say later."""
    drawn = {(row.item, row.draw) for row in stored(stores.queued, Queued) if row.why == "sample"}
    new = [entry for entry in entries if entry.why != "sample" or (entry.item.id, entry.draw) not in drawn]
    add(stores.queued, Queued, [entry.queued(seen[entry.item.id]) for entry in new])


def push_campaign(
    connection: Connection,
    benchmark: str,
    campaign: Campaign,
    questions: Iterable[Question],
    *,
    stores: Stores,
    config: ReviewConfig,
) -> dict[str, Pushed]:
    """Brings the sample of one campaign onto the server, as `push_review` does.

    What was drawn is noted before it is pushed, so a push killed at any point is finished by the next one,
    under the same names.

    Returns:
        By `<template> <language>`, or `<template> <language> <dialect>`, what changed on the server.
    """
    drawn = [row for row in stored(stores.campaigns, Drawn) if row.template == campaign.template]
    answered = {(row.subject, row.content_hash) for row in labels(stores)}
    asked = draw(questions, campaign, drawn, answered)
    new = [_assigned(row, config) for row in asked.new]
    add(stores.campaigns, Drawn, new)
    return _bring(
        connection,
        benchmark,
        campaign.template,
        asked.tasks,
        dialects={row.subject: row.strata.get("dialect", "") for row in (*drawn, *new)}
        | {question.key: question.strata.get("dialect", "") for question in asked.left},
        config=config,
        overlap=campaign.votes(config.overlap),
        left=[
            {"data": {"sample_id": question.key, "content_hash": "", "language": question.language}}
            for question in asked.left
        ],
        why_left="size",
    )


def _assigned(row: Drawn, config: ReviewConfig) -> Drawn:
    if not config.people or row.template == "connotation":  # it takes three people, whoever is there
        return row
    judges = config.judges_of(row.strata.get("language", ""), row.strata.get("dialect", ""))
    return row.model_copy(update={"assigned": len(judges)})


def _tasks(
    entries: Sequence[QueueEntry],
    said: Mapping[str, list[Finding]],
    seen: Mapping[str, list[Audit]],
    seed: int,
    first: int = 0,
    *,
    after_answer: bool = False,
) -> list[dict[str, Any]]:
    """Tasks, most urgent first; unflagged ones take flagged ones' priorities at random.

    The `first` attention checks in a random order stand at the head, one among each three tasks, for
    whoever begins with the queue; they take the priority of the task before them.
    """
    flagged = [entry.item for entry in entries if entry.why in OPEN]
    priorities = [urgency(said.get(item.id, []), seen.get(item.id, [])) for item in flagged] or [0]
    checks = sorted(
        (entry for entry in entries if entry.why == "attention"),
        key=lambda entry: rng(seed, entry.item.id, "first").random(),
    )[:first]
    early = {entry.item.id for entry in checks}
    placed: list[tuple[int, QueueEntry]] = []
    for entry in entries:
        known = entry.base or entry.item.id
        own = urgency(said.get(known, []), seen.get(known, []))
        hidden = rng(seed, entry.item.id, "priority").choice(priorities)
        if entry.item.id not in early:
            placed.append((own if entry.why in OPEN else hidden, entry))
    placed.sort(key=lambda one: (-one[0], one[1].item.id))
    for number, entry in enumerate(checks):
        place = min(len(placed), 3 * number + rng(seed, entry.item.id, "place").randrange(3))
        near = placed[max(0, place - 1)][0] if placed else priorities[0]
        placed.insert(place, (near, entry))
    return [review_task(entry.item, priority=near, after_answer=after_answer) for near, entry in placed]
