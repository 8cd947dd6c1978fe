"""What rules, auditors and people said: defects, agreement, what was missed, what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from flows.context import Build
from flows.dashboard.health import Note
from flows.dashboard.tables import Tables
from schemas.audit import CRITERIA

if TYPE_CHECKING:
    from annotation.agreement import Agreement
    from annotation.quality import MissRate, Overturn
    from schemas.review import Review
    from validators.audit.rates import Agreement as TwoRaters

DAYS = 14
MANY_INVALID = 0.05
"""Share of unusable replies from which an auditor is worth a look."""


@dataclass(frozen=True)
class DefectRow:
    """One check over all sources."""

    check: str
    severity: str
    title: str
    by_source: dict[str, int]
    whole_set: int
    """Findings about the set as a whole, which has no source."""

    @property
    def count(self) -> int:
        """All findings."""
        return sum(self.by_source.values()) + self.whole_set


@dataclass(frozen=True)
class AuditorRow:
    """One auditor."""

    name: str
    model: str
    capable: bool
    valid: int
    repaired: int
    invalid: int

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
    agreed: TwoRaters


@dataclass
class Opinions:
    """Everything said of the items."""

    sources: list[str]
    defects: list[DefectRow]
    items: int
    verdicts: dict[str, int]
    audited: int
    """Items that both auditors saw."""
    to_audit: int
    """Items that no rule blocks."""
    auditors: list[AuditorRow]
    criteria: list[CriterionRow]
    agreed: TwoRaters | None
    """Over all criteria; None when no item has two usable replies."""
    notes: list[Note] = field(default_factory=list)


@dataclass
class People:
    """The review."""

    flagged: int
    waiting: int
    decided: int
    """Items with at least one decision."""
    outcomes: dict[str, int]
    queued: dict[str, int]
    """Why items were put before people, to how many."""
    by_day: list[tuple[str, int]]
    """The last days, decisions on each."""
    last: datetime | None
    agreement: list[Agreement]
    overturns: list[Overturn]
    miss_rates: list[MissRate]
    stale: int
    alarms: list[tuple[str, str]]
    """Annotator and what is unusual."""
    notes: list[Note] = field(default_factory=list)

    @property
    def miss_rate(self) -> MissRate | None:
        """Over all strata."""
        return next((row for row in self.miss_rates if row.stratum == "all"), None)


def opinions(build: Build, tables: Tables) -> Opinions:
    """What rules and auditors said of the items as they stand."""
    tables.view("checked", "5_checked", "items")
    tables.view("findings", "5_checked", "findings")
    tables.view("audits", "6_audited", "audits")
    tables.view("verdicts", "6_audited", "verdicts")
    defects, sources = _defects(tables)
    items = tables.one("SELECT count(*) FROM checked") or 0
    blocked = tables.one(
        "SELECT count(DISTINCT subject) FROM findings WHERE severity = 'block' AND subject <> '*'"
    )
    verdicts = {
        r["status"]: r["n"] for r in tables.rows("SELECT status, count(*) n FROM verdicts GROUP BY ALL")
    }
    found = Opinions(
        sources=sources,
        defects=defects,
        items=items,
        verdicts=verdicts,
        audited=tables.one("SELECT count(*) FROM verdicts WHERE audited") or 0,
        to_audit=items - (blocked or 0),
        auditors=_auditors(build, tables),
        criteria=_criteria(build, tables),
        agreed=None,
    )
    found.agreed = _over_all(tables)
    found.notes += _about_audit(found)
    return found


def _defects(tables: Tables) -> tuple[list[DefectRow], list[str]]:
    from validators.checks.check import CHECKS

    titles = {check.id: check.title for _, check in CHECKS}
    counted = tables.rows(
        "SELECT f.\"check\" AS name, f.severity, coalesce(i.source, '') AS source, count(*) AS n "
        "FROM findings f LEFT JOIN checked i ON i.id = f.subject GROUP BY ALL ORDER BY source"
    )
    rows: dict[tuple[str, str], Counter[str]] = {}
    for row in counted:
        rows.setdefault((row["name"], row["severity"]), Counter())[row["source"]] += row["n"]
    order = {"block": 0, "flag": 1, "report": 2}
    made = [
        DefectRow(
            check=check,
            severity=severity,
            title=titles.get(check, ""),
            by_source={source: n for source, n in counts.items() if source},
            whole_set=counts[""],
        )
        for (check, severity), counts in rows.items()
    ]
    made.sort(key=lambda row: (order[row.severity], -row.count, row.check))
    return made, sorted({row["source"] for row in counted} - {""})


def _auditors(build: Build, tables: Tables) -> list[AuditorRow]:
    counted = tables.rows("SELECT auditor, status, count(*) AS n FROM audits GROUP BY ALL")
    replies = {(row["auditor"], row["status"]): row["n"] for row in counted}
    return [
        AuditorRow(
            name=one.name,
            model=one.model,
            capable=one.capable,
            valid=replies.get((one.name, "valid"), 0),
            repaired=replies.get((one.name, "repaired"), 0),
            invalid=replies.get((one.name, "invalid"), 0),
        )
        for one in build.auditors().auditors
    ]


_PAIRS = (
    "FROM audits a JOIN audits b ON a.item = b.item AND a.auditor < b.auditor "
    "WHERE cardinality(a.scores) > 0 AND cardinality(b.scores) > 0"
)


def _criteria(build: Build, tables: Tables) -> list[CriterionRow]:
    zeros = {
        (row["auditor"], row["criterion"]): row["n"]
        for row in tables.rows(
            "SELECT auditor, criterion, count(*) AS n FROM "
            "(SELECT auditor, unnest(map_keys(scores)) AS criterion, unnest(map_values(scores)) AS score "
            "FROM audits) WHERE score = 0 GROUP BY ALL"
        )
    }
    names = [one.name for one in build.auditors().auditors]
    rows = []
    for criterion in CRITERIA:
        square = tables.rows(
            f"SELECT a.scores[$1] AS x, b.scores[$1] AS y, count(*) AS n {_PAIRS} GROUP BY ALL", [criterion]
        )
        counts = {name: zeros.get((name, criterion), 0) for name in names}
        rows.append(CriterionRow(criterion, counts, _agreed(square)))
    return rows


def _over_all(tables: Tables) -> TwoRaters | None:
    square = tables.rows(
        "SELECT x, y, count(*) AS n FROM (SELECT unnest(map_values(a.scores)) AS x, "
        f"unnest(map_values(b.scores)) AS y {_PAIRS}) GROUP BY ALL"
    )
    return _agreed(square) if square else None


def _agreed(square: Sequence[dict[str, Any]]) -> TwoRaters:
    from validators.audit.rates import agreement

    first = [row["x"] for row in square for _ in range(row["n"])]
    second = [row["y"] for row in square for _ in range(row["n"])]
    return agreement(first, second)


def _about_audit(found: Opinions) -> list[Note]:
    notes = []
    if not found.items:
        return [Note("unknown", "no items have been checked, so nothing is known of their defects")]
    if not found.audited:
        notes.append(Note("unknown", "no item has been seen by both auditors"))
    elif found.audited < found.to_audit:
        share = found.audited / found.to_audit
        notes.append(
            Note("look", f"auditors saw {found.audited:,} of {found.to_audit:,} items ({share:.0%})")
        )
    for one in found.auditors:
        if not one.capable:
            notes.append(
                Note("look", f"auditor {one.name} is too small to be a judge: its passes prove nothing")
            )
        if one.replies and one.invalid > MANY_INVALID * one.replies:
            notes.append(
                Note("look", f"{one.invalid / one.replies:.0%} of the replies of {one.name} are unusable")
            )
    return notes


def people(build: Build, tables: Tables, now: datetime | None = None) -> People:
    """How the review goes; only items that people were given are read."""
    from annotation.decisions import stored
    from annotation.pull import Stores
    from annotation.report import review_report
    from annotation.sampling import Queued
    from flows.steps.check import reviews_of

    stores = Stores.under(build.lake.url)
    reviews, queued = reviews_of(build), stored(stores.queued, Queued)
    tables.view("verdicts", "6_audited", "verdicts")
    tables.view("removed", "7_reviewed", "rejected")
    known = {review.item for review in reviews} | {row.item for row in queued}
    items, audits = _judged(build, tables, known)
    report = review_report(
        stores,
        items,
        audits,
        seed=build.config.seed,
        overlap=build.config.review.overlap,
        adjudicators=build.config.review.adjudicators,
    )
    found = People(
        flagged=tables.one("SELECT count(*) FROM verdicts WHERE status = 'flag'") or 0,
        waiting=tables.one("SELECT count(*) FROM removed WHERE reason = 'unresolved'") or 0,
        decided=len({review.item for review in reviews}),
        outcomes=report.outcomes,
        queued=dict(sorted(Counter(row.why for row in queued).items())),
        by_day=_by_day(reviews, now or datetime.now(UTC)),
        last=max((review.decided_at for review in reviews), default=None),
        agreement=[row for row in report.agreement if row.group == "all"],
        overturns=[row for row in report.overturns if row.zeros or row.missed],
        miss_rates=list(report.miss_rates),
        stale=report.stale,
        alarms=[(row.annotator, ", ".join(row.alarms)) for row in report.annotators if row.alarms],
    )
    found.notes += _about_people(found)
    return found


def _judged(build: Build, tables: Tables, known: set[str]) -> tuple[list[Any], list[Any]]:
    """Items and audits of what people were given, from the few shards they stand in."""
    from flows.context import ITEM_ROWS
    from schemas.audit import Audit

    if not known:
        return [], []
    tables.view("audited_items", "6_audited", "items")
    shards = tables.rows(
        "SELECT DISTINCT shard FROM audited_items WHERE id IN (SELECT unnest($1))", [sorted(known)]
    )
    stage = build.stage("6_audited")
    items, audits = [], []
    for row in sorted(shards, key=lambda row: row["shard"]):
        items += [item for item in stage.read("items", ITEM_ROWS, row["shard"]) if item.id in known]
        audits += [audit for audit in stage.read("audits", Audit, row["shard"]) if audit.item in known]
    return items, audits


def _by_day(reviews: Sequence[Review], now: datetime) -> list[tuple[str, int]]:
    counts = Counter(review.decided_at.astimezone(UTC).date() for review in reviews)
    days = [now.date() - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    return [(day.isoformat(), counts[day]) for day in days] if counts else []


def _about_people(found: People) -> list[Note]:
    notes = []
    if found.waiting:
        notes.append(Note("look", f"{found.waiting:,} flagged items wait for people"))
    if found.stale:
        notes.append(
            Note("look", f"{found.stale:,} decided items have changed since: their decisions no longer bind")
        )
    if found.miss_rate is None:
        notes.append(
            Note("unknown", "no unflagged item was sampled and decided, so the miss rate is unknown")
        )
    notes += [Note("look", f"annotator {name}: {alarms}") for name, alarms in found.alarms]
    return notes
