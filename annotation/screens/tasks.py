"""One item as an annotator sees it: a Label Studio task in which nothing of the item's text can run."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from annotation.screens.corrections import form, showable
from annotation.screens.labelling import DIRECTION, Direction, words
from mihakk.ids import content_hash, digest
from schemas.audit import CRITERIA, CRITICAL, Audit
from schemas.finding import Finding
from schemas.item import AnswerItem, ChoiceItem, Item
from schemas.record import Language

TEMPLATE = "quality_review"
PREFILL = "prefill-1"
"""`model_version` of the predictions that fill the text boxes with the item as it stands."""
_TAMPERED = "data_digest"
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c\u2028\u2029\ufeff\ufffd]")


def review_task(
    item: Item,
    findings: Iterable[Finding] = (),
    audits: Iterable[Audit] = (),
    *,
    screen: Language | None = None,
    priority: int | None = None,
) -> dict[str, Any]:
    """Label Studio task for the quality review of one item.

    Args:
        item: What is reviewed.
        findings: What rules say of it; shown in a panel that starts closed.
        audits: What the auditors say of it; same panel.
        screen: Language of the labels; the item's own when None.
        priority: Place in the queue, higher first; worked out from findings and audits when None.

    Returns:
        `{"data": ..., "predictions": [...]}`. The predictions fill text boxes only, never a verdict:
        a prefilled verdict anchors people. `data` names neither why the item is in the queue nor that it was
        flagged.
    """
    findings = sorted(findings, key=lambda f: (f.check, f.where, f.detail))
    audits = sorted(audits, key=lambda a: a.auditor)
    labels = words(TEMPLATE, screen or item.language)
    boxes = form(item)
    data: dict[str, Any] = {
        "sample_id": item.id,
        "content_hash": content_hash(item),
        "priority": urgency(findings, audits) if priority is None else priority,
        "task": item.task,
        "language": item.language,
        "meta_html": _meta(item),
        "item_html": _item(item, labels),
        "audit_html": _audit(findings, audits, labels, DIRECTION[screen or item.language]),
        "provenance": _provenance(item),
        "form": boxes,
    }
    return {"data": sealed(data), "predictions": [prefill(boxes, item.id)] if boxes else []}


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """Task data with the digest of itself, so that a task edited by hand is noticed when it comes back."""
    body = {name: value for name, value in data.items() if name != _TAMPERED}
    return {**body, _TAMPERED: digest(body)}


def untouched(data: dict[str, Any]) -> bool:
    """Whether task data still is what was pushed."""
    return _TAMPERED in data and sealed(data)[_TAMPERED] == data[_TAMPERED]


def prefill(boxes: dict[str, str], sample: str, to_name: str = "item") -> dict[str, Any]:
    """Prediction that fills text boxes; region ids are digests, so equal tasks are equal bytes."""
    return {
        "model_version": PREFILL,
        "result": [
            {
                "id": blake2b(f"{sample}\x1f{name}".encode(), digest_size=5).hexdigest(),
                "from_name": name,
                "to_name": to_name,
                "type": "textarea",
                "value": {"text": [text]},
            }
            for name, text in sorted(boxes.items())
        ],
    }


def urgency(findings: Sequence[Finding], audits: Sequence[Audit]) -> int:
    """How early people should see an item, 0 and up: unmet criteria, critical ones twice, and findings."""
    unmet = sum(
        1 + (name in CRITICAL) for audit in audits for name, score in audit.scores.items() if score == 0
    )
    invalid = sum(audit.status == "invalid" for audit in audits)
    rules = sum({"block": 10, "flag": 4, "report": 0}[finding.severity] for finding in findings)
    return unmet + 3 * invalid + rules


def escaped(text: str) -> str:
    """Text as HTML: markup inert, invisible controls spelled out, lines kept."""
    inert = html.escape(showable(text), quote=True)
    shown = _INVISIBLE.sub(lambda m: f'<span class="control">U+{ord(m.group()):04X}</span>', inert)
    return shown.replace("\r\n", "\n").replace("\n", "<br>")


def _meta(item: Item) -> str:
    facts = [
        item.language,
        item.dialect,
        item.task,
        item.subset,
        *(v for _, v in sorted(item.metadata.items())),
    ]
    parts = " · ".join(f"<bdi>{escaped(fact)}</bdi>" for fact in facts if fact)
    return f'<div dir="ltr">{parts} · <code>{escaped(item.id)}</code></div>'


def _item(item: Item, labels: dict[str, Any]) -> str:
    classes, body = ["review"], []
    if item.context:
        classes.append("has-context")
        body.append(f'<blockquote dir="auto">{escaped(item.context)}</blockquote>')
    body.append(f'<p class="question"><b>{escaped(item.question)}</b></p>')
    if isinstance(item, ChoiceItem):
        classes += ["has-gold", *(f"o{i}" for i in range(len(item.options)))]
        body += [_option(labels["letters"], i, text, i in item.gold) for i, text in enumerate(item.options)]
    elif isinstance(item, AnswerItem):
        classes.append("has-answer")
        answers = " ⁄ ".join(escaped(text) for text in (item.answer, *item.accepted))
        body.append(f'<p>{escaped(labels["shown"]["answer"])}: <span class="key">{answers}</span></p>')
    else:
        classes.append("has-verses")
        pairs = zip(item.verses, item.explanations, strict=True)
        rows = "".join(f"<li><b>{escaped(verse)}</b><br>{escaped(told)}</li>" for verse, told in pairs)
        body.append(f"<ol>{rows}</ol>")
        if item.overall:
            classes.append("has-overall")
            body.append(f"<p>{escaped(labels['shown']['overall'])}: {escaped(item.overall)}</p>")
    return (
        f'<article class="{" ".join(classes)}" dir="{DIRECTION[item.language]}" lang="{item.language}">'
        f"{''.join(body)}</article>"
    )


def _option(letters: Sequence[str], index: int, text: str, gold: bool) -> str:
    letter = letters[index] if index < len(letters) else str(index + 1)
    mark, kind = ("✓ ", ' class="key"') if gold else ("", "")
    return f"<p{kind}>{letter}. {mark}<bdi>{escaped(text)}</bdi></p>"


def _audit(
    findings: Sequence[Finding], audits: Sequence[Audit], labels: dict[str, Any], direction: Direction
) -> str:
    shown = labels["shown"]
    parts = []
    if audits:
        head = "".join(f"<th>{escaped(audit.auditor)}</th>" for audit in audits)
        rows = "".join(
            f"<tr><td>{escaped(labels['criteria'][name])}</td>"
            + "".join(_score(audit, name, shown) for audit in audits)
            + "</tr>"
            for name in CRITERIA
        )
        parts.append(f'<table class="audit"><tr><th>{shown["criterion"]}</th>{head}</tr>{rows}</table>')
        told = [(audit.auditor, issue) for audit in audits for issue in audit.issues]
        parts += [
            f"<p><b>{escaped(who)}</b> {escaped(labels['criteria'][issue.criterion])}: "
            f"<bdi>{escaped(issue.explanation)}</bdi></p>"
            for who, issue in told
        ]
        parts += [
            f"<p><b>{escaped(audit.auditor)}</b> {escaped(shown['blind'])}: "
            f"<bdi>{escaped(audit.blind_answer)}</bdi></p>"
            for audit in audits
            if audit.blind_differs
        ]
    else:
        parts.append(f"<p>{shown['no_audit']}</p>")
    parts += [_finding(finding) for finding in findings] or [f"<p>{shown['no_finding']}</p>"]
    return f'<div dir="{direction}">{"".join(parts)}</div>'


def _finding(finding: Finding) -> str:
    said = f"<bdi>{escaped(finding.detail)}</bdi> <code>{escaped(finding.where)}</code>"
    return f"<p><code>{escaped(finding.check)}</code> {said}</p>"


def _score(audit: Audit, criterion: Any, shown: dict[str, str]) -> str:
    score = audit.scores.get(criterion)
    if score is None:
        return f"<td>{shown['invalid']}</td>"
    kind, word = ("met", "passed") if score else ("unmet", "missed")
    return f'<td class="{kind}">{shown[word]}</td>'


def _provenance(item: Item) -> dict[str, str]:
    origin = item.origin
    facts = {
        "records": " ".join(origin.records),
        "generator": f"{origin.generator} {origin.generator_version}",
        "strategy": origin.strategy,
        "model": origin.model,
        "licence": item.licence,
        "attribution": item.attribution,
    }
    return {name: showable(text) for name, text in facts.items() if text}
