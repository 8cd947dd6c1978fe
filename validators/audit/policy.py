"""From findings and two audits to a verdict."""

from collections.abc import Sequence

from mihakk.machinery.text.comparison import comparison_key
from mihakk.schemas.audit import (
    AUDITOR_RULES,
    BLIND_RULE,
    RULES,
    Audit,
    Criterion,
    Verdict,
    VerdictStatus,
)
from mihakk.schemas.benchmark import Policy
from mihakk.schemas.finding import Finding


def hamming(first: Audit, second: Audit) -> int:
    """In how many criteria two valid audits differ."""
    return sum(first.scores[key] != second.scores[key] for key in first.scores)


def agree_on_another(first: Audit, second: Audit) -> bool:
    """Whether both auditors gave one and the same answer, blind, and it is not the gold."""
    answers = {comparison_key(audit.blind_answer, "ar") for audit in (first, second)}
    return first.blind_differs and second.blind_differs and len(answers) == 1


def verdict(
    item: str, findings: Sequence[Finding], audits: Sequence[Audit] | None, policy: Policy
) -> Verdict:
    """The verdict on one item.

    Args:
        item: Its id.
        findings: Its own findings.
        audits: Both auditors' audits; None when the item was not audited. An item that was audited passes
            only on two valid replies.
        policy: When an audited item goes to people.
    """
    fired = dict.fromkeys((*RULES, BLIND_RULE) if policy.blind else RULES, False)
    reasons = [finding.check for finding in findings if finding.severity in ("block", "flag")]
    fired["block_finding"] = any(finding.severity == "block" for finding in findings)
    fired["flag_finding"] = any(finding.severity == "flag" for finding in findings)
    audited = audits is not None and not fired["block_finding"]
    if audits is not None and audited:
        critical = _judge(audits, policy, fired)
        reasons += [rule for rule in AUDITOR_RULES if rule != "critical" and fired.get(rule)]
        reasons += [f"critical:{key}" for key in critical]
    raised: VerdictStatus = "flag" if any(fired.values()) else "pass"
    return Verdict(
        item=item,
        status="block" if fired["block_finding"] else raised,
        audited=audited,
        policy=policy.name,
        reasons=tuple(dict.fromkeys(reasons)),
        rules=fired,
    )


def _judge(audits: Sequence[Audit], policy: Policy, fired: dict[str, bool]) -> list[Criterion]:
    """Sets the auditors' rules in `fired`; returns the critical criteria scored 0."""
    if len(audits) != 2:
        raise ValueError(f"{audits[0].item if audits else 'an item'} has {len(audits)} audits, not two")
    valid = [audit for audit in audits if audit.scores]
    totals = [audit.total or 0 for audit in valid]
    fired["unjudged"] = len(valid) < 2
    fired["invalid_reply"] = policy.invalid_reply and len(valid) < 2
    if policy.least_total is not None:
        fired["least_total"] = any(total < policy.least_total for total in totals)
    if len(valid) == 2:
        if policy.total_gap is not None:
            fired["total_gap"] = abs(totals[0] - totals[1]) >= policy.total_gap
        if policy.hamming is not None:
            fired["hamming"] = hamming(valid[0], valid[1]) >= policy.hamming
    if policy.blind:
        fired[BLIND_RULE] = agree_on_another(audits[0], audits[1])
    critical = [key for key in policy.critical if any(audit.scores[key] == 0 for audit in valid)]
    fired["critical"] = bool(critical)
    return critical
