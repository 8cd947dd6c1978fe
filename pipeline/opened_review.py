"""One review, of a benchmark or of an audited set, as the commands of its lead open it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.build import open_build
from pipeline.external_people import is_audited_set, open_set, queue_tables, set_stores
from pipeline.people import review_stores
from pipeline.suspects import evidence
from schemas.audit import Audit
from schemas.benchmark import ReviewConfig
from schemas.finding import Finding
from schemas.stages import AUDITED

if TYPE_CHECKING:
    from annotation.decisions.stores import Stores


@dataclass(frozen=True)
class OpenReview:
    """The review of a benchmark, or of an externally audited set: what people decided, and how it counts."""

    name: str
    stores: Stores
    config: ReviewConfig
    locked: Callable[[], AbstractContextManager[object]]
    """Keeps builds and pulls off the decisions while something is added to them."""
    evidence: Callable[[Collection[str]], dict[str, list[str]]]
    """What checks and auditors say of some items, a line each; annotators are never shown it."""


def open_review(config: Path, lake: str | None = None) -> OpenReview:
    """The review of a benchmark's config, or of the folder of an external audit."""
    if is_audited_set(config):
        known = open_set(config)

        def of_set(items: Collection[str]) -> dict[str, list[str]]:
            return evidence_lines(items, *queue_tables(config))

        return OpenReview(known.name, set_stores(config), known.review, nullcontext, of_set)
    build = open_build(config, Path("runs"), lake)

    def of_build(items: Collection[str]) -> dict[str, list[str]]:
        audited = build.stage(AUDITED)
        if not items or not audited.finished():
            return {}
        lines = evidence_lines(
            items, audited.read_all("findings", Finding), audited.read_all("audits", Audit)
        )
        for item, told in evidence(build).items():
            if item in items:
                lines.setdefault(item, []).append(f"systems' answers: {told}")
        return lines

    return OpenReview(
        build.config.name, review_stores(build), build.config.review, build.lake.locked, of_build
    )


def evidence_lines(
    items: Collection[str], findings: Iterable[Finding], audits: Iterable[Audit]
) -> dict[str, list[str]]:
    """What findings and audits say, a line each, by the item they speak of."""
    lines: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.subject in items:
            lines[finding.subject].append(f"check {finding.check}: {finding.detail}")
    for audit in audits:
        if audit.item in items:
            lines[audit.item] += [
                f"auditor {audit.auditor}, {issue.criterion}: {issue.explanation}" for issue in audit.issues
            ]
            if audit.blind_differs:
                said = f"auditor {audit.auditor}, without seeing the key: {audit.blind_answer}"
                lines[audit.item].append(said)
    return dict(lines)
