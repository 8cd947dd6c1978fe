"""The explorer: items by task, verdict, audit, check, source, state and text, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.tables import Tables
from mihakk.schemas.audit import AUDIT_STATES, SHORT_RULES
from mihakk.schemas.stages import AUDITED, CHECKED, GENERATED, REVIEWED

PAGE = 25
STATES = ("kept", "waiting", "blocked", "discarded", "other order left out", "open")
"""kept: goes into the release; open: no build has come past the checks with it yet."""


@dataclass(frozen=True)
class Filter:
    """What a person asked for; empty fields ask nothing."""

    task: str = ""
    verdict: str = ""
    audit: str = ""
    check: str = ""
    source: str = ""
    language: str = ""
    state: str = ""
    text: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """From the query of an address; a page that is no number is the first."""
        asked = {one.name: query.get(one.name, "").strip()[:200] for one in fields(cls) if one.name != "page"}
        page = query.get("page", "1")
        return cls(
            **asked, page=min(max(1, int(page)), 1_000_000) if page.isdecimal() and len(page) < 8 else 1
        )

    def asked(self) -> dict[str, str]:
        """The fields that ask something, page aside."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name != "page" and getattr(self, one.name)
        }


@dataclass(frozen=True)
class ItemPage:
    """One page of the explorer."""

    asked: Filter
    total: int
    rows: list[dict[str, Any]]
    choices: dict[str, list[str]]
    """Filter to the values there are."""
    stage: str
    """The stage whose items are shown."""

    @property
    def pages(self) -> int:
        """How many pages there are; at least one."""
        return max(1, -(-self.total // PAGE))


AUDIT_STATE = (
    "CASE WHEN v.item IS NULL THEN '' WHEN NOT v.audited THEN 'checks' WHEN "
    + " OR ".join(f"coalesce(v.rules['{rule}'], false)" for rule in SHORT_RULES)
    + " THEN 'short' ELSE 'both' END"
)
"""`Verdict.audit_state` as SQL over the verdicts `v`."""
_SHOWN = f"""
CREATE OR REPLACE VIEW shown AS SELECT i.*, v.status AS verdict, {AUDIT_STATE} AS audit,
  CASE WHEN k.id IS NOT NULL THEN 'kept' WHEN l.reason IN ('unresolved', 'defective') THEN 'waiting'
       WHEN l.reason = 'other_order' THEN 'other order left out'
       WHEN l.reason IS NOT NULL THEN CASE WHEN v.status = 'block' THEN 'blocked' ELSE 'discarded' END
       ELSE 'open' END AS state
FROM items i LEFT JOIN verdicts v ON v.item = i.id LEFT JOIN (SELECT id FROM kept) k ON k.id = i.id
  LEFT JOIN (SELECT record, min(reason) AS reason FROM removed GROUP BY record) l ON l.record = i.id"""
_TEXT = (
    "concat_ws(' ', question, context, array_to_string(options, ' '), answer, "
    "array_to_string(verses, ' '), array_to_string(map_values(fields), ' '))"
)


def open_items(build: Build, tables: Tables) -> str:
    """Makes the items and all that is filtered by known to the tables; gives the stage they come from."""
    stage = next((s for s in (AUDITED, CHECKED, GENERATED) if build.stage(s).finished()), GENERATED)
    tables.view("items", stage, "items")
    tables.view("verdicts", AUDITED, "verdicts")
    tables.view("findings", CHECKED, "findings")
    tables.view("kept", REVIEWED, "items")
    tables.view("removed", REVIEWED, "rejected")
    tables.rows(_SHOWN)
    return stage


def explore(build: Build, tables: Tables, asked: Filter) -> ItemPage:
    """The page of items that a filter asks for."""
    stage = open_items(build, tables)
    where, values = _where(asked)
    total = tables.one(f"SELECT count(*) FROM shown WHERE {where}", values) or 0
    last = max(1, -(-total // PAGE))
    page = min(asked.page, last)
    rows = tables.rows(
        f"SELECT id, task, language, source, question, context, verdict, audit, state FROM shown "
        f"WHERE {where} ORDER BY shard, place LIMIT {PAGE} OFFSET {(page - 1) * PAGE}",
        values,
    )
    shown = Filter(**asked.asked(), page=page)
    return ItemPage(asked=shown, total=total, rows=rows, choices=_choices(tables), stage=stage)


def _where(asked: Filter) -> tuple[str, list[str]]:
    conditions, values = ["true"], []
    for column in ("task", "verdict", "audit", "source", "language", "state"):
        if wanted := getattr(asked, column):
            values.append(wanted)
            conditions.append(f"{column} = ${len(values)}")
    if asked.check:
        values.append(asked.check)
        conditions.append(f'id IN (SELECT subject FROM findings WHERE "check" = ${len(values)})')
    if asked.text:
        values.append(asked.text)
        place = f"${len(values)}"
        conditions.append(f"(id = {place} OR contains(fold({_TEXT}), fold({place}::VARCHAR)))")
    return " AND ".join(conditions), values


def _choices(tables: Tables) -> dict[str, list[str]]:
    def values(column: str, table: str) -> list[str]:
        return [
            row["one"]
            for row in tables.rows(f"SELECT DISTINCT {column} AS one FROM {table} ORDER BY one")
            if row["one"]
        ]

    return {
        "task": values("task", "items"),
        "language": values("language", "items"),
        "source": values("source", "items"),
        "verdict": ["pass", "flag", "block"],
        "audit": list(AUDIT_STATES),
        "state": list(STATES),
        "check": values('"check"', "findings"),
    }


@dataclass(frozen=True)
class RejectedPage:
    """Records and items that a stage did not pass on, a page at a time."""

    stage: str
    reason: str
    reasons: dict[str, int]
    total: int
    page: int
    rows: list[dict[str, Any]]

    @property
    def pages(self) -> int:
        """How many pages there are; at least one."""
        return max(1, -(-self.total // PAGE))


def rejected(tables: Tables, stage: str, reason: str, page: int) -> RejectedPage:
    """What a stage rejected, for one reason or for all."""
    tables.view("gone", stage, "rejected")
    counted = tables.rows("SELECT reason, count(*) AS n FROM gone GROUP BY reason ORDER BY n DESC, reason")
    reasons = {row["reason"]: row["n"] for row in counted}
    total = reasons.get(reason, 0) if reason else sum(reasons.values())
    page = min(max(1, page), max(1, -(-total // PAGE)))
    rows = tables.rows(
        "SELECT record, source, reason, detail, kept FROM gone WHERE $1 = '' OR reason = $1 "
        f"ORDER BY shard, place LIMIT {PAGE} OFFSET {(page - 1) * PAGE}",
        [reason],
    )
    return RejectedPage(stage, reason, reasons, total, page, rows)
