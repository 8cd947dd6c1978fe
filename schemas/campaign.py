"""Campaigns: small questions put to people beside the review of items, and what their answers change."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from mihakk.schemas.record import Language, Record

CampaignTemplate = Literal[
    "label_validation",
    "text_correction",
    "distractor_rating",
    "dialect_sentence",
    "wrong_idiom",
    "connotation",
    "interpretive_depth",
    "answer_correctness",
]
"""Templates of `annotation/screens/templates/` that campaigns use; `quality_review` is the review queue's."""

Stratum = Literal[
    "language", "dialect", "task", "strategy", "era", "genre", "metre", "poet", "source", "check", "system"
]

USUAL_STRATA: dict[CampaignTemplate, tuple[Stratum, ...]] = {
    "label_validation": ("language", "era", "genre"),
    "text_correction": ("language", "source", "check"),
    "distractor_rating": ("language", "task", "strategy"),
    "dialect_sentence": ("language", "dialect"),
    "wrong_idiom": ("language", "dialect"),
    "connotation": ("language", "dialect"),
    "interpretive_depth": ("language", "system"),
    "answer_correctness": ("language", "system", "task"),
}
"""What a sample is balanced by where the config doesn't say."""

REPLIES: tuple[CampaignTemplate, ...] = ("interpretive_depth", "answer_correctness")
"""Templates that ask about systems' replies."""

CONNOTATION_VOTES = 3
"""People who label each idiom's connotation (Kinayat, section 3)."""


class Campaign(Record):
    """One campaign: which template, on what, and how much of it."""

    template: CampaignTemplate
    rows: str = ""
    """What is asked about: a file or folder of replies (`answers.parquet`) for `interpretive_depth` and
    `answer_correctness`; `flagged` (as where empty) or `all` for `text_correction`; `unlabelled` (as where
    empty) or `all` for `connotation`; empty for the others."""
    size: int = Field(default=100, ge=1)
    """Questions drawn; all where there are fewer. A sample is drawn once, and a larger one tops it up."""
    strata: tuple[Stratum, ...] = ()
    """What the sample is balanced by, level by level; empty: what suits the template."""
    seed: int = 0
    """Decides which questions are drawn; no secret."""
    overlap: int | None = Field(default=None, ge=1)
    """People who answer each question; None: `review.overlap`, for `connotation` never below three."""
    languages: tuple[Language, ...] = ()
    """Only texts in these; empty: in all."""
    least_mean: float | None = Field(default=None, ge=0, le=2)
    """`distractor_rating`: the next build makes a wrong option anew whose mean rating is below this."""

    @model_validator(mode="after")
    def _fits_template(self) -> Campaign:
        if self.least_mean is not None and self.template != "distractor_rating":
            raise ValueError("least_mean is for distractor_rating only: leave it out")
        if self.template == "connotation" and self.overlap is not None and self.overlap < CONNOTATION_VOTES:
            raise ValueError(f"connotation needs {CONNOTATION_VOTES} people: leave overlap out or raise it")
        if self.template in REPLIES and not self.rows:
            raise ValueError(
                f"{self.template} needs the replies: name their folder or answers.parquet by `rows` or --from"
            )
        usual = {"text_correction": "flagged", "connotation": "unlabelled"}.get(self.template)
        if self.template not in REPLIES and self.rows not in ({"", usual, "all"} if usual else {""}):
            allowed = f"{usual} or all" if usual else "nothing"
            raise ValueError(f"rows of {self.template} may be {allowed}, not {self.rows!r}")
        return self

    def votes(self, overlap: int) -> int:
        """People who answer each question, where `review.overlap` is `overlap`."""
        if self.overlap is not None:
            return self.overlap
        return max(overlap, CONNOTATION_VOTES) if self.template == "connotation" else overlap

    def balanced_by(self) -> tuple[Stratum, ...]:
        """What the sample is balanced by."""
        return self.strata or USUAL_STRATA[self.template]


class Drawn(Record):
    """One question of a campaign, as it was put to people; kept in the store and on no server."""

    template: CampaignTemplate
    key: str
    """What is asked about; never changes while the record, item or reply exists."""
    subject: str
    """Its name on the server: the key, or a meaningless one where the key tells who wrote the text."""
    content_hash: str
    """Digest of what people were shown; an answer counts for this content alone."""
    record: str
    """Id of the poem, idiom or item."""
    before: dict[str, str] = Field(default_factory=dict)
    """Field of the record to its text as shown, of all fields that an answer may change."""
    strata: dict[str, str] = Field(default_factory=dict)
    assigned: int | None = None
    """How many people judged its language and dialect then; None where everybody judges everything."""
    again: bool = False
    """Asked once more because its text was made anew; it stands in no rate."""


OF_ITEMS = ("wrong", "wrong_idiom")
"""Fields of amendments that change how items are made of a record, not the record."""


class Amendment(Record):
    """A change that people settled on, which the next build makes."""

    record: str
    """Id of the poem, couplet or idiom."""
    field: str
    """`era`, `phrase`, `second` (of a couplet), `connotation`, `sentence`, ...; `wrong`: a wrong option that
    is refused; `wrong_idiom`: the id of the idiom that is to be the wrong option; `hopeless <field>`: a text
    that nobody can restore."""
    before: str
    """Text as people saw it; where the record says something else by now, nothing is changed."""
    after: str = ""
    by: CampaignTemplate
    reason: str
    """What people said, in a few words."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Of a sentence: model, family and prompt version that wrote it, where its words may still stand."""


class CampaignFigure(Record):
    """One figure of a campaign."""

    template: CampaignTemplate
    figure: str
    """`mean rating`, `edited or replaced`, `wrong era`, ..."""
    group: str
    """What of the campaign it speaks of, e.g. `general`, `egyptian`, or a system's name; `all`."""
    questions: int
    """Answered questions it rests on."""
    unanswered: int = 0
    """Questions drawn that lack answers: whatever those are, the interval holds it."""
    value: float
    """A mean, or a share."""
    low: float | None = None
    """Ends of the 95 % interval: Clopper and Pearson's of a share, Student's of a mean over questions."""
    high: float | None = None
    is_share: bool = False

    @property
    def shown(self) -> str:
        """The value as reports and cards print it."""
        return f"{self.value:.1%}" if self.is_share else f"{self.value:.2f}"

    @property
    def interval(self) -> str:
        """The interval as reports and cards print it."""
        if self.low is None or self.high is None:
            return "–"
        return f"{self.low:.1%} to {self.high:.1%}" if self.is_share else f"{self.low:.2f} to {self.high:.2f}"
