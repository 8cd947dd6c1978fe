"""One review, of a benchmark or of an audited set, as the commands of its lead open it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
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
from schemas.item import ITEM_ROWS, Item
from schemas.record import Language
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
    evidence: Callable[[Collection[str], Language | None], dict[str, list[str]]]
    """What checks and auditors say of some items, a sentence each in that language, or in each item's own;
    annotators are never shown it."""


def open_review(config: Path, lake: str | None = None) -> OpenReview:
    """The review of a benchmark's config, or of the folder of an external audit."""
    if is_audited_set(config):
        known = open_set(config)

        def of_set(items: Collection[str], screen: Language | None) -> dict[str, list[str]]:
            rows, findings, audits = queue_tables(config)
            return evidence_lines(_screens(items, rows, screen), findings, audits)

        return OpenReview(known.name, set_stores(config), known.review, nullcontext, of_set)
    build = open_build(config, Path("runs"), lake)

    def of_build(items: Collection[str], screen: Language | None) -> dict[str, list[str]]:
        from annotation.screens.evidence import isolated, sentences

        audited = build.stage(AUDITED)
        if not items or not audited.finished():
            return {}
        screens = _screens(items, audited.read_all("items", ITEM_ROWS), screen)
        lines = evidence_lines(
            screens, audited.read_all("findings", Finding), audited.read_all("audits", Audit)
        )
        for item, told in evidence(build).items():
            if item in screens:
                said = f"{sentences(screens[item])['suspect']}: {isolated(told)}"
                lines.setdefault(item, []).append(said)
        return lines

    return OpenReview(
        build.config.name, review_stores(build), build.config.review, build.lake.locked, of_build
    )


def evidence_lines(
    screens: Mapping[str, Language], findings: Iterable[Finding], audits: Iterable[Audit]
) -> dict[str, list[str]]:
    """What findings and audits say, a sentence each in the language named, by the item they speak of."""
    from annotation.screens.evidence import auditor_sentences, finding_sentence

    lines: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.subject in screens:
            lines[finding.subject].append(finding_sentence(finding, screens[finding.subject]))
    for audit in audits:
        if audit.item in screens:
            lines[audit.item] += auditor_sentences(audit, screens[audit.item])
    return {item: told for item, told in lines.items() if told}


def _screens(items: Collection[str], rows: Iterable[Item], screen: Language | None) -> dict[str, Language]:
    return {row.id: screen or row.language for row in rows if row.id in items}
