"""The page of an external audit: what was found in the benchmark, item by item."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pipeline.external_audit import AuditJob, run_audit
from pipeline.external_summary import Audited, AuditSummary, CheckCount, share_bad
from pipeline.usage import describe
from releases.card.charts import Point, scatter
from reports.templates import templates, write_page
from schemas.audit import CRITERIA
from schemas.finding import SEVERITIES, Finding
from schemas.rejection import Rejection
from validators.external.merging import linked
from validators.external.places import RowPlace, with_names

EXAMPLES = 5
"""Findings shown per check."""
GROUPS = 20
"""Groups of items shown per kind."""
MEMBERS = 4
"""Items shown per group."""
QIMMA = (
    ("ArabicMMLU", 14_163, 100 * 436 / 14_163),
    ("MizanQA", 1_769, 100 * 41 / 1_769),
    ("PalmX", 3_001, 100 * 25 / 3_001),
    ("MedAraBench", 4_960, 100 * 33 / 4_960),
    ("FannOrFlop", 6_984, 100 * 43 / 6_984),
    ("MedArabiQ", 300, 100 * 1 / 300),
    ("ArabCulture", 3_482, 100 * 7 / 3_482),
    ("3LM", 2_609, 100 * 1 / 2_609),
    ("GAT", 13_986, 100 * 1 / 13_986),
)
"""What QIMMA's authors discarded of published Arabic benchmarks once people had looked (their table 2)."""


@dataclass(frozen=True)
class CheckExamples:
    """One check and some of what it objected to."""

    count: CheckCount
    items: int
    """Items it objected to."""
    examples: Sequence[tuple[Finding, Any]]
    """Findings with their items; None for a finding about the whole set."""


@dataclass(frozen=True)
class GroupKind:
    """Items that belong together for one reason."""

    title: str
    says: str
    groups: Sequence[Sequence[Any]]
    total: int
    """Groups in all."""


@dataclass(frozen=True)
class AuditorZeros:
    """How often one auditor scored each criterion 0."""

    name: str
    replies: Mapping[str, int]
    zeros: Mapping[str, int]


def audit_to_page(job: AuditJob, tick: Callable[[int], None]) -> tuple[Audited, AuditSummary]:
    """Runs an external audit and writes its page beside its tables."""
    audited, summary = run_audit(job, tick)
    write_benchmark_report(audited, summary, job.folder / "report.html")
    return audited, summary


def write_benchmark_report(audited: Audited, summary: AuditSummary, path: Path) -> Path:
    """Writes the page, which opens offline."""
    environment = templates(Path(__file__).parent, {"percent": percent, "describe": describe})
    by_id = {item.id: item for item in audited.benchmark.items}
    own = [(row.subset, row.items, 100 * row.rate) for row in summary.subsets if row.rate is not None]
    status = Counter[str](audited.outcomes.values())
    return write_page(
        environment.get_template("external.html.jinja"),
        path,
        summary=summary,
        name=Path(summary.source).name,
        capable=audited.capable,
        status=status,
        rate=share_bad(status),
        unseen=summary.kept_unseen,
        chart=size_against_rate(own),
        checks=_examples(audited.findings, summary.checks, by_id, audited.places),
        reasons=Counter(
            reason
            for v in audited.verdicts
            if audited.outcomes[v.item] in ("block", "flag")
            for reason in v.reasons
        ).most_common(),
        kinds=_groups(audited, by_id),
        auditors=_zeros(audited),
        criteria=CRITERIA,
        rejected=_rejected(audited.benchmark.rejected),
        names={name: place.name for name, place in audited.places.items()},
        files={name: Path(file).name for name, file in summary.files.items() if name != "report"},
    )


def size_against_rate(points: Sequence[Point]) -> Markup:
    """The chart of rates (per cent) by size, beside what QIMMA discarded of published benchmarks."""
    title = "Share that is blocked or flagged (%), by size"
    return Markup(scatter(title, points, "items", QIMMA))  # nosec B704 # the chart escapes its texts


def percent(rate: float | None) -> str:
    """A rate for a page; a dash where nothing is known."""
    return "–" if rate is None else f"{rate:.2%}".replace("%", "\u202f%")


def _examples(
    findings: Sequence[Finding],
    counts: Sequence[CheckCount],
    items: Mapping[str, Any],
    places: Mapping[str, RowPlace],
) -> list[CheckExamples]:
    def readable(finding: Finding) -> Finding:
        return finding.model_copy(update={"detail": with_names(finding.detail, places)})

    grouped: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.severity, finding.check].append(finding)
    return [
        CheckExamples(
            count=count,
            items=len({finding.subject for finding in grouped[count.severity, count.check]}),
            examples=[
                (readable(finding), items.get(finding.subject))
                for finding in _one_each(grouped[count.severity, count.check])[:EXAMPLES]
            ],
        )
        for count in sorted(counts, key=lambda one: (SEVERITIES.index(one.severity), -one.findings))
    ]


def _one_each(findings: Iterable[Finding]) -> list[Finding]:
    """The first finding about each item."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.subject, finding)
    return list(first.values())


def _groups(audited: Audited, items: Mapping[str, Any]) -> list[GroupKind]:
    from validators.checks.gathering import split_of

    index = audited.index
    same = linked(index.copies)
    across = [group for group in same if len({split_of(items[name]) for name in group} - {""}) > 1]
    beside = [group for group in same if group not in across]
    near = linked(
        {
            name: [other for other, _ in pairs if other not in index.rivals.get(name, ())]
            for name, pairs in index.near.items()
        }
    )
    conflicts = linked(index.rivals)
    kinds = (
        (
            "The same question, different answers",
            "Each counts as right what another offers as wrong.",
            conflicts,
        ),
        ("The same item in several splits", "What is tested was trained or tuned on.", across),
        (
            "The same item more than once",
            "Equal in question, options and gold, whatever their order.",
            beside,
        ),
        (
            "Nearly the same words",
            "Nearly all pairs of neighbouring words are shared, options included.",
            near,
        ),
    )
    return [
        GroupKind(
            title,
            says,
            [[items[name] for name in group[:MEMBERS]] for group in groups[:GROUPS]],
            len(groups),
        )
        for title, says, groups in kinds
        if groups
    ]


def _zeros(audited: Audited) -> list[AuditorZeros]:
    zeros: dict[str, Counter[str]] = defaultdict(Counter)
    for audit in audited.audits:
        zeros[audit.auditor].update(name for name, score in audit.scores.items() if not score)
    return [AuditorZeros(name, replies, zeros[name]) for name, replies in audited.replies.items()]


def _rejected(rejections: Sequence[Rejection]) -> list[tuple[str, int, Rejection]]:
    """Reason, how many rows, and one of them."""
    counts = Counter(rejection.reason for rejection in rejections)
    first = {rejection.reason: rejection for rejection in reversed(rejections)}
    return [(reason, count, first[reason]) for reason, count in counts.most_common()]
