"""The facts of a run's report, gathered from the lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.decisions.apply import WAITING
from annotation.statistics.review_report import ReviewReport
from mihakk.groups import grouped
from pipeline.build import Build
from pipeline.opened_review import review_of
from reports.run.funnel import funnel_chart
from reports.run.quality_section import QualityFacts, quality_facts
from schemas.audit import CRITERIA, Audit, AuditState, Verdict
from schemas.finding import SEVERITIES, Finding, Severity
from schemas.item import Item
from schemas.manifest import ShardCounts, StageManifest
from schemas.published import Published
from schemas.rejection import Rejection
from schemas.stages import AUDITED, CHECKED, RELEASED, REVIEWED, STAGES

QUEUE_SHOWN = 30
EXAMPLES_PER_REASON = 3


@dataclass
class SourceFunnel:
    """One source's way through the stages that work on records."""

    name: str
    stages: list[tuple[str, ShardCounts]]


@dataclass
class CheckRow:
    """One check that found something."""

    check: str
    title: str
    severity: Severity
    count: int
    example: Finding


@dataclass
class AuditorRow:
    """One auditor's replies."""

    name: str
    model: str
    family: str
    capable: bool
    replies: int
    valid: int
    repaired: int
    invalid: int
    own_family: int
    """Items it judged of which a model of its own family wrote a part."""
    zeros: dict[str, int]
    """Criterion to how often it was scored 0."""


@dataclass
class TaskRow:
    """One task's items through checks, audit and review."""

    task: str
    language: str
    made: int = 0
    blocked: int = 0
    flagged: int = 0
    states: Counter[AuditState] = field(default_factory=Counter)
    """Items per state of the audit."""
    released: int = 0
    sample: Any = None


@dataclass
class ReportFacts:
    """Everything the page shows."""

    title: str
    name: str
    release: Published
    stages: list[StageManifest]
    seconds: Mapping[str, float]
    sources: list[SourceFunnel]
    rejections: list[tuple[str, str, int, list[Rejection]]]
    """Stage, reason, count and a few examples."""
    tasks: list[TaskRow]
    checks: list[CheckRow]
    auditors: list[AuditorRow]
    verdicts: Counter[str]
    states: Counter[AuditState]
    """Items per state of the audit."""
    waiting: list[tuple[Any, Verdict]]
    waiting_total: int
    text_changes: list[tuple[str, int]]
    people: ReviewReport
    quality: QualityFacts
    funnel: str
    """The sources' way through the stages as a picture (SVG)."""
    criteria: tuple[str, ...] = field(default=CRITERIA)

    @property
    def capable(self) -> bool:
        """Whether both auditors are large enough to be judges."""
        return all(auditor.capable for auditor in self.auditors)


def gather(build: Build, seconds: Mapping[str, float]) -> ReportFacts:
    """The facts of a finished build; `seconds` are the stages' wall times in this run."""
    manifests = [build.stage(stage).manifest() for stage in STAGES]
    audits = list(build.stage(AUDITED).read_all("audits", Audit))
    review = review_of(build)
    verdicts = {verdict.item: verdict for verdict in review.verdicts}
    waiting = {r.record for r in build.stage(REVIEWED).rejections() if r.reason in WAITING}
    released = set(build.stage(REVIEWED).frame("items", ["id"]).get("id", ()))
    tasks: dict[tuple[str, str], TaskRow] = {}
    shown: list[tuple[Any, Verdict]] = []
    written: list[Item] = []
    for item in review.items:
        verdict = verdicts[item.id]
        if item.origin.model_family:
            written.append(item)
        row = tasks.setdefault((item.language, item.task), TaskRow(item.task, item.language))
        row.made += 1
        row.blocked += verdict.status == "block"
        row.flagged += verdict.status == "flag"
        row.states[verdict.audit_state] += 1
        row.released += item.id in released
        if row.sample is None and item.id in released:
            row.sample = item
        if item.id in waiting and len(shown) < QUEUE_SHOWN:
            shown.append((item, verdict))
    sources = list(_sources(build, manifests))
    return ReportFacts(
        title=build.config.title,
        name=build.config.name,
        release=next(iter(build.stage(RELEASED).read_all("release", Published))),
        stages=manifests,
        seconds=seconds,
        sources=sources,
        rejections=list(_rejections(build)),
        tasks=[tasks[name] for name in sorted(tasks)],
        checks=_checks(build),
        auditors=list(_auditors(build, audits, written)),
        verdicts=Counter(verdict.status for verdict in verdicts.values()),
        states=Counter(verdict.audit_state for verdict in verdicts.values()),
        waiting=shown,
        waiting_total=len(waiting),
        text_changes=_text_changes(manifests[1].counts),
        people=review.report(),
        quality=quality_facts(build, manifests[3]),
        funnel=funnel_chart({one.name: one.stages for one in sources}),
    )


def _sources(build: Build, manifests: list[StageManifest]) -> Iterator[SourceFunnel]:
    from mihakk.lake.stage import total

    for use in build.config.sources:
        name = use.label
        stages = []
        for manifest in manifests[:4]:
            mine = [s.counts for s in manifest.shards if s.source == name]
            stages.append((manifest.stage, total(mine)))
        yield SourceFunnel(name, stages)


def _rejections(build: Build) -> Iterator[tuple[str, str, int, list[Rejection]]]:
    for stage in STAGES:
        by_reason = grouped(build.stage(stage).rejections(), lambda row: row.reason)
        for reason, rows in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
            if reason not in WAITING:
                yield stage, reason, len(rows), rows[:EXAMPLES_PER_REASON]


def _checks(build: Build) -> list[CheckRow]:
    from validators.checks.check import check_titles

    titles = check_titles()
    found: dict[tuple[str, str], CheckRow] = {}
    for finding in build.stage(CHECKED).read_all("findings", Finding):
        name = (finding.check, finding.severity)
        if name in found:
            found[name].count += 1
        else:
            title = titles.get(finding.check, "")
            found[name] = CheckRow(finding.check, title, finding.severity, 1, finding)
    return sorted(found.values(), key=lambda row: (SEVERITIES.index(row.severity), -row.count))


def _auditors(build: Build, audits: list[Audit], written: list[Item]) -> Iterator[AuditorRow]:
    from validators.audit.auditing import same_family

    auditors = build.auditors().auditors
    own = same_family(written, audits, auditors)
    for auditor in auditors:
        mine = [audit for audit in audits if audit.auditor == auditor.name]
        status = Counter(audit.status for audit in mine)
        zeros = Counter(c for audit in mine for c, score in audit.scores.items() if score == 0)
        yield AuditorRow(
            name=auditor.name,
            model=auditor.model,
            family=auditor.family,
            capable=auditor.capable,
            replies=len(mine),
            valid=status["valid"],
            repaired=status["repaired"],
            invalid=status["invalid"],
            own_family=own[auditor.name],
            zeros={criterion: zeros[criterion] for criterion in CRITERIA},
        )


def _text_changes(counts: ShardCounts) -> list[tuple[str, int]]:
    changes = {n.removeprefix("canonical."): c for n, c in counts.notes.items() if n.startswith("canonical.")}
    return sorted(changes.items(), key=lambda pair: -pair[1])
