"""The page of an external audit: what was found in the benchmark, item by item."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from mihakk.machinery.groups import grouped
from mihakk.pipeline.external_audit import AuditJob, run_audit
from mihakk.pipeline.external_summary import WORTH_MOST, Audited, AuditSummary, share_bad
from mihakk.pipeline.usage import describe
from mihakk.releases.card.charts import Point, scatter
from mihakk.reports.templates import templates, write_page
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.finding import SEVERITIES, Finding
from mihakk.schemas.rejection import Rejection
from mihakk.validators.audit.auditing import Estimate
from mihakk.validators.checks.texts import told_place
from mihakk.validators.external.clusters import Cluster
from mihakk.validators.external.merging import linked
from mihakk.validators.external.places import with_names

_QUOTED = re.compile("«([^«»]*)»")
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


def audit_to_page(
    job: AuditJob, tick: Callable[[int], None], before: Callable[[Estimate], None] | None = None
) -> tuple[Audited, AuditSummary]:
    """Runs an external audit and writes its page beside its tables; arguments as of `run_audit`."""
    audited, summary = run_audit(job, tick, before)
    write_benchmark_report(audited, summary, job.folder / "report.html")
    return audited, summary


def write_benchmark_report(audited: Audited, summary: AuditSummary, path: Path) -> Path:
    """Writes the page, which opens offline."""
    environment = templates(
        Path(__file__).parent, {"percent": percent, "describe": describe, "isolated": isolated}
    )
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
        clusters=_worth_most(audited, by_id),
        checks=_examples(audited, summary, by_id),
        reasons=Counter(
            reason
            for v in audited.verdicts
            if audited.outcomes[v.item] in ("block", "flag")
            for reason in v.reasons
        ).most_common(),
        kinds=_groups(audited, by_id),
        zeros=_zeros(audited),
        criteria=CRITERIA,
        rejected=_rejected(audited.benchmark.rejected),
        names={name: place.name for name, place in audited.places.items()},
        files={name: Path(file).name for name, file in summary.files.items() if name != "report"},
    )


def size_against_rate(points: Sequence[Point]) -> str:
    """The chart of rates (per cent) by size, beside what QIMMA discarded of published benchmarks."""
    return scatter("Share that is blocked or flagged (%), by size", points, "items", QIMMA)


def percent(rate: float | None) -> str:
    """A rate for a page; a dash where nothing is known."""
    return "–" if rate is None else f"{rate:.2%}".replace("%", "\u202f%")


def isolated(text: str) -> Markup:
    """A message whose quotes keep their own direction."""
    return Markup(_QUOTED.sub(r"«<bdi>\1</bdi>»", str(escape(text))))  # nosec B704 # escaped before


def _worth_most(audited: Audited, items: Mapping[str, Any]) -> list[tuple[Cluster, Any]]:
    """The causes that are worth most, each with the item that shows it (None for rows that are none)."""
    wrong = [one for one in audited.clusters if one.severity != "report"]
    return [(one, items.get(one.example)) for one in wrong[:WORTH_MOST]]


def _examples(audited: Audited, summary: AuditSummary, items: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each check, how many items it objected to, and some findings with their items (None for the set)."""
    found = grouped(audited.findings, lambda one: (one.severity, one.check))
    checks = []
    for count in sorted(summary.checks, key=lambda one: (SEVERITIES.index(one.severity), -one.findings)):
        first: dict[str, Finding] = {}
        for one in found[count.severity, count.check]:
            first.setdefault(one.subject, one)
        examples = [
            (told_place(one.where), with_names(one.detail, audited.places), items.get(name))
            for name, one in list(first.items())[:EXAMPLES]
        ]
        checks.append({"count": count, "subjects": len(first), "examples": examples})
    return checks


def _groups(audited: Audited, items: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Items that belong together, by the reason: some groups with some members, and how many there are."""
    from mihakk.validators.checks.gathering import split_of

    index = audited.index
    across: list[list[str]] = []
    within: list[list[str]] = []
    for group in linked(index.copies):
        splits = {split_of(items[name]) for name in group} - {""}
        (across if len(splits) > 1 else within).append(group)
    near = {
        name: [other for other, _ in pairs if other not in index.rivals.get(name, ())]
        for name, pairs in index.near.items()
    }
    kinds = (
        (
            "The same question, different answers",
            "Each counts as right what another offers as wrong.",
            linked(index.rivals),
        ),
        ("The same item in several splits", "What is tested was trained or tuned on.", across),
        (
            "The same item more than once",
            "Equal in question, options and gold, whatever their order.",
            within,
        ),
        (
            "Nearly the same words",
            "Nearly all pairs of neighbouring words are shared, options included.",
            linked(near),
        ),
    )
    return [
        {
            "title": title,
            "says": says,
            "groups": [[items[name] for name in group[:MEMBERS]] for group in groups[:GROUPS]],
            "total": len(groups),
        }
        for title, says, groups in kinds
        if groups
    ]


def _zeros(audited: Audited) -> dict[str, Counter[str]]:
    """Auditor to how often it scored each criterion 0."""
    zeros: dict[str, Counter[str]] = defaultdict(Counter)
    for audit in audited.audits:
        zeros[audit.auditor].update(name for name, score in audit.scores.items() if not score)
    return zeros


def _rejected(rejections: Sequence[Rejection]) -> list[tuple[str, int, Rejection]]:
    """Reason, how many rows, and one of them."""
    counts = Counter(rejection.reason for rejection in rejections)
    first = {rejection.reason: rejection for rejection in reversed(rejections)}
    return [(reason, count, first[reason]) for reason, count in counts.most_common()]
