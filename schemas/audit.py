"""The ten criteria and what an auditor's reply must be (QIMMA, section 3.2.1 and appendix C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import Field

from mihakk.schemas.record import Record

Criterion = Literal[
    "text_readability",
    "spelling_accuracy",
    "grammatical_correctness",
    "question_clarity",
    "question_completeness",
    "answer_quality",
    "answer_alignment",
    "factual_accuracy",
    "terminology_precision",
    "overall_coherence",
]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

CASCADE: tuple[Criterion, ...] = (
    "question_clarity",
    "question_completeness",
    "answer_alignment",
    "factual_accuracy",
    "terminology_precision",
    "overall_coherence",
)
"""Criteria that are 0 whenever `text_readability` is 0: unreadable text can't be judged further."""

CRITICAL: tuple[Criterion, ...] = (
    "text_readability",
    "question_completeness",
    "answer_quality",
    "answer_alignment",
    "factual_accuracy",
)
"""Criteria on which a single 0 sends the item to people under the `strict` policy."""

ReplyStatus = Literal["valid", "repaired", "invalid"]
"""repaired: a cascade slip was repaired, or what stood around the object was taken off (`reply: lenient`);
invalid: no usable reply after one repair request."""
TAKEN_OFF = "taken off: "
"""Before what was taken off a reply (`reasoning`, `fence`, `preamble`), in `Audit.problem`."""
EXPLAINED_IN = "explained in "
"""Before the language of explanations that are in none of those asked for, in `Audit.problem`."""


class Issue(Record):
    """Why one criterion was scored 0."""

    criterion: Criterion
    explanation: str


class Audit(Record):
    """One auditor's opinion of one item."""

    item: str
    auditor: str
    """Name in the auditors' config."""
    status: ReplyStatus
    scores: dict[Criterion, int] = Field(default_factory=dict)
    """1 meets, 0 fails; empty when the reply is invalid."""
    issues: tuple[Issue, ...] = ()
    reply_key: str
    """Key of the raw reply in the journal."""
    problem: str = ""
    """Why the reply is invalid or what was repaired."""
    blind_answer: str = ""
    """Its answer without seeing the gold: letters (`B`, `A, C`) or words, `?` where it can't tell; empty
    where it was not asked or its reply can't be used."""
    blind_differs: bool = False
    """That answer is another one than the gold."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was repaired or is odd: `cascade`, `reasoning`, `fence`, `preamble`, `in French`."""
        if self.status == "invalid":
            return ()
        found: list[str] = []
        for part in filter(None, self.problem.split("; ")):
            if part.startswith(TAKEN_OFF):
                found += part.removeprefix(TAKEN_OFF).split(", ")
            elif part.startswith(EXPLAINED_IN):
                found.append(f"in {part.removeprefix(EXPLAINED_IN)}")
            elif self.status == "repaired" and "cascade" not in found:
                found.append("cascade")
        return tuple(found)

    @property
    def total(self) -> int | None:
        """Criteria met, 0 to 10; None for an invalid reply."""
        return sum(self.scores.values()) if self.scores else None


VerdictStatus = Literal["pass", "flag", "block"]

AuditState = Literal["both", "short", "checks"]
AUDIT_STATES: dict[AuditState, str] = {
    "both": "both auditors gave usable replies",
    "short": "one auditor or none gave a usable reply",
    "checks": "checks only",
}
"""How far an item was audited, in the words that every page, table and terminal uses."""
FINDING_RULES = ("block_finding", "flag_finding")
"""Rules of a verdict that fire where a check found something."""
SHORT_RULES = ("invalid_reply", "unjudged")
"""Rules that fire where an auditor gave no usable reply; they say nothing of the item."""
SCORE_RULES = ("least_total", "total_gap", "hamming", "critical")
"""Rules on what the auditors' scores are."""
BLIND_RULE = "blind_answer"
"""One more where the policy asks for blind answers."""
AUDITOR_RULES = (*SHORT_RULES, *SCORE_RULES, BLIND_RULE)
RULES = (*FINDING_RULES, *SHORT_RULES, *SCORE_RULES)
"""The columns of `Verdict.rules`, and `BLIND_RULE`; a rule that the policy switches off never fires."""


def by_audit_state(counts: Mapping[AuditState, int], of: str = "items") -> str:
    """Items per state, all three: `8 items: both auditors gave usable replies; 4: ...`."""
    numbers = [f"{counts.get(state, 0):,}" for state in AUDIT_STATES]
    return "; ".join(
        f"{number}{'' if place else f' {of}'}: {words}"
        for place, (number, words) in enumerate(zip(numbers, AUDIT_STATES.values(), strict=True))
    )


class Verdict(Record):
    """What rules and auditors together say of an item."""

    item: str
    status: VerdictStatus
    audited: bool
    """Two auditors were asked; False when an audit limit left it out or a blocking finding saved the call."""
    policy: str
    reasons: tuple[str, ...] = ()
    """Check ids and policy rules that fired."""
    rules: dict[str, bool] = Field(default_factory=dict)
    """Every rule of the policy and whether it fired, so that a consumer can re-threshold."""

    @property
    def audit_state(self) -> AuditState:
        """How far it was audited: a pass says that auditors looked only where both gave usable replies."""
        if not self.audited:
            return "checks"
        return "short" if any(self.rules.get(rule) for rule in SHORT_RULES) else "both"
