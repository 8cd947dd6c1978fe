"""The figures of an external audit, for its JSON summary, the terminal and the page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from mihakk.machinery.groups import grouped
from mihakk.pipeline.usage import Usage
from mihakk.schemas.audit import AUDIT_STATES, SHORT_RULES, Audit, AuditState, Verdict
from mihakk.schemas.finding import Finding, Severity
from mihakk.schemas.record import Record
from mihakk.schemas.review import Resolution
from mihakk.validators.external.clusters import Cluster, ClusterFigures, clusters
from mihakk.validators.external.folder import FileRead
from mihakk.validators.external.places import with_names

if TYPE_CHECKING:
    from mihakk.validators.checks.setindex import SetIndex
    from mihakk.validators.external.benchmark import ExternalBenchmark
    from mihakk.validators.external.places import RowPlace

Outcome = Literal["pass", "flag", "block", "merged", "discarded", "unjudged"]
"""What becomes of an item: its verdict, what people settled, or that an equal one stands for it.

`unjudged`: an auditor gave no usable reply and nothing else is said of it; it waits, and no rate counts it.
"""
WHOLE = "all"
"""Name of the one subset of a benchmark that has none."""


class SubsetRow(Record):
    """One subset's discard rate, as QIMMA's table has it."""

    subset: str
    items: int
    blocked: int
    flagged: int
    discarded: int
    """By people."""
    merged: int
    """Copies of a row that stands for them."""
    passed: int
    unjudged: int
    """An auditor gave no usable reply; nothing else speaks against them."""
    rate: float | None
    """Share blocked, flagged or discarded of the items but copies and unjudged ones; None if none is left."""
    rate_with_copies: float | None
    """The same with copies counted among what is wrong."""


class CheckCount(Record):
    """How often one check objected."""

    check: str
    title: str
    severity: Severity
    findings: int
    read: int = 0
    """Findings of this rule that people read on sets nobody tuned to, in the audit's languages."""
    right: int = 0
    """Of these, those worth a maintainer's time."""
    example: str


WORTH_MOST = 10
"""Clusters that the page, the terminal and SARIF begin with."""


class SharedCounts(Record):
    """Items that stand in the benchmark more than once, or twice with different answers."""

    same: int
    """Items that equal another in prompt, options and gold."""
    near: int
    """Items whose words overlap nearly wholly with another's that is no rival: those of `DU04`."""
    conflicting: int
    """Items whose question counts another answer as right elsewhere."""
    across_splits: dict[str, int]
    """Items of one split that stand in another too: `test in train` to how many."""


class AuditSummary(Record):
    """What the audit of a benchmark found."""

    source: str
    rows: int
    unreadable: int
    items: int
    source_files: tuple[FileRead, ...]
    """Every file and sheet of the source: read, or not and why."""
    labels: dict[str, str]
    """By table, what its golds are written in, where tables differ in that."""
    gold_as: str
    """How the golds were read."""
    audited: int
    """Items on which both auditors gave usable replies."""
    audit_states: dict[AuditState, int] = Field(default_factory=dict)
    """Items per state of the audit (`mihakk.schemas.audit.AUDIT_STATES`)."""
    kept_unseen: int
    """Items of the cleaned copy that checks alone have looked at."""
    overturned: int
    """Flagged or blocked items that people keep as they are."""
    corrected: int
    """Items that people corrected."""
    repairs: int
    """Cells that can be repaired with certainty."""
    repaired: bool
    """Whether they were."""
    policy: str
    subsets: tuple[SubsetRow, ...]
    checks: tuple[CheckCount, ...]
    shared: SharedCounts
    clusters: tuple[ClusterFigures, ...] = ()
    """Findings by their cause, the most worth a maintainer's time first, those that only count last."""
    auditors: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Auditor to replies per status."""
    reply_notes: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Auditor to replies per repair (`cascade`, `reasoning`, `fence`, `preamble`), and per language that is
    none of those asked for (`in French`)."""
    usage: dict[str, Usage] = Field(default_factory=dict)
    """Model to what it answered in this run; what the journal held already is not counted."""
    notes: tuple[str, ...] = ()
    """What checks could not look at here, and how to change that."""
    formulas: int = 0
    """Cells of the cleaned csv or tsv that a spreadsheet might run; they are the benchmark's own texts."""
    files: dict[str, str]
    """What was written; without `clean` where no item passed."""


@dataclass(frozen=True)
class Audited:
    """All that an audit knows of a benchmark."""

    benchmark: ExternalBenchmark
    places: Mapping[str, RowPlace]
    """Where each item stands in the benchmark, by its id."""
    index: SetIndex
    findings: Sequence[Finding]
    audits: Sequence[Audit]
    verdicts: Sequence[Verdict]
    merged: Mapping[str, str]
    """Item that was merged, to the equal one that stands for it."""
    people: Mapping[str, Resolution]
    """What people settled, or object to without having settled it."""
    left_out: Mapping[str, str]
    """Item that is left out, to the reason as a build has it."""
    corrected: Mapping[str, str]
    """Item that people corrected, to the columns that changed."""
    rescue: bool
    """People are asked about blocked rows, too."""
    policy: str
    notes: tuple[str, ...]
    """Of the summary."""
    capable: bool
    """Both auditors are large enough to be judges; False too where no model was asked."""

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """What becomes of each item, by its id."""
        return {one.item: self._outcome(one) for one in self.verdicts}

    @cached_property
    def passed(self) -> frozenset[str]:
        """Items of the cleaned copy."""
        return frozenset(name for name, outcome in self.outcomes.items() if outcome == "pass")

    @cached_property
    def clusters(self) -> list[Cluster]:
        """The findings by their cause, the most worth first; texts name rows as their owner does."""
        found = clusters(self.benchmark.items, self.findings, self.index, self.benchmark.rejected)
        return [
            one.model_copy(
                update={
                    "title": with_names(one.title, self.places),
                    "detail": with_names(one.detail, self.places),
                }
            )
            for one in found
        ]

    @cached_property
    def replies(self) -> dict[str, Counter[str]]:
        """Auditor to its replies per status."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for audit in self.audits:
            found[audit.auditor][audit.status] += 1
        return found

    @cached_property
    def reply_notes(self) -> dict[str, Counter[str]]:
        """Auditor to its replies per repair and oddity."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for audit in self.audits:
            found[audit.auditor].update(audit.notes)
        return found

    def settled_as(self, item: str) -> str:
        """What people settled of an item: `keep`, `discard` or `fix`; empty where they have not."""
        if item in self.corrected:
            return "fix"
        told = self.people.get(item)
        return told.outcome if told and told.outcome in ("keep", "discard") else ""

    def _outcome(self, verdict: Verdict) -> Outcome:
        if verdict.item in self.merged:
            return "merged"
        reason = self.left_out.get(verdict.item, "")
        if reason in ("", "blocked"):
            return "block" if reason else "pass"
        if reason.startswith("discarded"):
            return "discarded"
        short = verdict.reasons and set(verdict.reasons) <= set(SHORT_RULES)
        return "unjudged" if short and verdict.item not in self.people else "flag"


def failed(found: AuditSummary, least: float | Literal["block", "flag"]) -> bool:
    """Whether a benchmark is worse than its maintainers allow.

    Args:
        found: Its audit.
        least: `block`: any row blocked, any row or file unreadable; `flag`: any of that, flagged or a copy; a
            number: more than this share of the rows.
    """
    lost = sum(file.status == "unreadable" for file in found.source_files)
    blocked = lost + found.unreadable + sum(row.blocked for row in found.subsets)
    if least == "block":
        return blocked > 0
    bad = blocked + sum(row.flagged + row.discarded + row.merged for row in found.subsets)
    return bad > (0 if least == "flag" else least * found.rows)


def summarise(audited: Audited, files: Mapping[str, str], usage: Mapping[str, Usage]) -> AuditSummary:
    """The figures."""
    from mihakk.validators.external.clean import formula_cells

    benchmark = audited.benchmark
    outcomes = audited.outcomes
    per_subset: dict[str, Counter[str]] = defaultdict(Counter)
    for item in benchmark.items:
        per_subset[item.subset or WHOLE][outcomes[item.id]] += 1
    states = Counter(verdict.audit_state for verdict in audited.verdicts)
    return AuditSummary(
        source=benchmark.source,
        rows=len(benchmark.items) + len(benchmark.rejected),
        unreadable=len(benchmark.rejected),
        items=len(benchmark.items),
        source_files=tuple(benchmark.files),
        labels=benchmark.labels if len(set(benchmark.labels.values())) > 1 else {},
        gold_as=benchmark.gold_as,
        audited=states["both"],
        audit_states={state: states[state] for state in AUDIT_STATES},
        kept_unseen=sum(v.audit_state != "both" and outcomes[v.item] == "pass" for v in audited.verdicts),
        overturned=sum(v.status != "pass" and outcomes[v.item] == "pass" for v in audited.verdicts),
        corrected=len(audited.corrected),
        repairs=len(benchmark.repairs),
        repaired=benchmark.repaired,
        policy=audited.policy,
        subsets=tuple(_subset(name, counts) for name, counts in sorted(per_subset.items())),
        checks=_checks(audited),
        clusters=tuple(one.figures for one in audited.clusters),
        shared=_shared(audited),
        auditors={name: dict(counts) for name, counts in sorted(audited.replies.items())},
        reply_notes={name: dict(counts) for name, counts in sorted(audited.reply_notes.items()) if counts},
        usage=dict(usage),
        notes=audited.notes,
        formulas=formula_cells(benchmark, audited.passed),
        files=dict(files),
    )


def share_bad(outcomes: Counter[str]) -> float | None:
    """Share blocked, flagged or discarded of the items that something is known of, without copies."""
    known = outcomes.total() - outcomes["merged"] - outcomes["unjudged"]
    return (outcomes["block"] + outcomes["flag"] + outcomes["discarded"]) / known if known else None


def _subset(name: str, counts: Counter[str]) -> SubsetRow:
    items, rate = counts.total(), share_bad(counts)
    known = items - counts["unjudged"]
    return SubsetRow(
        subset=name,
        items=items,
        blocked=counts["block"],
        flagged=counts["flag"],
        discarded=counts["discarded"],
        merged=counts["merged"],
        passed=counts["pass"],
        unjudged=counts["unjudged"],
        rate=None if rate is None else round(rate, 4),
        rate_with_copies=round(1 - counts["pass"] / known, 4) if known else None,
    )


def _checks(audited: Audited) -> tuple[CheckCount, ...]:
    from mihakk.validators.checks.check import check_titles
    from mihakk.validators.checks.effect import precision
    from mihakk.validators.external.places import with_names

    titles = check_titles()
    languages = {item.language for item in audited.benchmark.items}
    found = grouped(audited.findings, lambda one: (one.severity, one.check))
    return tuple(
        CheckCount(
            check=check,
            title=titles.get(check, ""),
            severity=severity,
            findings=len(some),
            **precision(check, languages)._asdict(),
            example=with_names(f"{some[0].subject}: {some[0].detail}", audited.places),
        )
        for (severity, check), some in sorted(found.items(), key=lambda pair: (pair[0][0], -len(pair[1])))
    )


def _shared(audited: Audited) -> SharedCounts:
    from mihakk.validators.checks.duplicate.near_copy import near_of
    from mihakk.validators.checks.gathering import split_of

    index, splits = audited.index, {item.id: split_of(item) for item in audited.benchmark.items}
    across = Counter(
        f"{splits[name]} in {other}"
        for name, others in index.copies.items()
        for other in sorted({splits[copy] for copy in others} - {splits[name], ""})
        if splits[name]
    )
    return SharedCounts(
        same=len(index.copies),
        near=sum(bool(near_of(name, index)) for name in index.near),
        conflicting=len(index.rivals),
        across_splits=dict(sorted(across.items())),
    )
