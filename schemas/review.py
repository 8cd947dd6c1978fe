"""People's decisions: appended, never edited."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from mihakk.schemas.audit import CRITERIA, Criterion
from mihakk.schemas.record import Record

Decision = Literal["keep", "fix", "discard"]
DiscardReason = Literal[
    "wrong_gold", "ambiguous", "not_authentic", "duplicate", "unreadable", "sensitive", "other"
]
IMPLIED: dict[DiscardReason, Criterion] = {
    "wrong_gold": "answer_alignment",
    "ambiguous": "question_clarity",
    "not_authentic": "factual_accuracy",
    "unreadable": "text_readability",
}
"""Criterion that a reason to discard finds unmet; the other reasons speak of none."""
CALLED_WRONG: tuple[Criterion, ...] = ("answer_alignment", "factual_accuracy")
"""*Answer is wrong* and *a fact is wrong*, as the screen says: whoever ticks these calls the item wrong."""
ReviewOutcome = Literal["keep", "fix", "discard", "defective", "unresolved", "none"]
"""`defective`: people agree that the item is, and on no repair; `unresolved`: too few votes, or a split."""


class Review(Record):
    """One person's decision on one item as it stood when they saw it."""

    item: str
    content_hash: str
    """Hash of the item that was judged; a decision binds only while it is unchanged."""
    annotator: str
    """Pseudonym."""
    decision: Decision
    reason: DiscardReason | None = None
    failed: tuple[str, ...] = ()
    """Criteria the person ticked as unmet; `judged` adds what the decision itself says."""
    corrections: dict[str, str] = Field(default_factory=dict)
    """Field (`question`, `context`, `answer`, `options[0]`, `gold`, ...) to corrected text."""
    confidence: int | None = Field(default=None, ge=1, le=5)
    notes: str = ""
    """What the person typed; the store moves it into the table of `Words`."""
    decided_at: datetime
    created_at: datetime | None = None
    """When it was first submitted; before `decided_at` where it was changed since. None in older stores."""
    seconds: float | None = None
    """Time the person spent on it."""
    project: str = "quality_review"
    task: int | None = None
    """Label Studio's task id."""
    opened: tuple[str, ...] = ()
    """Panels the person uncovered before they decided: `auditors`, `source`."""
    annotation: str = ""
    """Which annotation of which server it was read from, so that one deleted there is withdrawn here."""
    guideline: int = 0
    """Version of the guideline it was made under; 0 before there were versions."""
    assigned: int | None = None
    """How many people judged the item's language and dialect then; None where everybody judges everything."""
    own_answer: str | None = None
    """What the person answered before they were shown the answer: an option's index, words, or `unknown`;
    empty where they judged without answering, None where nobody was to answer first."""

    @property
    def objects(self) -> bool:
        """Whether the person calls the item wrong; so does who keeps it and ticks that its answer is."""
        return self.decision != "keep" or not set(CALLED_WRONG).isdisjoint(self.failed)

    @property
    def judged(self) -> dict[Criterion, bool]:
        """Whether each criterion that the person judged is met; what is missing here nobody judged.

        Who keeps an item finds met what they did not tick. Who fixes or discards it says what is wrong: the
        ticked criteria, the one that the reason implies, and the answer's where they gave another gold.
        """
        unmet = {name for name in CRITERIA if name in self.failed}
        if self.decision == "discard" and self.reason in IMPLIED:
            unmet.add(IMPLIED[self.reason])
        if self.decision == "fix" and "gold" in self.corrections:
            unmet.add("answer_alignment")
        return {name: name not in unmet for name in CRITERIA if self.decision == "keep" or name in unmet}


class Words(Record):
    """What one person wrote in their own words: in this one table of the review store, never published."""

    kind: Literal["note", "skipped", "unusable", "voided", "sign_off"]
    """Note beside an answer; note on a skipped task; a whole annotation that can't be read, as JSON; why the
    lead took a decision back; note of who signed a release off."""
    about: str
    """`decision_id`, or the annotation, that it belongs to."""
    annotator: str
    """Pseudonym; `member N` where only the number on the server is known; `lead`; who signed off."""
    template: str = ""
    language: str = ""
    """Of the screen; empty where the store doesn't say."""
    subject: str = ""
    text: str


class Voided(Record):
    """A decision that counts no longer; it stays in the store, and its item is open again."""

    decision: str
    """`decision_id` of a `Review` or of the labels of one annotation."""
    by: Literal["lead", "deleted", "calibration"]
    """The lead said so, it was deleted on the server, or its author had not passed the calibration."""
    why: str = ""
    """The program's reason; what the lead typed is in the table of `Words`."""
    voided_at: datetime


class Resolution(Record):
    """What the people's decisions on an item come to."""

    item: str
    outcome: ReviewOutcome
    by: Literal["", "agreement", "majority", "adjudicator", "single"] = ""
    reason: str = ""
    votes: int = 0
    corrections: dict[str, str] = Field(default_factory=dict)
    """Of a fix: the fields that people agree on, each as one of them wrote it, in canonical form."""

    @property
    def by_several(self) -> bool:
        """Whether more than one person's word stands behind it: several agree, or an adjudicator decided."""
        return self.by in ("agreement", "majority", "adjudicator")


class ReviewedContent(Record):
    """One content of an item that people judged or were drawn to judge, as a release tells of it."""

    item: str
    content_hash: str
    language: str = ""
    stratum: str = ""
    """`<language>/<task>`; empty where it was never queued."""
    stratum_items: int = 0
    """Unflagged items of the stratum: the weight of its sampled items."""
    unflagged_items: int = 0
    """Unflagged items of all strata: what no sampled stratum holds is unknown."""
    sampled: bool = False
    """Drawn for the miss rate, with this content."""
    votes_needed: int
    """The review's overlap."""
    scores: dict[str, dict[Criterion, int]] = Field(default_factory=dict)
    """Auditor to what it said of this content."""


class Vote(Record):
    """One decision on one content, as a release tells of it: nothing in it tells who, or when."""

    item: str
    content_hash: str
    vote: int
    """1, 2, ...: in the order in which they came."""
    voter: int
    """1, 2, ...: the same person on this content alone; elsewhere the number is somebody else's."""
    decision: Decision
    reason: DiscardReason | None = None
    met: tuple[Criterion, ...] = ()
    """Criteria that the person found met; what neither `met` nor `unmet` names nobody judged."""
    unmet: tuple[Criterion, ...] = ()
    first: bool
    """Counts for agreement: the first vote of one of the first `votes_needed` (at least two) people, none of
    them an adjudicator, as it was before anybody changed it."""
    last: bool
    """The person's last on this content: counts for everything else."""
    adjudicator: bool
    """Settles the item alone."""


class HumanAccuracy(Record):
    """How often people's own answers, given before they saw the reference, are the reference's."""

    group: str
    """`sampled`: items drawn at random of those that nothing flags; `flagged`, suspects among them; a task;
    or a person's pseudonym."""
    by_person: bool = False
    questions: int
    """Answered by somebody."""
    unanswered: int = 0
    """Queued questions that lack an answer; the interval holds whatever it is."""
    answers: int
    unknown: int
    """Answers that say no more than that the person does not know; they are not right."""
    accuracy: float
    """Mean over questions of the share of right answers."""
    low: float
    """Clopper and Pearson's 95 % interval, as if all answers to a question were one; missing ones count as
    wrong in the lower end, as right in the upper."""
    high: float
