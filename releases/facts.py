"""What a release says about how it came to be, beside the items themselves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.record import Record
from schemas.rejection import Cluster
from schemas.sign_off import SignOff


class SourceFact(Record):
    """One source the items were taken from."""

    name: str
    title: str = ""
    home: str = ""
    """Address of the source's home page or package."""
    licence: str
    attribution: str = ""
    revision: str = ""
    """Version, snapshot or digest of what was read."""
    records: int = 0
    """Records read from it."""


class AuditorFact(Record):
    """One of the two auditors and how it behaved."""

    name: str
    family: str
    model: str
    revision: str = ""
    capable: bool = False
    """Large enough to be a judge, as the auditors' config says."""
    replies: int = 0
    invalid: int = 0
    """Replies that were unusable even after one repair request."""


class FunnelRow(Record):
    """What one stage did to the records of one source (or of all, with `source` empty)."""

    stage: str
    source: str = ""
    read: int = 0
    kept: int = 0
    rejected: int = 0
    merged: int = 0
    written: int = 0
    reasons: dict[str, int] = Field(default_factory=dict)


class BaselineFact(Record):
    """How well a player does who never reads the question."""

    config: str
    """`<language>_<task>`."""
    name: str
    """`options_only`, `rhyme_only`, `length_only`, ..."""
    accuracy: float
    chance: float
    items: int


class MissRateFact(Record):
    """Defects that people found among unflagged items."""

    sampled: int
    defective: int
    upper_bound: float
    """Clopper-Pearson, one-sided 95 %."""


class AgreementFact(Record):
    """How far the people agreed on one label."""

    label: str = "decision"
    """`decision` (keep, fix or discard), or a criterion as met or unmet."""
    coefficient: str = "Krippendorff's alpha, nominal"
    value: float
    low: float | None = None
    """Ends of the 95 % bootstrap interval over items, where there were enough to draw again."""
    high: float | None = None
    items: int
    """Items with at least two votes."""
    annotators: int


class AuditorAgreementFact(Record):
    """How far the two auditors agreed on one criterion over the items both scored."""

    criterion: str
    """One of the ten, or `all`: every score of every item."""
    scores: int
    """Pairs of scores compared."""
    observed: float
    """Share of pairs that are equal."""
    ac1: float
    """Gwet's AC1: agreement beyond chance that holds when nearly all scores are 1, where kappa does not."""
    kappa: float | None = None
    """Cohen's kappa; None where chance alone would make them agree fully."""


class SpreadFact(Record):
    """How like the right option the wrong ones are, over the choices of one config and strategy."""

    config: str
    """`<language>_<task>`."""
    strategy: str
    """How the wrong options were found; empty where the item does not say."""
    measure: Literal["cosine", "letters"]
    """`cosine` of the embeddings, or `letters`: share of letters in common order once spelling is folded."""
    options: int
    """Wrong options measured."""
    p05: float
    p25: float
    median: float
    p75: float
    p95: float


class ReleaseFacts(Record):
    """Everything the card, the gates and the citation need beside items, audits and decisions.

    Nothing here may come from the clock: two builds of the same inputs give the same facts.
    """

    code_version: str
    date: str = ""
    """ISO date the inputs speak for (newest fetch or decision); empty leaves the date out."""
    sources: tuple[SourceFact, ...] = ()
    auditors: tuple[AuditorFact, ...] = ()
    funnel: tuple[FunnelRow, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    """Near duplicates that curation left standing or merged: they share a split."""
    baselines: tuple[BaselineFact, ...] = ()
    spreads: tuple[SpreadFact, ...] = ()
    """How like the right option the wrong ones are."""
    auditor_agreement: tuple[AuditorAgreementFact, ...] = ()
    """Per criterion and over `all`; empty where no item has two valid audits."""
    agreement: AgreementFact | None = None
    """Of the people, on the decision; the gate `agreement` goes by it."""
    criteria_agreement: tuple[AgreementFact, ...] = ()
    """Of the people, per criterion."""
    miss_rate: MissRateFact | None = None
    unresolved: int = 0
    """Flagged items nobody has decided; they are not in the release."""
    sign_off: SignOff | None = None
    """The latest word of a person on the reviewed tables."""
    card: str = ""
    """Human text of the card with markers for the generated sections; empty keeps the last card's text."""
