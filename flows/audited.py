"""What the audit of somebody's benchmark came to, in figures: as JSON, on the terminal and for the page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field
from rich.console import Group
from rich.table import Table

from flows.terminal import shown_path
from flows.usage import Usage, told
from schemas.audit import Audit, Verdict
from schemas.finding import Finding
from schemas.record import Record

if TYPE_CHECKING:
    from validators.checks.setindex import SetIndex
    from validators.external.benchmark import ExternalBenchmark

WHOLE = "all"
"""Name of the one subset of a benchmark that has none."""


class SubsetRow(Record):
    """One subset's discard rate, as QIMMA's table has it."""

    subset: str
    items: int
    blocked: int
    flagged: int
    passed: int
    rate: float
    """Share blocked or flagged."""


class CheckCount(Record):
    """How often one check objected."""

    check: str
    title: str
    severity: str
    findings: int
    example: str


class SharedCounts(Record):
    """Items that stand in the benchmark more than once, or twice with different answers."""

    same: int
    """Items that equal another in prompt, options and gold."""
    near: int
    """Items whose words overlap nearly wholly with another's."""
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
    gold_as: str
    """How the golds were read."""
    audited: int
    policy: str
    subsets: tuple[SubsetRow, ...]
    checks: tuple[CheckCount, ...]
    shared: SharedCounts
    auditors: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Auditor to replies per status."""
    usage: dict[str, Usage] = Field(default_factory=dict)
    """Model to what it answered in this run; what the journal held already is not counted."""
    files: dict[str, str]
    """What was written; without `clean` where no item passed."""


@dataclass(frozen=True)
class Audited:
    """All that an audit knows of a benchmark."""

    benchmark: ExternalBenchmark
    index: SetIndex
    findings: Sequence[Finding]
    audits: Sequence[Audit]
    verdicts: Sequence[Verdict]
    policy: str
    capable: bool
    """Both auditors are large enough to be judges; False too where no model was asked."""


def summarise(audited: Audited, files: Mapping[str, str], usage: Mapping[str, Usage]) -> AuditSummary:
    """The figures."""
    benchmark = audited.benchmark
    status = {verdict.item: verdict.status for verdict in audited.verdicts}
    per_subset: dict[str, Counter[str]] = defaultdict(Counter)
    for item in benchmark.items:
        per_subset[item.subset or WHOLE][status[item.id]] += 1
    replies: dict[str, Counter[str]] = defaultdict(Counter)
    for audit in audited.audits:
        replies[audit.auditor][audit.status] += 1
    return AuditSummary(
        source=benchmark.source,
        rows=len(benchmark.items) + len(benchmark.rejected),
        unreadable=len(benchmark.rejected),
        items=len(benchmark.items),
        gold_as=benchmark.gold_as,
        audited=sum(verdict.audited for verdict in audited.verdicts),
        policy=audited.policy,
        subsets=tuple(_subset(name, counts) for name, counts in sorted(per_subset.items())),
        checks=_checks(audited.findings),
        shared=_shared(audited),
        auditors={name: dict(counts) for name, counts in sorted(replies.items())},
        usage=dict(usage),
        files=dict(files),
    )


def _subset(name: str, counts: Counter[str]) -> SubsetRow:
    items = counts.total()
    bad = counts["block"] + counts["flag"]
    return SubsetRow(
        subset=name,
        items=items,
        blocked=counts["block"],
        flagged=counts["flag"],
        passed=counts["pass"],
        rate=round(bad / items, 4),
    )


def _checks(findings: Iterable[Finding]) -> tuple[CheckCount, ...]:
    from validators.checks.check import CHECKS

    titles = {check.id: check.title for _, check in CHECKS}
    first: dict[tuple[str, str], Finding] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        name = (finding.severity, finding.check)
        counts[name] += 1
        first.setdefault(name, finding)
    return tuple(
        CheckCount(
            check=check,
            title=titles.get(check, ""),
            severity=severity,
            findings=count,
            example=f"{first[severity, check].subject}: {first[severity, check].detail}",
        )
        for (severity, check), count in sorted(counts.items(), key=lambda pair: (pair[0][0], -pair[1]))
    )


def _shared(audited: Audited) -> SharedCounts:
    from validators.checks.gathering import split_of

    index, splits = audited.index, {item.id: split_of(item) for item in audited.benchmark.items}
    across = Counter(
        f"{splits[name]} in {other}"
        for name, others in index.copies.items()
        for other in sorted({splits[copy] for copy in others} - {splits[name], ""})
        if splits[name]
    )
    return SharedCounts(
        same=len(index.copies),
        near=len(index.near),
        conflicting=len(index.rivals),
        across_splits=dict(sorted(across.items())),
    )


def show_summary(found: AuditSummary) -> Group:
    """The summary as tables."""
    subsets = Table(
        "Subset", "Items", "Blocked", "Flagged", "Passed", "Rate", title=found.source, title_justify="left"
    )
    for row in found.subsets:
        numbers = (row.items, row.blocked, row.flagged, row.passed)
        subsets.add_row(row.subset, *(f"{number:,}" for number in numbers), f"{row.rate:.2%}")
    checks = Table("Check", "Effect", "Findings", "What it guards", title="Findings", title_justify="left")
    for check in found.checks:
        checks.add_row(check.check, check.severity, f"{check.findings:,}", check.title)
    lines: list[Any] = [f"{found.items:,} items, golds read as {found.gold_as or 'answers in words'}."]
    if found.unreadable:
        lines.append(f"{found.unreadable:,} rows could not be read.")
    shared = found.shared
    lines.append(
        f"{shared.same:,} items stand there more than once, {shared.near:,} nearly so; "
        f"{shared.conflicting:,} have another answer elsewhere."
    )
    lines += [f"{count:,} items: {pair}." for pair, count in shared.across_splits.items()]
    seen = f"{found.audited:,} items seen by both auditors" if found.auditors else "no model was asked"
    lines.append(f"Policy {found.policy}; {seen}.")
    lines += [f"{name}: {told(used)}." for name, used in sorted(found.usage.items())]
    if "clean" not in found.files:
        lines.append("No item passed, so there is no cleaned copy; removed.parquet says why for each.")
    lines += [f"{name}: {shown_path(Path(path))}" for name, path in found.files.items()]
    return Group(subsets, checks, *lines)
