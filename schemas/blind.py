"""Scoring with sealed golds: a board and its rules, what a team sends, what it gets back, what is logged."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StrictBool, StringConstraints, model_validator

from mihakk.schemas.record import Record

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Of a team or model: letters, digits, `.`, `_` and `-`, as it stands in file names and on pages."""
Told = Literal["shown", "known", "held"]
"""shown: a figure of these answers. known: the figure that the very same answers were given before. held: no
figure, as the team's share of what the season may tell is used up; the final figures have it."""
PublicKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
"""An Ed25519 public key: its 32 bytes in base64."""

RANKED: Final[Mapping[str, str]] = {"choice": "accuracy", "answer": "exact"}
"""Kinds of answers that are ranked, each with what is right or wrong of it; explanations need judges."""
LEAST_GROUPS: Final = 4
"""Groups of ranked questions that a board needs, for two halves."""


class Signature(Record):
    """The last line of a file of answers: which key vouches for all lines before it, and since when."""

    key: PublicKey
    signed: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$")
    """UTC; part of what is signed, so that the same answers can be signed and sent again."""
    value: str = Field(pattern=r"^[A-Za-z0-9+/]{86}==$")
    """Of `mihakk submission`, the SHA-256 of the lines before and `signed`, each with a line break."""


class TeamKey(Record):
    """A line of the register of keys; of several lines about one key the last one holds."""

    team: Name
    key: PublicKey
    registered: datetime
    until: date | None = None
    """Last day on which what it signs is taken; None: until it is revoked."""
    revoked: datetime | None = None
    why: str = Field(default="", max_length=200)


class SubmissionCard(Record):
    """The first line of a file of answers: who answered what."""

    board: Name
    """The season that it is for: a signed file counts in no other."""
    team: Name
    model: Name
    revision: str = Field(min_length=1, max_length=80)
    """Commit, digest or dated name of what answered: one submission a revision."""
    release: str = Field(max_length=200)
    """Name of the blind release."""
    version: str = Field(max_length=80)
    open: StrictBool
    """Whether the weights can be had."""
    kind: Literal["arabic", "persian", "multilingual", "english", "code"]
    parameters: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """In thousand millions; None where nobody says."""
    contact: str = Field(default="", max_length=200)
    """Where the team is reached; it stays on the private side."""
    notes: str = Field(default="", max_length=500)
    """Prompt, tools, training: what readers of the board should know."""


class BlindBoard(Record):
    """A season of scoring on the private side (a YAML file)."""

    name: Name
    title: str
    release: str
    """The blind release: its folder, or NAME@VERSION."""
    answers: str = ""
    """Folder with its answers, or NAME@VERSION; the release's own folder where they are encrypted in it, and
    `NAME-answers@VERSION` when empty."""
    teams: tuple[Name, ...] = Field(min_length=1)
    """Those who may submit, each with a key in the register. Nobody else is scored."""
    places: int | None = Field(default=None, ge=1)
    """For how many teams the season has room, each with the same share of `gain`; as many as `teams` when
    empty. It is fixed when the first file is scored: teams that join later need a place."""
    opens: date
    closes: date
    """First day on which nothing is taken any more and final figures are told."""
    per_week: int = Field(default=3, ge=1, le=3)
    """New submissions of a team in any seven days."""
    gain: float = Field(default=0.2, gt=0, le=0.5)
    """Most that all figures over this release together, those of earlier seasons and the final ones too, may
    add to the share of a half's golds that anybody could know, whatever teams work together. The noise
    follows from it: so much that every team can use its whole quota."""
    slices: tuple[str, ...] = ()
    """Facts by whose values figures are shown too (`task`, `language`, `era`, ...), where a value has fifty
    groups or more. Each takes its part of `gain`, so that all figures get more noise."""

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> BlindBoard:
        if self.closes <= self.opens:
            raise ValueError(f"closes ({self.closes}) is not after opens ({self.opens})")
        if len({one.casefold() for one in self.teams}) < len(self.teams):
            raise ValueError("teams: one is named twice")
        if self.places is not None and self.places < len(self.teams):
            raise ValueError(f"places ({self.places}) is less than the number of teams ({len(self.teams)})")
        return self


class BlindReply(Record):
    """What a team is told of one submission: nothing else leaves the private side before the season ends."""

    told: Told
    figure: float | None = None
    """Of the public half, with noise."""
    slices: dict[str, float] = Field(default_factory=dict)
    """`fact=value` to figure."""


class PartSize(Record):
    """A half, or a slice of the public one: what follows from the questions alone."""

    questions: int
    units: int
    """Golds that are independent of each other."""
    groups: int
    se: float
    """Largest standard error of a figure over it; noise is counted in it."""
    spread: float
    """Largest standard deviation of a score over golds that nobody knows."""


class EarlierSeason(Record):
    """A season over the same release that was closed before this one began."""

    board: Name
    nats: float
    """All that it told."""
    other: float | None = None
    """What its final figures told of the questions that its other figures said nothing of. None in logs of
    seasons that kept no questions apart for later ones; their final figures rest on a whole half. None, too,
    where it told no figure, so that none of its questions is kept away from."""
    figures: int = Field(default=0, exclude_if=operator.not_)
    """Of how many answers it told figures, final ones too; 0 in logs that did not count them."""
    last: str
    """SHA-256 of the last line of its log."""


class Season(Record):
    """The first line of a log: all that the stated bound rests on, fixed when the first file is scored."""

    kind: Literal["season"] = "season"
    board: Name
    release: str
    version: str
    digest: str
    """SHA-256 of the release's manifest."""
    opens: date
    closes: date
    per_week: int
    gain: float
    places: int
    parts: dict[str, PartSize]
    """`public`, `other` (without what earlier seasons told figures of), and `fact=value` of each slice."""
    noise: float
    """Standard deviation of the noise of a figure, in the `se` of its part."""
    drawn: str
    """What the halves were drawn for."""
    draw: Literal[3]
    """By which rules noise is drawn: by this line, its own size, the part and the answers."""
    slices: tuple[str, ...]
    """Facts of `BlindBoard.slices`, sorted."""
    halves: str
    """Keyed digest of the public half's items: another secret or other questions are noticed."""
    earlier: tuple[EarlierSeason, ...] = ()
    before: str = ""
    mac: str = ""
    """Digest of the rest of the line under the secret: nobody else can write one. Old lines have none."""

    def carried(self, half: str) -> float:
        """What earlier seasons over the release told of the questions of a half, in nats."""
        kept = [one.nats if half == "public" or one.other is None else one.other for one in self.earlier]
        return sum(kept)

    @property
    def figures_before(self) -> int:
        """Of how many answers earlier seasons told figures."""
        return sum(one.figures for one in self.earlier)


class LoggedSubmission(Record):
    """A line of the log, which is only ever added to and may be published."""

    kind: Literal["submission"] = "submission"
    received: datetime
    card: SubmissionCard
    """Without `contact`."""
    file: str
    """SHA-256 of what was signed: the file without its last line."""
    signature: Signature
    """Anybody can check it against `file`."""
    answers: str
    """Keyed digest of what was read in the replies; empty where the file was refused before that."""
    refused: str = ""
    """Why it was not scored; empty where it was."""
    reply: BlindReply | None = None
    nats: float = 0.0
    """What this reply tells at most, counted against the team's share."""
    before: str = ""
    """SHA-256 of the line before: a line changed or taken out breaks the chain."""
    mac: str = ""

    @property
    def is_new(self) -> bool:
        """Whether it took of the team's quota: scored, and the first with its answers."""
        return self.reply is not None and self.reply.told != "known"

    @property
    def figure(self) -> float | None:
        """The figure that was told."""
        return self.reply.figure if self.reply else None


class FinalFigure(Record):
    """A submission when the season is over: a team's best by the figures told, and its last one held."""

    team: Name
    model: Name
    revision: str
    answers: str = Field(default="", exclude_if=operator.not_)
    """As in its line: a copy of other answers may bear the same model and revision. Empty in old logs."""
    shown: float | None
    """What the season said of the public half; None where it was held."""
    figures: int = 1
    """How many figures anybody was told, in earlier seasons too, by which it may be chosen; public half and
    gap allow for that."""
    figure: float
    """By which it is ranked: of the other half. This and all figures below have noise, less than in the
    season."""
    low: float
    """With `high` and those of the other half: what earlier seasons' final figures can add is allowed for."""
    high: float
    rank_low: int
    rank_high: int
    public: float
    public_low: float
    public_high: float
    other: float
    """The half of which neither this season nor an earlier one said anything before."""
    other_low: float
    other_high: float
    gap: float
    """Public half less the other one: far above 0 where the answers were fitted to the figures."""
    gap_low: float
    gap_high: float


class Closing(Record):
    """The last line of a log."""

    kind: Literal["closed"] = "closed"
    at: datetime
    ranked: Literal["other"]
    """The questions that `figure` and ranks rest on: the half that nothing was chosen by."""
    noise: dict[str, float]
    """Of the final figures of `public` and `other`, in their `se`."""
    nats: dict[str, float]
    """What all final figures of either half tell at most."""
    finals: tuple[FinalFigure, ...]
    before: str = ""
    mac: str = ""
