"""Push and pull of one benchmark's quality review: the calls a flow or a command makes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from annotation.campaigns.disagreements import campaign_disputes
from annotation.campaigns.drawing import draw
from annotation.campaigns.figures import SAYS
from annotation.campaigns.questions import Question
from annotation.decisions.disputes import Dispute, disputes
from annotation.decisions.resolution import binding, resolve, votes_needed
from annotation.decisions.store import add, decision_id, decisions, labels, stored
from annotation.decisions.stores import Stores
from annotation.label_studio.calibration import ask_again, pull_calibration
from annotation.label_studio.connection import Connection
from annotation.label_studio.project import Project, ensure_project, find_projects, show_disputed
from annotation.label_studio.pull import Pulled, pull
from annotation.label_studio.push import BATCH, Pushed, push, reopen
from annotation.label_studio.server import LocalServer
from annotation.screens.labelling import DIRECTION
from annotation.screens.queue import by_subject
from annotation.screens.ratings import Label
from annotation.screens.tasks import TEMPLATE, numbered, review_task, urgency
from annotation.statistics.sampling import Queued, QueueEntry, choose, wanted_changed
from annotation.statistics.working_time import ProjectProgress, progress
from annotation.teaching.state import gate
from mihakk.errors import UsageError
from mihakk.ids import content_hash
from mihakk.seeds import rng
from mihakk.settings import Settings
from schemas.audit import Audit, Verdict
from schemas.benchmark import ReviewConfig
from schemas.campaign import Campaign, Drawn
from schemas.finding import Finding
from schemas.item import Item
from schemas.record import Language
from schemas.review import Resolution, Review, Voided

SUSPECT: Final = "suspect"
"""Stands in the place of a check's id where systems' answers speak against an item."""
Place = tuple[Language, str]
"""Language and dialect of a project; the dialect is empty where it holds all, or texts without one."""
OPEN: Final = ("flagged", "suspect")
"""Why an item is queued whose own findings say how urgent it is."""


@dataclass
class ReviewPulled:
    """What the pulls of all projects of a benchmark brought."""

    by_project: dict[str, Pulled] = field(default_factory=dict)
    calibrated: int = 0
    """New answers to questions with known answers."""
    asked_again: int = 0
    """Answers given before their authors passed calibration, asked again now that they have."""
    reopened: int = 0
    """Tasks given to further people: they disagree, or a vote was voided, deleted or can't be used."""
    settled: int = 0
    """Items, as people saw them, whose votes come to a decision."""
    short: int = 0
    """Items with fewer votes than the overlap asks for."""
    disputed: tuple[Dispute, ...] = ()
    """Items on which people disagree, with all they said and who has to decide now."""

    @property
    def deadlocked(self) -> tuple[str, ...]:
        """Items that everybody who may be asked could not settle: an adjudicator's to decide."""
        return tuple(one.item for one in self.disputed if one.stuck)


def connect(settings: Settings) -> Connection:
    """The server the settings name; the local one's own token is used where none is set.

    Raises:
        UsageError: No token, or it is refused.
        ExternalFailure: The server doesn't answer.
    """
    token = settings.label_studio_token
    local = LocalServer(settings.label_studio_home)
    if token is not None:
        secret = token.get_secret_value()
    elif settings.label_studio_url.startswith("http://127.0.0.1:") and local.exists():
        secret = local.secrets.token
    else:
        raise UsageError(
            "set MIHAKK_LABEL_STUDIO_TOKEN, or start a server of your own with `mihakk review serve`"
        )
    connection = Connection(settings.label_studio_url, secret)
    connection.check()
    return connection


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
    batch: int = BATCH,
    restore_config: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Pushed]:
    """Brings the review queue of a benchmark onto the server, one project per language, or per language and
    dialect where the config assigns people to dialects.

    Args:
        connection: The server.
        benchmark: Name of the benchmark.
        items: Items of the audited stage; corrected ones with their new content and verdicts.
        verdicts: Theirs.
        findings: Theirs.
        audits: Theirs.
        stores: Where it is noted why each item is in the queue.
        seed: The build seed.
        config: Overlap, size of the sample for the miss rate, and who judges what.
        suspects: Items that systems' answers speak against, and how; it decides their place.
        attention_every: One attention check per so many tasks; 0 for none.
        batch: Tasks per import.
        restore_config: Overwrite a labelling config that was edited by hand.
        progress: Called with the number of tasks imported by each batch.

    Returns:
        By language, or `<language> <dialect>`, what changed on the server.
    """
    doubted = suspects or {}
    entries = choose(
        items,
        verdicts,
        seed=seed,
        sample=config.miss_rate_sample,
        draw=config.miss_rate_draw,
        queued=stored(stores.queued, Queued),
        corrected=wanted_changed(decisions(stores.decisions)),
        suspects=doubted.keys(),
        agreed=_agreed(items, resolutions(stores, config)),
        attention_every=attention_every,
    )
    answers = [
        Finding(check=SUSPECT, severity="flag", subject=item, detail=told) for item, told in doubted.items()
    ]
    said, seen = by_subject([*findings, *answers], audits)
    _note(stores, entries, seen)
    return _bring(
        connection,
        benchmark,
        TEMPLATE,
        _tasks(entries, said, seen, seed),
        dialects={entry.item.id: entry.item.dialect for entry in entries},
        config=config,
        overlap=config.overlap,
        batch=batch,
        progress=progress,
        restore_config=restore_config,
    )


def _bring(
    connection: Connection,
    benchmark: str,
    template: str,
    tasks: Iterable[dict[str, Any]],
    *,
    dialects: Mapping[str, str],
    config: ReviewConfig,
    overlap: int,
    batch: int,
    progress: Callable[[int], None],
    restore_config: bool = False,
) -> dict[str, Pushed]:
    """Brings a template's tasks into the projects of their languages, and of their dialects where the config
    assigns people to dialects; a task that somebody has answered stays where it is.

    Args:
        dialects: By sample id.
        overlap: People who judge each, or fewer where fewer are assigned to it.
    """
    there = [one for one in find_projects(connection, benchmark) if one.labelling.name == template]
    answered = {
        (held.sample, held.content_hash): (one.language, one.dialect)
        for one in there
        if config.by_dialect or any(other.dialect for other in there)
        for held in one.held()
        if held.annotations
    }
    placed = _by_place(tasks, dialects, answered, config)
    languages = list(DIRECTION)
    pushed: dict[str, Pushed] = {}
    known = {(one.language, one.dialect) for one in there}
    for place in sorted({*placed, *known}, key=lambda one: (languages.index(one[0]), one[1])):
        wanted, judges = placed.get(place, []), config.judges_of(*place)
        nobody = len(wanted) if config.people and not judges else 0
        found = Pushed()
        if place in known or not nobody:
            votes = max(1, overlap if template == "connotation" else config.votes_on(*place, overlap))
            project = ensure_project(
                connection, benchmark, template, *place, overlap=votes, restore_config=restore_config
            )
            found = push(project, numbered([] if nobody else wanted), batch=batch, progress=progress)
        pushed[" ".join(filter(None, ("" if template == TEMPLATE else template, *place)))] = replace(
            found, judges=tuple(judges), nobody=nobody
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
    kept = {
        key
        for key, told in resolved.items()
        if told.outcome == "keep" and told.by in ("agreement", "majority", "adjudicator")
    }
    return {item.id for item in items if (item.id, content_hash(item)) in kept}


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
    batch: int = BATCH,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Pushed]:
    """Brings the sample of one campaign onto the server, as `push_review` does.

    What was drawn is noted before it is pushed, so a push killed at any point is finished by the next one,
    under the same names.

    Args:
        connection: The server.
        benchmark: Name of the benchmark.
        campaign: Which.
        questions: All that it may ask.
        stores: Where drawn questions and labels are kept.
        config: Overlap, and who judges what.
        batch: Tasks per import.
        progress: Called with the number of tasks imported by each batch.

    Returns:
        By `<template> <language>`, or `<template> <language> <dialect>`, what changed on the server.
    """
    drawn = [row for row in stored(stores.campaigns, Drawn) if row.template == campaign.template]
    answered = {(row.subject, row.content_hash) for row in labels(stores.labels)}
    asked = draw(questions, campaign, drawn, answered)
    new = [_assigned(row, config) for row in asked.new]
    add(stores.campaigns, Drawn, new)
    return _bring(
        connection,
        benchmark,
        campaign.template,
        asked.tasks,
        dialects={row.subject: row.strata.get("dialect", "") for row in (*drawn, *new)},
        config=config,
        overlap=campaign.votes(config.overlap),
        batch=batch,
        progress=progress,
    )


def _assigned(row: Drawn, config: ReviewConfig) -> Drawn:
    if not config.people or row.template == "connotation":  # it takes three people, whoever is there
        return row
    judges = config.judges_of(row.strata.get("language", ""), row.strata.get("dialect", ""))
    return row.model_copy(update={"assigned": len(judges)})


def pull_review(
    connection: Connection, benchmark: str, *, stores: Stores, config: ReviewConfig
) -> ReviewPulled:
    """Pulls every project of a benchmark, then asks one more person wherever people disagree.

    Args:
        connection: The server.
        benchmark: Name of the benchmark.
        stores: Where decisions, labels and unusable annotations are kept.
        config: Overlap, team and adjudicators.

    Raises:
        UsageError: The benchmark has no project on this server: never pushed, or deleted there.
        ExternalFailure: The server failed; run the pull again.
    """
    projects = projects_of(connection, benchmark)
    calibrated = pull_calibration(connection, benchmark, stores)
    opened = gate(stores, config)
    pulled = ReviewPulled({project.name: pull(project, stores, config, gate=opened) for project in projects})
    pulled.calibrated = calibrated
    standing = resolutions(stores, config)
    judged = _judged(decisions(stores.decisions), stores)
    checks = _attention_checks(stores)
    unusable = {
        project.name: {key for key in pulled.by_project[project.name].unusable if key[0] not in checks}
        for project in projects
    }
    asked = standing.keys() | _judged(stored(stores.decisions, Review), stores).keys()  # voided ones too
    asked |= {
        key for project in projects if project.labelling.name == TEMPLATE for key in unusable[project.name]
    }
    votes = {
        key: standing[key].votes if key in standing else 0
        for key in asked
        if key not in standing or standing[key].outcome == "unresolved"
    }
    pulled.settled = len(asked) - len(votes)
    pulled.short = sum(
        count < votes_needed(binding(judged.get(key, ()), key[1]), config.overlap)
        for key, count in votes.items()
    )
    pulled.disputed = tuple(open_disputes(stores, config))
    for project in projects:
        template, place = project.labelling.name, (project.language, project.dialect)
        if template == TEMPLATE:
            needed = max(1, config.votes_on(*place))
            most = max(needed, config.most_people(len(config.judges_of(*place))))
            more = {key: max(1, needed - count) for key, count in votes.items() if count < most}
        else:
            more = _short(stores, template, project.overlap, unusable[project.name])
        if opened is not None:
            found = pulled.by_project[project.name]
            pulled.asked_again += ask_again(project, found, stores, opened, more.keys())
        pulled.reopened += reopen(project, more)
        if template in (TEMPLATE, *SAYS):
            show_disputed(project, [one.item for one in pulled.disputed if one.template == template])
    return pulled


def open_disputes(stores: Stores, config: ReviewConfig) -> list[Dispute]:
    """Every item, then every question of campaigns, on which people disagree; see `disputes`."""
    items = disputes(_judged(decisions(stores.decisions), stores), resolutions(stores, config), config)
    return [*items, *campaign_disputes(stored(stores.campaigns, Drawn), labels(stores.labels), config)]


def review_progress(
    connection: Connection, benchmark: str, stores: Stores, config: ReviewConfig, now: datetime
) -> list[ProjectProgress]:
    """How far each project of a benchmark is: its tasks as the server holds them, the pace as the stores do.

    Raises:
        UsageError: The benchmark has no project on this server.
    """
    given: list[Review | Label] = [*decisions(stores.decisions), *labels(stores.labels)]
    rows = []
    for project in projects_of(connection, benchmark):
        held = project.held()
        wanted = [task for task in held if not task.labeled or task.annotations >= task.overlap]
        numbers = {task.task for task in held}
        mine = [
            row for row in given if row.annotation.startswith(f"{project.origin}/") and row.task in numbers
        ]
        tasks = [(task.annotations, task.overlap) for task in wanted]
        judges = config.judges_of(project.language, project.dialect)
        row = progress(project.name, tasks, mine, now, judges)
        rows.append(row.model_copy(update={"withheld": _withheld(stores, project.origin)}))
    return rows


def _withheld(stores: Stores, origin: str) -> int:
    """Answers of a project that are kept and don't count: their authors had not passed calibration."""
    names = {row.decision for row in stored(stores.voided, Voided) if row.by == "calibration"}
    rows: list[Review | Label] = [*stored(stores.decisions, Review), *stored(stores.labels, Label)]
    mine = (decision_id(row) for row in rows if row.annotation.startswith(f"{origin}/"))
    return len(names.intersection(mine))


def _short(
    stores: Stores, template: str, overlap: int, unusable: Collection[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Answers that questions of a campaign lack because some were voided, deleted, superseded or unusable."""
    asked = {
        (row.subject, row.content_hash) for row in stored(stores.labels, Label) if row.template == template
    }.union(unusable)
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in labels(stores.labels):
        if row.template == template:
            people[row.subject, row.content_hash].add(row.annotator)
    return {key: overlap - len(people[key]) for key in asked if len(people[key]) < overlap}


def projects_of(connection: Connection, benchmark: str) -> list[Project]:
    """Every project of a benchmark on the server, whatever its template and language.

    Raises:
        UsageError: It has none there: never pushed, or deleted.
    """
    projects = find_projects(connection, benchmark)
    if not projects:
        raise UsageError(
            f"{connection.url} has no review project of {benchmark!r}: it was never pushed there or has been "
            "deleted; run `mihakk review push`. Decisions pulled earlier are kept"
        )
    return projects


def resolutions(stores: Stores, config: ReviewConfig) -> dict[tuple[str, str], Resolution]:
    """What the votes on each item and content hash come to; attention checks are not among them."""
    told = {}
    for (item, content), reviews in _judged(decisions(stores.decisions), stores).items():
        (told[item, content],) = resolve(
            reviews, {item: content}, config.overlap, adjudicators=config.adjudicators
        )
    return told


def _judged(reviews: Iterable[Review], stores: Stores) -> dict[tuple[str, str], list[Review]]:
    """Decisions by item and content hash, without those on attention checks."""
    checks = _attention_checks(stores)
    by_content: dict[tuple[str, str], list[Review]] = defaultdict(list)
    for review in reviews:
        if review.item not in checks:
            by_content[review.item, review.content_hash].append(review)
    return by_content


def _attention_checks(stores: Stores) -> set[str]:
    return {row.item for row in stored(stores.queued, Queued) if row.why == "attention"}


def _tasks(
    entries: Sequence[QueueEntry],
    said: Mapping[str, list[Finding]],
    seen: Mapping[str, list[Audit]],
    seed: int,
) -> list[dict[str, Any]]:
    """Tasks, most urgent first; unflagged ones take flagged ones' priorities at random."""
    flagged = [entry.item for entry in entries if entry.why in OPEN]
    priorities = [urgency(said.get(item.id, []), seen.get(item.id, [])) for item in flagged] or [0]
    tasks: list[dict[str, Any]] = []
    for entry in entries:
        known = entry.base or entry.item.id
        hidden = None if entry.why in OPEN else rng(seed, entry.item.id, "priority").choice(priorities)
        tasks.append(review_task(entry.item, said.get(known, ()), seen.get(known, ()), priority=hidden))
    return sorted(tasks, key=lambda task: (-task["data"]["priority"], task["data"]["sample_id"]))


def counted(pulled: ReviewPulled) -> Counter[str]:
    """Totals over the projects, for a closing table."""
    totals: Counter[str] = Counter(
        reopened=pulled.reopened,
        deadlocked=len(pulled.deadlocked),
        calibration=pulled.calibrated,
        asked_again=pulled.asked_again,
    )
    for one in pulled.by_project.values():
        totals.update(
            annotations=one.annotations,
            decisions=len(one.reviews),
            labels=len(one.labels),
            skipped=one.skipped,
            superseded=one.superseded,
            withdrawn=one.withdrawn,
            withheld=one.withheld,
        )
        totals.update({f"rejected.{reason}": number for reason, number in one.rejected.items()})
        totals.update({name: number for name, number in one.notes.items() if number})
    return totals
