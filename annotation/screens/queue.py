"""The review queue as a file: what people would see, ready for import into any Label Studio."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.tasks import TEMPLATE, review_task
from mihakk.machinery.groups import grouped
from mihakk.machinery.whole import write_whole
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language


def queue(
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding] = (),
    audits: Iterable[Audit] = (),
    *,
    screen: Language | None = None,
) -> list[dict[str, Any]]:
    """Tasks for the items whose verdict is `flag`, the most urgent first, ties by item id."""
    flagged = {verdict.item for verdict in verdicts if verdict.status == "flag"}
    said, seen = by_subject(findings, audits)
    tasks = [
        review_task(item, said[item.id], seen[item.id], screen=screen) for item in items if item.id in flagged
    ]
    return sorted(tasks, key=lambda task: (-task["data"]["priority"], task["data"]["sample_id"]))


def by_subject(
    findings: Iterable[Finding], audits: Iterable[Audit]
) -> tuple[dict[str, list[Finding]], dict[str, list[Audit]]]:
    """Findings and audits by the id of the item they speak of."""
    return grouped(findings, lambda finding: finding.subject), grouped(audits, lambda audit: audit.item)


def write_queue(
    path: Path,
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding] = (),
    audits: Iterable[Audit] = (),
) -> int:
    """Writes the queue and beside it the labelling config and the instructions; returns how many tasks.

    Files, for `queue.json`: `queue.json` (what Label Studio's Import takes), `queue.config.xml` and
    `queue.instructions.html`. Equal inputs give equal bytes. The screen speaks the language of most tasks.
    """
    verdicts = list(verdicts)
    flagged = {verdict.item for verdict in verdicts if verdict.status == "flag"}
    languages = Counter(item.language for item in items if item.id in flagged)
    screen: Language = min(languages, key=lambda name: (-languages[name], name)) if languages else "ar"
    tasks = queue(items, verdicts, findings, audits, screen=screen)
    labels = labelling(TEMPLATE, screen)
    write_whole(path, orjson.dumps(tasks, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    write_whole(path.with_suffix(".config.xml"), labels.config.strip().encode() + b"\n")
    write_whole(path.with_suffix(".instructions.html"), labels.instructions.encode() + b"\n")
    return len(tasks)
