"""What checks, auditors and people said: defects, agreement, misses, waiting items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mihakk.annotation.decisions.apply import WAITING
from mihakk.pipeline.build import Build
from mihakk.pipeline.people import review_stores
from mihakk.reports.dashboard.health import Note
from mihakk.reports.dashboard.items import AUDIT_STATE, open_items
from mihakk.reports.dashboard.tables import Tables
from mihakk.schemas.audit import AUDIT_STATES, CRITERIA
from mihakk.schemas.finding import SEVERITIES, Severity
from mihakk.schemas.stages import AUDITED, CHECKED, REVIEWED

if TYPE_CHECKING:
    from mihakk.annotation.statistics.miss_rate import MissRate
    from mihakk.annotation.statistics.review_report import ReviewReport
    from mihakk.schemas.review import Review
    from mihakk.validators.audit.rates import AuditorAgreement

DAYS = 14
MANY_INVALID = 0.05
"""Share of unusable replies from which an auditor is worth a look."""


@dataclass(frozen=True)
class DefectRow:
    """One check over all sources."""

    check: str
    severity: Severity
    title: str
    by_source: dict[str, int]
    whole_set: int
    """Findings about the set as a whole, which has no source."""
    subject: str
    """What the first of them speaks of."""
    detail: str

    @property
    def count(self) -> int:
        """All findings."""
        return sum(self.by_source.values()) + self.whole_set


@dataclass(frozen=True)
class AuditorOpinionRow:
    """One auditor."""

    name: str
    model: str
    capable: bool
    valid: int
    repaired: int
    invalid: int
    own_family: int
    """Items it judged of which a model of its own family wrote a part."""

    @property
    def replies(self) -> int:
        """All of them."""
        return self.valid + self.repaired + self.invalid


@dataclass(frozen=True)
class CriterionRow:
    """The two auditors on one criterion."""

    criterion: str
    zeros: dict[str, int]
    """Auditor to items it failed."""
    agreed: AuditorAgreement


@dataclass
class Opinions:
    """Everything said of the items."""

    sources: list[str]
    defects: list[DefectRow]
    items: int
    verdicts: dict[str, int]
    states: dict[str, int]
    """Items per state of the audit."""
    to_audit: int
    """Items that no rule blocks."""
    tasks: list[dict[str, Any]]
    """Of each task in a language: items made, blocked, flagged, per state of the audit, and kept."""
    auditors: list[AuditorOpinionRow]
    criteria: list[CriterionRow]
    agreed: AuditorAgreement | None
    """Over all criteria; None when no item has two usable replies."""

    @property
    def notes(self) -> list[Note]:
        """What a person should know of checks and audit."""
        if not self.items:
            return [Note("unknown", "no items have been checked, so nothing is known of their defects")]
        told, seen = [], self.states.get("both", 0)
        if seen < self.to_audit:
            said = f"{AUDIT_STATES['both']} on {seen:,} of {self.to_audit:,} items"
            told.append(Note("look" if seen else "unknown", said))
        for one in self.auditors:
            if one.replies and not one.capable:
                said = f"auditor {one.name} is too small to be a judge: its passes prove nothing"
                told.append(Note("look", said))
            if one.own_family:
                said = (
                    f"auditor {one.name} judged {one.own_family:,} items that its own family wrote a part of"
                )
                told.append(Note("look", said))
            if one.replies and one.invalid > MANY_INVALID * one.replies:
                said = f"{one.invalid / one.replies:.0%} of the replies of {one.name} are unusable"
                told.append(Note("look", said))
        return told


@dataclass
class People:
    """The review."""

    flagged: int
    waiting: int
    decided: int
    """Items with at least one decision."""
    queued: dict[str, int]
    """Why items were put before people, to how many."""
    by_day: list[tuple[str, int]]
    """The last days, decisions on each."""
    last: datetime | None
    report: ReviewReport
    """Over everything decided so far."""
    owner: str = ""
    """Who sees to it that people decide."""
    command: str = ""
    """What brings the items before them."""

    @property
    def miss_rate(self) -> MissRate | None:
        """Over all strata."""
        return next((row for row in self.report.miss_rates if row.stratum == "all"), None)

    @property
    def notes(self) -> list[Note]:
        """What a person should know of it."""
        told = []
        if self.waiting:
            said = f"{self.waiting:,} {'item waits' if self.waiting == 1 else 'items wait'} for people"
            told.append(Note("look", said, self.owner, self.command))
        if stale := self.report.stale:
            said = f"{stale:,} decided items have changed since: their decisions no longer bind"
            told.append(Note("look", said))
        if self.miss_rate is None:
            told.append(Note("unknown", "no unflagged item was sampled, so the miss rate is unknown"))
        for row in self.report.annotators:
            if row.alarms:
                told.append(Note("look", f"annotator {row.annotator}: {', '.join(row.alarms)}"))
        return told


def opinions(build: Build, tables: Tables) -> Opinions:
    """What rules and auditors said of the items as they stand."""
    open_items(build, tables)
    tables.view("checked", CHECKED, "items")
    tables.view("audits", AUDITED, "audits")
    defects, sources = _defects(tables)
    items = tables.one("SELECT count(*) FROM checked") or 0
    blocked = tables.one(
        "SELECT count(DISTINCT subject) FROM findings WHERE severity = 'block' AND subject <> '*'"
    )
    verdicts = {
        r["status"]: r["n"] for r in tables.rows("SELECT status, count(*) n FROM verdicts GROUP BY ALL")
    }
    pairs = tables.rows(_PAIRS)
    return Opinions(
        sources=sources,
        defects=defects,
        items=items,
        verdicts=verdicts,
        states={
            row["state"]: row["n"]
            for row in tables.rows(
                f"SELECT {AUDIT_STATE} AS state, count(*) AS n FROM verdicts v GROUP BY ALL"
            )
        },
        to_audit=items - (blocked or 0),
        auditors=_auditors(build, tables),
        criteria=_criteria(build, tables, pairs),
        agreed=_agreed(pairs) if pairs else None,
        tasks=tables.rows(_TASKS),
    )


def _defects(tables: Tables) -> tuple[list[DefectRow], list[str]]:
    from mihakk.validators.checks.check import check_titles

    titles = check_titles()
    counted = tables.rows(
        "SELECT f.\"check\" AS name, f.severity, coalesce(i.source, '') AS source, count(*) AS n, "
        "min((f.shard, f.place, f.subject, f.detail)) AS first "
        "FROM findings f LEFT JOIN checked i ON i.id = f.subject GROUP BY ALL ORDER BY source"
    )
    rows: dict[tuple[str, Severity], Counter[str]] = {}
    firsts: dict[tuple[str, Severity], list[tuple[Any, ...]]] = {}
    for row in counted:
        name = (row["name"], row["severity"])
        rows.setdefault(name, Counter())[row["source"]] += row["n"]
        firsts.setdefault(name, []).append(tuple(row["first"]))
    made = [
        DefectRow(
            check=check,
            severity=severity,
            title=titles.get(check, ""),
            by_source={source: n for source, n in counts.items() if source},
            whole_set=counts[""],
            subject=min(firsts[check, severity])[2],
            detail=min(firsts[check, severity])[3],
        )
        for (check, severity), counts in rows.items()
    ]
    made.sort(key=lambda row: (SEVERITIES.index(row.severity), -row.count, row.check))
    return made, sorted({row["source"] for row in counted} - {""})


def _auditors(build: Build, tables: Tables) -> list[AuditorOpinionRow]:
    counted = tables.rows("SELECT auditor, status, count(*) AS n FROM audits GROUP BY ALL")
    replies = {(row["auditor"], row["status"]): row["n"] for row in counted}
    wrote = {(row["auditor"], row["family"]): row["n"] for row in tables.rows(_WROTE)}
    return [
        AuditorOpinionRow(
            name=one.name,
            model=one.model,
            capable=one.capable,
            valid=replies.get((one.name, "valid"), 0),
            repaired=replies.get((one.name, "repaired"), 0),
            invalid=replies.get((one.name, "invalid"), 0),
            own_family=wrote.get((one.name, one.family.casefold()), 0),
        )
        for one in build.auditors().auditors
    ]


_TASKS = (
    "SELECT language, task, count(*) AS made, countif(verdict = 'block') AS blocked, "
    "countif(verdict = 'flag') AS flagged, countif(state = 'kept') AS kept, "
    + ", ".join(f"countif(audit = '{state}') AS \"{state}\"" for state in AUDIT_STATES)
    + " FROM shown GROUP BY ALL ORDER BY language, task"
)
_WROTE = (
    "SELECT a.auditor, lower(i.origin.model_family) AS family, count(*) AS n "
    "FROM audits a JOIN checked i ON i.id = a.item WHERE i.origin.model_family <> '' GROUP BY ALL"
)
_PAIRS = (
    "SELECT criterion, x, others[criterion] AS y, count(*) AS n FROM (SELECT unnest(map_keys(a.scores)) AS "
    "criterion, unnest(map_values(a.scores)) AS x, b.scores AS others FROM audits a JOIN audits b "
    "ON a.item = b.item AND a.auditor < b.auditor WHERE cardinality(b.scores) > 0) GROUP BY ALL"
)
"""What two auditors gave the same item for the same criterion, and how often."""


def _criteria(build: Build, tables: Tables, pairs: Sequence[dict[str, Any]]) -> list[CriterionRow]:
    zeros = {
        (row["auditor"], row["criterion"]): row["n"]
        for row in tables.rows(
            "SELECT auditor, criterion, count(*) AS n FROM "
            "(SELECT auditor, unnest(map_keys(scores)) AS criterion, unnest(map_values(scores)) AS score "
            "FROM audits) WHERE score = 0 GROUP BY ALL"
        )
    }
    names = [one.name for one in build.auditors().auditors]
    return [
        CriterionRow(
            criterion,
            {name: zeros.get((name, criterion), 0) for name in names},
            _agreed([row for row in pairs if row["criterion"] == criterion]),
        )
        for criterion in CRITERIA
    ]


def _agreed(square: Sequence[dict[str, Any]]) -> AuditorAgreement:
    from mihakk.validators.audit.rates import agreement_of

    pairs = Counter[tuple[int, int]]()
    for row in square:
        pairs[row["x"], row["y"]] += row["n"]
    return agreement_of(pairs)


def people(build: Build, tables: Tables, now: datetime | None = None) -> People:
    """How the review goes; only items that people were given are read."""
    from mihakk.annotation.decisions.store import labels, stored
    from mihakk.annotation.statistics.review_report import review_report
    from mihakk.annotation.statistics.sampling import Queued, wanted_changed
    from mihakk.pipeline.steps.check import reviews_of
    from mihakk.schemas.campaign import Drawn

    stores = review_stores(build)
    reviews, queued = reviews_of(build), stored(stores.queued, Queued)
    tables.view("verdicts", AUDITED, "verdicts")
    tables.view("removed", REVIEWED, "rejected")
    asked = {review.item for review in reviews} | {row.item for row in queued}
    asked |= {label.subject.partition("#")[0] for label in labels(stores)}
    asked |= {row.record for row in stored(stores.campaigns, Drawn)}
    items, audits = _judged(build, tables, asked)
    report = review_report(
        stores,
        items,
        audits,
        seed=build.config.seed,
        sizes=_unflagged(tables, wanted_changed(reviews)),
        overlap=build.config.review.overlap,
        adjudicators=build.config.review.adjudicators,
        campaigns=build.config.review.campaigns,
    )
    return People(
        owner=build.config.owners.review,
        command=f"mihakk review push {build.config.name}",
        flagged=tables.one("SELECT count(*) FROM verdicts WHERE status = 'flag'") or 0,
        waiting=tables.one(f"SELECT count(*) FROM removed WHERE reason IN {WAITING}") or 0,
        decided=len({review.item for review in reviews}),
        queued=dict(sorted(Counter(row.why for row in queued).items())),
        by_day=_by_day(reviews, now or datetime.now(UTC)),
        last=max((review.decided_at for review in reviews), default=None),
        report=report,
    )


def _unflagged(tables: Tables, corrected: set[str]) -> dict[str, int]:
    """Unflagged items per stratum, without those that people wanted to correct."""
    tables.view("audited_items", AUDITED, "items")
    rows = tables.rows(
        "SELECT language || '/' || task AS stratum, count(*) AS items FROM audited_items "
        "JOIN verdicts ON verdicts.item = audited_items.id WHERE status = 'pass' "
        "AND audited_items.id NOT IN (SELECT unnest($1)) GROUP BY ALL",
        [sorted(corrected) or [""]],
    )
    return {row["stratum"]: row["items"] for row in rows}


def _judged(build: Build, tables: Tables, known: set[str]) -> tuple[list[Any], list[Any]]:
    """Items and audits of what people were given, from the few shards they stand in."""
    from mihakk.schemas.audit import Audit
    from mihakk.schemas.item import ITEM_ROWS

    if not known:
        return [], []
    tables.view("audited_items", AUDITED, "items")
    shards = tables.rows(
        "SELECT DISTINCT shard FROM audited_items WHERE id IN (SELECT unnest($1))", [sorted(known)]
    )
    stage = build.stage(AUDITED)
    items, audits = [], []
    for row in sorted(shards, key=lambda row: row["shard"]):
        items += [item for item in stage.read("items", ITEM_ROWS, row["shard"]) if item.id in known]
        audits += [audit for audit in stage.read("audits", Audit, row["shard"]) if audit.item in known]
    return items, audits


def _by_day(reviews: Sequence[Review], now: datetime) -> list[tuple[str, int]]:
    counts = Counter(review.decided_at.astimezone(UTC).date() for review in reviews)
    days = [now.date() - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    return [(day.isoformat(), counts[day]) for day in days] if counts else []
