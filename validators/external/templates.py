"""Markup that nearly all prompts of a benchmark hold: part of its template, no damage of a row."""

from collections import Counter
from collections.abc import Sequence

from mihakk.schemas.finding import Finding
from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.text.markup import TAG

MARKUP = "TX21"
SHARE = 0.9
"""Share of the items that must hold a tag in their question for it to be the template's."""
LEAST_ITEMS = 20


def leave_templates(items: Sequence[QuestionItem], findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those about a template's markup; that there is one is reported of the set."""
    counts = Counter(tag for item in items for tag in set(TAG.findall(item.question)))
    template = {
        tag for tag, count in counts.items() if len(items) >= LEAST_ITEMS and count >= SHARE * len(items)
    }
    if not template:
        return list(findings)
    by_id = {item.id: item for item in items}
    kept: list[Finding] = []
    for finding in findings:
        item = by_id.get(finding.subject)
        if finding.check == MARKUP and finding.where == "question" and item is not None:
            left = [tag for tag in TAG.findall(item.question) if tag not in template]
            if not left:
                continue
            kept.append(finding.model_copy(update={"detail": f"markup: «{left[0]}»"}))
        else:
            kept.append(finding)
    if any(finding.check == MARKUP for finding in findings):
        named = ", ".join(f"{tag} in {counts[tag]:,}" for tag in sorted(template))
        detail = f"markup of the template, no fault of a row: {named} of {len(items):,} questions"
        kept.append(Finding(check=MARKUP, severity="report", subject="*", detail=detail, where="question"))
    return kept
