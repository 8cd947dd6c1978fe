"""Pulls what people said about a benchmark, and the state of its review on the server."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from mihakk.annotation.campaigns.disputes import Dispute, campaign_disputes, disputes
from mihakk.annotation.campaigns.figures import SAYS
from mihakk.annotation.decisions.apply import WAITING
from mihakk.annotation.decisions.own_answers import own_answers
from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.resolution import binding, resolve, votes_needed
from mihakk.annotation.decisions.store import counting, decision_id, decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import move_words
from mihakk.annotation.label_studio.calibration import ask_again, pull_calibration
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import Project, find_projects, show_disputed
from mihakk.annotation.label_studio.pull import Pulled, pull
from mihakk.annotation.label_studio.push import reopen
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import OWN_ANSWER, TEMPLATE
from mihakk.annotation.statistics.auditor_errors import echoes
from mihakk.annotation.statistics.sampling import Queued
from mihakk.annotation.statistics.vote_rows import judged
from mihakk.annotation.statistics.working_time import ProjectProgress, progress
from mihakk.annotation.teaching.state import gate, withheld_rows
from mihakk.machinery.errors import UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.settings import Settings
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.record import Language
from mihakk.schemas.review import Resolution, Review


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
    echoed: int = 0
    """Settled items that one more person is to judge, as one of their votes may be a copy of another."""
    settled: int = 0
    """Items, as people saw them, whose votes come to a decision."""
    short: int = 0
    """Items with fewer votes than the overlap asks for."""
    elsewhere: int = 0
    """Decisions that count though their project is none of these: deleted, on another server, or a file."""
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


def pull_review(
    connection: Connection, benchmark: str, *, stores: Stores, config: ReviewConfig
) -> ReviewPulled:
    """Pulls every project of a benchmark, then asks one more person wherever people disagree.

    Raises:
        UsageError: The benchmark has no project on this server: never pushed, or deleted there.
        ExternalFailure: The server failed; run the pull again.
    """
    projects = projects_of(connection, benchmark)
    projects.sort(key=lambda one: one.labelling.name != OWN_ANSWER)  # reviews are read beside own answers
    move_words(stores, pseudonyms(stores.people, connection.users()))
    calibrated = pull_calibration(connection, benchmark, stores)
    opened = gate(stores, config)
    pulled = ReviewPulled({project.name: pull(project, stores, config, gate=opened) for project in projects})
    pulled.calibrated = calibrated
    votes = _open_votes(projects, pulled, stores, config)
    pulled.disputed = tuple(open_disputes(stores, config))
    for project in projects:
        found, template = pulled.by_project[project.name], project.labelling.name
        more = _more(project, found, votes, stores, config)
        if opened is not None:
            pulled.asked_again += ask_again(project, found, stores, opened, more.keys())
        pulled.reopened += reopen(project, more)
        if template in (TEMPLATE, *SAYS):
            show_disputed(project, [one.item for one in pulled.disputed if one.template == template])
    return pulled


def _open_votes(
    projects: Collection[Project], pulled: ReviewPulled, stores: Stores, config: ReviewConfig
) -> dict[tuple[str, str], int]:
    """Votes on each item, as people saw it, that are not settled; counts the others in `pulled`."""
    standing = resolutions(stores, config)
    alone = resolutions(stores, config, alone=True) if config.copying_doubt < 1 else standing
    told, here = decisions(stores), {project.origin for project in projects}
    pulled.elsewhere = sum(row.annotation.partition("/")[0] not in here for row in told)
    votes_on = _judged(told, stores)
    checks = {row.item for row in stored(stores.queued, Queued) if row.why == "attention"}
    asked = standing.keys() | _judged(stored(stores.decisions, Review), stores).keys()  # voided ones too
    for project in projects:
        if project.labelling.name == TEMPLATE:
            asked |= {key for key in pulled.by_project[project.name].unusable if key[0] not in checks}
    votes = {
        key: alone[key].votes if key in alone else 0
        for key in asked
        if key not in alone or alone[key].outcome in WAITING
    }
    is_settled = {key for key, one in standing.items() if one.outcome not in WAITING}
    pulled.settled = len(is_settled)
    pulled.echoed = sum(votes[key] < config.most_people() for key in is_settled & votes.keys())
    pulled.short = sum(
        count < votes_needed(binding(votes_on.get(key, ()), key[1]), config.overlap)
        for key, count in votes.items()
    )
    return votes


def _more(
    project: Project,
    found: Pulled,
    votes: Mapping[tuple[str, str], int],
    stores: Stores,
    config: ReviewConfig,
) -> dict[tuple[str, str], int]:
    """How many more people each of a project's tasks needs, by sample and content hash.

    Where people answer before they review, a disputed item is given to the next person as a question first,
    and as a review once that is answered.
    """
    template, place = project.labelling.name, (project.language, project.dialect)
    needed = max(1, config.votes_on(*place))
    most = max(needed, config.most_people(len(config.judges_of(*place))))
    reviews = {key: max(1, needed - count) for key, count in votes.items() if count < most}
    if template not in (TEMPLATE, OWN_ANSWER):
        return _short(stores, template, project.overlap, found.unusable)
    if not config.hide_gold:
        return reviews if template == TEMPLATE else {}
    own = own_answers(labels(stores))
    asked = {question[0]: question for question in own}
    lacking = {
        key: votes[key] + more - len(own[asked[key[0]]]) for key, more in reviews.items() if key[0] in asked
    }
    if template == TEMPLATE:
        return {key: more for key, more in reviews.items() if lacking.get(key, 0) <= 0}
    questions = {asked[key[0]]: count for key, count in lacking.items() if count > 0}
    return _short(stores, template, project.overlap, found.unusable) | questions


def open_disputes(
    stores: Stores, config: ReviewConfig, screen_of: Callable[[str], Language | None] = lambda _: None
) -> list[Dispute]:
    """Every item, then every question of campaigns, on which people disagree; see `disputes`."""
    votes = _judged(decisions(stores), stores)
    items = disputes(votes, resolutions(stores, config), config, screen_of)
    drawn = stored(stores.campaigns, Drawn)
    return [*items, *campaign_disputes(drawn, labels(stores), config, screen_of)]


def review_progress(
    connection: Connection, benchmark: str, stores: Stores, config: ReviewConfig, now: datetime
) -> list[ProjectProgress]:
    """How far each project is: its tasks as the server holds them, the pace as the stores do.

    `UsageError` where the benchmark has no project on this server.
    """
    rows, told, unseen = [], counting(stores), withheld_rows(stores)
    for project in projects_of(connection, benchmark):
        held = project.held()
        wanted = [task for task in held if not task.labeled or task.annotations >= task.overlap]
        numbers = {task.task for task in held}
        mine = [
            row for row in told if row.annotation.startswith(f"{project.origin}/") and row.task in numbers
        ]
        tasks = [(task.annotations, task.overlap) for task in wanted]
        judges = config.judges_of(project.language, project.dialect)
        row = progress(project.name, tasks, mine, now, judges)
        kept = {decision_id(one) for one in unseen if one.annotation.startswith(f"{project.origin}/")}
        rows.append(row.model_copy(update={"withheld": len(kept)}))
    return rows


def _short(
    stores: Stores, template: str, overlap: int, unusable: Collection[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Answers that questions of a campaign lack because some were voided, deleted, superseded or unusable."""
    asked = {
        (row.subject, row.content_hash) for row in stored(stores.labels, Label) if row.template == template
    }.union(unusable)
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in labels(stores):
        if row.template == template:
            people[row.subject, row.content_hash].add(row.annotator)
    return {key: overlap - len(people[key]) for key in asked if len(people[key]) < overlap}


def projects_of(connection: Connection, benchmark: str) -> list[Project]:
    """Every project of a benchmark on the server; `UsageError` where it has none there."""
    projects = find_projects(connection, benchmark)
    if not projects:
        raise UsageError(
            f"{connection.url} has no review project of {benchmark!r}: it was never pushed there or has been "
            "deleted; run `mihakk review push`. Decisions pulled earlier are kept"
        )
    return projects


def resolutions(
    stores: Stores, config: ReviewConfig, *, alone: bool = False
) -> dict[tuple[str, str], Resolution]:
    """What the votes on each item and content hash come to; attention checks are not among them.

    With `alone` without the votes that may be copied (`review.copying_doubt`), though these are counted: what
    then lacks a vote is asked of somebody else, and what they say tells the copier from who agrees.
    """
    given, copies = decisions(stores), set[str]()
    if alone and config.copying_doubt < 1:
        copies = echoes(given, stored(stores.queued, Queued), config.copying_doubt)
    told = {}
    for (item, content), votes in _judged(given, stores).items():
        own = [
            vote for vote in votes if vote.annotator in config.adjudicators or decision_id(vote) not in copies
        ]
        (found,) = resolve(own, {item: content}, config.overlap, adjudicators=config.adjudicators)
        told[item, content] = found.model_copy(update={"votes": len(binding(votes, content))})
    return told


def _judged(reviews: Iterable[Review], stores: Stores) -> dict[tuple[str, str], list[Review]]:
    """Decisions by item and content hash, without those on attention checks."""
    real = judged(list(reviews), stored(stores.queued, Queued))
    return grouped(real, lambda review: (review.item, review.content_hash))


def counted(pulled: ReviewPulled) -> Counter[str]:
    """Totals over the projects, for a closing table."""
    totals: Counter[str] = Counter(
        reopened=pulled.reopened,
        deadlocked=len(pulled.deadlocked),
        calibration=pulled.calibrated,
        asked_again=pulled.asked_again,
    )
    for one in pulled.by_project.values():
        numbers = ("annotations", "skipped", "superseded", "withdrawn", "withheld")
        totals.update({name: getattr(one, name) for name in numbers})
        totals.update(decisions=len(one.reviews), labels=len(one.labels))
        totals.update({f"rejected.{reason}": number for reason, number in one.rejected.items()})
        totals.update({name: number for name, number in one.notes.items() if number})
    return totals
