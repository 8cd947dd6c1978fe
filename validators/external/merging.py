"""What speaks of no row by itself: of equal rows one stays, and markup of all prompts is no row's damage."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mihakk.machinery.groups import Groups
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item, QuestionItem
from mihakk.validators.checks.gathering import split_of
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.text.markup import TAG

COPY_CHECKS = frozenset(("DU01", "DU02"))
"""Checks that object to a copy because it is one."""
_SPLITS = ("test", "validation", "valid", "dev", "train")
"""Of copies in several splits that of the first stays: one in the test split before one to train on."""


def merge_copies(
    items: Sequence[Item], index: SetIndex, findings: Iterable[Finding]
) -> tuple[dict[str, str], list[Finding]]:
    """Merges items equal sign by sign into the first sound one: a benchmark loses no question it has twice.

    Of copies in several splits the one in the test split stays. Where no copy is sound, the first that no
    check blocks stands for all; it goes to people or is rejected like any other item.

    Args:
        items: All items, in the order of their rows.
        index: The prepared set.
        findings: What the checks found.

    Returns:
        Merged item to the item that stays, and the findings: those which call the one that stays a copy are
        only reported.
    """
    findings = list(findings)
    hard: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.severity != "report" and finding.check not in COPY_CHECKS:
            hard[finding.subject].add(finding.severity)
    order = {item.id: (_rank(split_of(item)), place) for place, item in enumerate(items)}
    merged: dict[str, str] = {}
    for group in linked(index.equal):
        known = [name for name in group if name in order]
        stays = min(known, key=lambda name: (_worst(hard.get(name, ())), order[name]))
        merged.update(dict.fromkeys((name for name in known if name != stays), stays))
    stay = set(merged.values())
    return merged, [
        finding.model_copy(update={"severity": "report"})
        if finding.check in COPY_CHECKS and finding.subject in stay
        else finding
        for finding in findings
    ]


def linked(links: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Names that are linked directly or through others, as sorted groups in order of their first."""
    found = Groups[str]()
    for name, others in links.items():
        for other in others:
            found.join(name, other)
    return list(found.members().values())


def _rank(split: str) -> int:
    return _SPLITS.index(split) if split in _SPLITS else len(_SPLITS)


def _worst(severities: Iterable[str]) -> int:
    return max(({"flag": 1, "block": 2}[one] for one in severities), default=0)


MARKUP = "TX21"
MARKUP_SHARE = 0.9
"""Share of the items that must hold a tag in their question for it to be the template's."""
MARKUP_ITEMS = 20


def leave_templates(items: Sequence[QuestionItem], findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those about a template's markup; that there is one is reported of the set."""
    counts = Counter(tag for item in items for tag in set(TAG.findall(item.question)))
    template = {
        tag
        for tag, count in counts.items()
        if len(items) >= MARKUP_ITEMS and count >= MARKUP_SHARE * len(items)
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
