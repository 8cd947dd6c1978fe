"""What a release says about how it came to be, beside the items themselves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mihakk.schemas.benchmark import shown_share
from mihakk.schemas.campaign import CampaignFigure
from mihakk.schemas.quality import Baseline, ValueSpread
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.review import HumanAccuracy, ReviewedContent, Vote
from mihakk.schemas.sign_off import SignOff
from mihakk.schemas.withdrawal import Withdrawal


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
    accepted: tuple[str, ...] = ()
    """Signs of a misreading that would refuse it, which a person looked at and took for right."""
    stated: int = 0
    """Entries that a person counted in it; 0 where nobody did."""


class AuditorFact(Record):
    """One of the two auditors and how it behaved."""

    name: str
    family: str
    model: str
    revision: str = ""
    engine: str = ""
    """`embedded`: served by the build itself; `openai`: a server that the auditors' config names."""
    bundled: bool = False
    """Weights that the project's own packages carry: toys, which never count as capable."""
    capable: bool = False
    """Large enough to be a judge, as the config that the audit ran with says; never where `bundled`."""
    replies: int = 0
    invalid: int = 0
    """Replies that were unusable even after one repair request."""
    own_family: int = 0
    """Items it judged of which a model of its own family wrote a part."""
    names: tuple[str, ...] = ()
    """Under which its config says that a server answers as it."""
    answered_by: tuple[str, ...] = ()
    """Models that answered, as servers named them, in order; an empty name where none is recorded."""
    fingerprints: tuple[str, ...] = ()
    """What servers said of weights and settings together (`system_fingerprint`), in order."""

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Other models that answered in its place."""
        return tuple(name for name in self.answered_by if name not in ("", *self.names))


class FunnelRow(Record):
    """What one stage did to the records of one source (or of all, with `source` empty)."""

    stage: str
    source: str = ""
    read: int = 0
    kept: int = 0
    rejected: int = 0
    merged: int = 0
    written: int = 0


class LossFact(Record):
    """What a source or a task lost on the way to the release."""

    kind: Literal["source", "task"]
    name: str
    lost: int
    """Records rejected before items are made, or items blocked or discarded."""
    seen: int
    """Records the source gave and rejected, or items the task made."""
    kept: int
    reasons: dict[str, int] = Field(default_factory=dict)
    """The commonest."""
    accepted: float | None = None
    """Share that the config accepts by name."""

    @property
    def nothing(self) -> bool:
        """Whether nothing is left of it."""
        return self.kept == 0

    @property
    def share(self) -> float:
        """Of what it had, lost; all where nothing is left."""
        return 1.0 if self.nothing else shown_share(self.lost / self.seen)

    @property
    def is_accepted(self) -> bool:
        """Whether a person accepted a share as large."""
        return self.accepted is not None and self.share <= self.accepted

    @property
    def sentence(self) -> str:
        """What it lost and why, and how that is accepted."""
        unit = "records" if self.kind == "source" else "items"
        said = f"{self.kind} {self.name} "
        said += "gives nothing: " if self.nothing else ""
        said += f"lost {self.lost:,} of {self.seen:,} {unit}"
        if self.reasons:
            said += f" ({', '.join(f'{name} {count:,}' for name, count in self.reasons.items())})"
        if self.is_accepted:
            return f"{said}; accepted up to {self.accepted:g}"
        return f"{said}: find the cause, or accept it beside its `use`: `accept: {{lost: {self.share:g}}}`"


class MissRateFact(Record):
    """Defects that people found among unflagged items."""

    sampled: int
    """Sampled items with the votes they need."""
    defective: int
    disputed: int = 0
    """Items on which people differ whether they are defective."""
    waiting: int = 0
    """Sampled items without the votes they need: unknown, as strata are of which nothing was drawn."""
    unanswered: dict[str, int] = Field(default_factory=dict)
    """Stratum to how many of its sampled items wait; 0 where nothing of it was drawn."""
    outdated: int = 0
    """Sampled items whose text is no longer in the benchmark, though nobody corrected it."""
    rate: float | None = None
    """Weighted by stratum; disputed items count as sound."""
    low: float | None = None
    """Ends of the 95 % interval; disputed and unknown items count as defective in the upper one."""
    high: float | None = None
    upper_bound: float
    """Clopper-Pearson, one-sided 95 %; disputed and unknown items count as defective."""
    covered: float = 1.0
    """Share of the unflagged items that people's answers speak for; the rest is unknown."""

    @property
    def sentence(self) -> str:
        """The figures and what they rest on, as card and gates print them."""
        disputed = f", on {self.disputed} more people differ" if self.disputed else ""
        said = (
            f"Of {self.sampled} sampled unflagged items people found {self.defective} defective{disputed}: "
        )
        if self.rate is not None and self.low is not None and self.high is not None:
            said += f"{self.rate:.2%} weighted by stratum (95 % interval {self.low:.2%} to {self.high:.2%}), "
        worst = " and ".join(
            name for name, there in (("disputed", self.disputed), ("unanswered", not self.complete)) if there
        )
        said += f"at most {self.upper_bound:.2%} (95 %, Clopper-Pearson"
        said += f", {worst} ones counted as defective)" if worst else ")"
        if self.covered < 1:
            said += f"; the answers speak for {self.covered:.1%} of the unflagged items"
        if self.waiting:
            said += f"; {self.waiting} sampled items wait for votes"
        if self.unanswered:
            missing = (f"{name} ({count or 'none drawn'})" for name, count in sorted(self.unanswered.items()))
            said += f"; missing: {', '.join(missing)}"
        if self.outdated:
            said += f"; {self.outdated} sampled items were made anew or left out since they were drawn"
        return said

    @property
    def complete(self) -> bool:
        """Whether every stratum was sampled and every sampled item has its votes."""
        return self.covered == 1 and not self.waiting

    @property
    def is_outdated(self) -> bool:
        """Whether most of the sample is no longer in the benchmark: its rate then speaks of another one."""
        return 2 * self.outdated > self.sampled + self.waiting


class AgreementFact(Record):
    """How far the people agreed on one label."""

    label: str = "decision"
    """`decision` (keep, fix or discard), or a criterion as met or unmet."""
    coefficient: str = "Krippendorff's alpha, nominal"
    value: float | None = None
    """Over the first votes on each item; None where everybody always said the same."""
    least: float | None = None
    """The same if the votes that unanswered items lack agree as little as can be; None where none does."""
    observed: float | None = None
    """Raw agreement: share of pairs of votes that are the same."""
    ac1: float | None = None
    """Gwet's AC1: agreement beyond chance that holds when nearly all votes are one, where alpha does not."""
    low: float | None = None
    """Ends of the 95 % bootstrap interval over items, where there were enough to draw again; like the other
    two, it holds whatever missing votes would have been."""
    high: float | None = None
    observed_low: float | None = None
    observed_high: float | None = None
    ac1_low: float | None = None
    ac1_high: float | None = None
    items: int
    """Items with at least two first votes."""
    unanswered: int = 0
    """Items put before people that have fewer."""
    edited: int = 0
    """Votes changed before they were first stored, whose first form is lost; not among the first votes."""
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


class Override(Record):
    """A person's word that a release may go out although one gate is shut."""

    gate: str
    why: str
    tables: str = ""
    """Digest of the reviewed tables that the word is about; it binds for no others."""
    version: str = ""
    """Of the release that went out on it."""


class CoreSlice(Record):
    """What one slice of the core can tell."""

    stratum: str
    """`all`, or a stratum."""
    value: str
    questions: int
    works: int
    """Poems and idioms they are about."""
    error: float
    """Standard error of a share of right answers, at most, if all questions are independent."""
    error_by_work: float
    """The same if the questions about one work are all right or all wrong."""
    difference: float
    """Smallest difference of two systems that is seen 80 % of the time (two-sided, 5 %), likewise."""
    difference_by_work: float


class CoreFact(Record):
    """How large the core came out, and what it can tell."""

    questions: int
    available: int
    """Questions it was drawn from."""
    works: int
    places_per_work: int
    """Most questions about one work: as many places change when a work goes."""
    slices: tuple[CoreSlice, ...]
    rows: dict[str, int]
    """Config of the full set -> rows of it in the core, both orders of a pair."""
    left_out: int = 0
    """Questions not drawn because of what systems answered to an earlier version."""


class Before(Record):
    """What the lake keeps of earlier versions of a blind benchmark."""

    closed: frozenset[str] = frozenset()
    """Works of which a version sealed what it was going to seal."""
    together: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Question about a label, of those works, to the works that were asked with it."""
    corrected: dict[str, dict[str, frozenset[str]]] = Field(default_factory=dict)
    """Of these works, if changed since: question to fingerprints of what it asked last, labels aside."""


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
    losses: tuple[LossFact, ...] = ()
    """Sources and tasks that gave nothing or lost more than a fifth."""
    clusters: tuple[Cluster, ...] = ()
    """Near duplicates that curation left standing or merged: they share a split."""
    sides: dict[str, str] = Field(default_factory=dict)
    """Work to its split, of a blind benchmark: settled before items are made of it."""
    before: Before = Field(default_factory=Before)
    baselines: tuple[Baseline, ...] = ()
    """How far solvers that go by form alone get on the items to be released."""
    spreads: tuple[ValueSpread, ...] = ()
    """How like the right option the wrong ones are."""
    auditor_agreement: tuple[AuditorAgreementFact, ...] = ()
    """Per criterion and over `all`; empty where no item has two valid audits."""
    agreement: AgreementFact | None = None
    """Of the people, on the decision; the gate `agreement` goes by it."""
    criteria_agreement: tuple[AgreementFact, ...] = ()
    """Of the people, per criterion."""
    miss_rate: MissRateFact | None = None
    reviewed: tuple[ReviewedContent, ...] = ()
    """What people judged, or were drawn to judge."""
    votes: tuple[Vote, ...] = ()
    """How they voted, without who and when."""
    campaign_figures: tuple[CampaignFigure, ...] = ()
    """What people said when they were asked about records and items; nothing about systems."""
    human_accuracy: tuple[HumanAccuracy, ...] = ()
    """How often people answer as the reference does, before they are shown it; nobody by pseudonym."""
    unresolved: int | None = 0
    """Flagged items that wait for people; None where a blind release doesn't tell."""
    """Flagged items nobody has decided; they are not in the release."""
    sign_off: SignOff | None = None
    """The latest word of a person on the reviewed tables."""
    overrides: tuple[Override, ...] = ()
    """Gates that a person let stand shut for these very tables."""
    withdrawn: tuple[Withdrawal, ...] = ()
    """Versions of this benchmark that people withdrew."""
    card: str = ""
    """Human text of the card with markers for the generated sections; empty keeps the last card's text."""
