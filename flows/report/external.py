"""The page about somebody's benchmark: what was found in it, item by item, as it is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flows.audited import Audited, AuditSummary, CheckCount
from flows.report.scatter import Point, size_against_rate
from flows.templates import templates
from flows.usage import told
from schemas.audit import CRITERIA, Audit
from schemas.finding import Finding
from schemas.rejection import Rejection

EXAMPLES = 5
"""Findings shown per check."""
GROUPS = 20
"""Groups of items shown per kind."""
MEMBERS = 4
"""Items shown per group."""
_ID = re.compile(r"\b(?:ar|fa|en)-external_(?:choice|answer)-\w+")
"""Ids of items, for which a reader sees the names of their rows."""
QIMMA = (
    Point("ArabicMMLU", 14_163, 436 / 14_163),
    Point("MizanQA", 1_769, 41 / 1_769),
    Point("PalmX", 3_001, 25 / 3_001),
    Point("MedAraBench", 4_960, 33 / 4_960),
    Point("FannOrFlop", 6_984, 43 / 6_984),
    Point("MedArabiQ", 300, 1 / 300),
    Point("ArabCulture", 3_482, 7 / 3_482),
    Point("3LM", 2_609, 1 / 2_609),
    Point("GAT", 13_986, 1 / 13_986),
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


def write_benchmark_report(audited: Audited, summary: AuditSummary, path: Path) -> Path:
    """Writes the page, which opens offline."""
    environment = templates(
        Path(__file__).parent,
        {"percent": lambda value: f"{value:.2%}".replace("%", "\u202f%"), "told": told},
    )
    by_id = {item.id: item for item in audited.benchmark.items}
    own = [Point(row.subset, row.items, row.rate) for row in summary.subsets]
    status = Counter(verdict.status for verdict in audited.verdicts)
    names = _row_names(audited, by_id)
    page = environment.get_template("external.html.jinja").render(
        summary=summary,
        name=Path(summary.source).name,
        capable=audited.capable,
        status=status,
        rate=(status["block"] + status["flag"]) / summary.items,
        # Our own SVG: its texts are escaped where it is made.
        chart=Markup(size_against_rate(own, QIMMA)),  # nosec B704 # the chart escapes what it is given
        checks=_examples(audited.findings, summary.checks, by_id, names),
        reasons=Counter(reason for v in audited.verdicts for reason in v.reasons).most_common(),
        kinds=_groups(audited, by_id),
        auditors=_zeros(audited.audits),
        criteria=CRITERIA,
        rejected=_rejected(audited.benchmark.rejected),
        names=names,
        files={name: Path(file).name for name, file in summary.files.items() if name != "report"},
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path.write_text(page, encoding="utf-8")
    return path


def _examples(
    findings: Sequence[Finding],
    counts: Sequence[CheckCount],
    items: Mapping[str, Any],
    names: Mapping[str, str],
) -> list[CheckExamples]:
    def readable(finding: Finding) -> Finding:
        detail = _ID.sub(lambda found: names.get(found[0], found[0]), finding.detail)
        return finding.model_copy(update={"detail": detail})

    grouped: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.severity, finding.check].append(finding)
    order = {"block": 0, "flag": 1, "report": 2}
    return [
        CheckExamples(
            count=count,
            items=len({finding.subject for finding in grouped[count.severity, count.check]}),
            examples=[
                (readable(finding), items.get(finding.subject))
                for finding in _one_each(grouped[count.severity, count.check])[:EXAMPLES]
            ],
        )
        for count in sorted(counts, key=lambda one: (order[one.severity], -one.findings))
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
    same = together(index.copies)
    across = [group for group in same if len({split_of(items[name]) for name in group} - {""}) > 1]
    beside = [group for group in same if group not in across]
    near = together(
        {
            name: [other for other, _ in pairs if other not in index.rivals.get(name, ())]
            for name, pairs in index.near.items()
        }
    )
    conflicts = together(index.rivals)
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


def together(links: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Names that are linked directly or through others, as sorted groups in order of their first."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for name, others in links.items():
        for other in others:
            parent[root(name)] = root(other)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(parent):
        groups[root(name)].append(name)
    return sorted(groups.values())


def _zeros(audits: Sequence[Audit]) -> list[AuditorZeros]:
    names = dict.fromkeys(audit.auditor for audit in audits)
    return [
        AuditorZeros(
            name,
            Counter(audit.status for audit in audits if audit.auditor == name),
            Counter(
                key
                for audit in audits
                if audit.auditor == name
                for key, score in audit.scores.items()
                if not score
            ),
        )
        for name in names
    ]


def _rejected(rejections: Sequence[Rejection]) -> list[tuple[str, int, Rejection]]:
    """Reason, how many rows, and one of them."""
    counts = Counter(rejection.reason for rejection in rejections)
    first = {rejection.reason: rejection for rejection in reversed(rejections)}
    return [(reason, count, first[reason]) for reason, count in counts.most_common()]


def _row_names(audited: Audited, items: Mapping[str, Any]) -> dict[str, str]:
    """What a reader calls each row: its own id, or file and row number, with its split."""
    from validators.checks.gathering import split_of

    names = {}
    for name, (place, row) in audited.benchmark.place.items():
        item = items[name]
        own = item.metadata.get("id") or f"{audited.benchmark.tables[place].name}, row {row + 1}"
        split = split_of(item)
        names[name] = f"{own} ({split})" if split else own
    return names
