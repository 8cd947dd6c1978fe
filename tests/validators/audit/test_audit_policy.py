"""When an item goes to people."""

from __future__ import annotations

import pytest

from mihakk.schemas.audit import CRITERIA, RULES, Audit, Criterion, Issue
from mihakk.schemas.benchmark import QIMMA, STRICT, Policy
from mihakk.schemas.finding import Finding, Severity
from mihakk.validators.audit.policy import verdict


def audit(auditor: str, *zeros: Criterion, invalid: bool = False) -> Audit:
    if invalid:
        return Audit(item="i", auditor=auditor, status="invalid", reply_key="k", problem="it is empty")
    scores: dict[Criterion, int] = {key: int(key not in zeros) for key in CRITERIA}
    issues = tuple(Issue(criterion=key, explanation="x") for key in zeros)
    return Audit(item="i", auditor=auditor, status="valid", scores=scores, issues=issues, reply_key="k")


def pair(first: tuple[Criterion, ...], second: tuple[Criterion, ...]) -> list[Audit]:
    return [audit("a", *first), audit("b", *second)]


def finding(severity: Severity, check: str = "CH03") -> Finding:
    return Finding(check=check, severity=severity, subject="i", detail="d")


LIGHT: tuple[Criterion, ...] = ("spelling_accuracy", "grammatical_correctness", "terminology_precision")


@pytest.mark.parametrize(
    ("audits", "strict", "qimma"),
    [
        (pair((), ()), (), ()),
        (pair(("answer_alignment",), ()), ("critical:answer_alignment",), ()),
        (pair((), ("answer_quality",)), ("critical:answer_quality",), ()),
        (pair(("spelling_accuracy",), ()), (), ()),
        (pair(LIGHT, ()), ("hamming",), ("total_gap",)),
        (pair(LIGHT[:2], LIGHT[2:]), ("hamming",), ()),
        (pair(LIGHT, LIGHT), (), ()),
        (
            pair((*LIGHT, "question_clarity"), (*LIGHT, "question_clarity")),
            ("least_total",),
            ("least_total",),
        ),
        (
            [audit("a"), audit("b", invalid=True)],
            ("invalid_reply", "unjudged"),
            ("invalid_reply", "unjudged"),
        ),
    ],
)
def test_both_policies(audits: list[Audit], strict: tuple[str, ...], qimma: tuple[str, ...]) -> None:
    for policy, reasons in ((STRICT, strict), (QIMMA, qimma)):
        found = verdict("i", [], audits, policy)
        assert found.reasons == reasons
        assert found.status == ("flag" if reasons else "pass")
        assert found.audited
        assert tuple(found.rules) == RULES


def test_no_policy_lets_an_item_pass_on_one_vote() -> None:
    lenient = Policy(name="l", least_total=None, hamming=None, critical=(), invalid_reply=False)
    found = verdict("i", [], [audit("a"), audit("b", invalid=True)], lenient)
    assert (found.status, found.reasons) == ("flag", ("unjudged",))
    for votes in ([], [audit("a")]):
        with pytest.raises(ValueError, match="not two"):
            verdict("i", [], votes, STRICT)


def test_findings_come_first() -> None:
    blocked = verdict("i", [finding("block"), finding("report", "TX01")], None, STRICT)
    assert (blocked.status, blocked.audited, blocked.reasons) == ("block", False, ("CH03",))
    assert blocked.rules["block_finding"]
    flagged = verdict("i", [finding("flag", "LK02")], pair((), ()), STRICT)
    assert (flagged.status, flagged.reasons) == ("flag", ("LK02",))
    reported = verdict("i", [finding("report")], pair((), ()), STRICT)
    assert (reported.status, reported.reasons) == ("pass", ())
    unseen = verdict("i", [], None, STRICT)
    assert (unseen.status, unseen.audited) == ("pass", False)
