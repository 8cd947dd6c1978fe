"""Scoring with sealed golds: a board and its rules, what a team sends, what it gets back, what is logged."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from mihakk.schemas.record import Record

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Of a team or model: letters, digits, `.`, `_` and `-`, as it stands in file names and on pages."""
Told = Literal["shown", "not_above", "known", "held"]
"""shown: a figure, the team's new best. not_above: the figure of the team's best, which these answers do not
beat by more than a standard error. known: the reply to earlier answers that are the same or nearly so.
held: no figure before the season ends."""


class SubmissionCard(Record):
    """The first line of a file of answers: who answered what."""

    team: Name
    model: Name
    revision: str = Field(min_length=1, max_length=80)
    """Commit, digest or dated name of what answered: one submission a revision."""
    release: str
    """Name of the blind release."""
    version: str
    open: bool
    """Whether the weights can be had."""
    kind: Literal["arabic", "persian", "multilingual", "english", "code"]
    parameters: float | None = Field(default=None, gt=0)
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
    """Those who may submit. Nobody else is scored."""
    opens: date
    closes: date
    """First day on which nothing is taken any more and the other half is opened."""
    per_week: int = Field(default=3, ge=1, le=3)
    """New submissions of a team in any seven days."""
    gain: float = Field(default=0.2, gt=0, le=0.5)
    """Most that all figures of the season together may add to the share of the golds of the public half that
    anybody could know, whatever teams work together; later submissions are held till the season ends."""
    slices: tuple[str, ...] = ()
    """Facts by whose values figures are shown too (`task`, `language`, `era`, ...), where a value has fifty
    groups or more. Each figure takes its part of `gain`."""

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> BlindBoard:
        if self.closes <= self.opens:
            raise ValueError(f"closes ({self.closes}) is not after opens ({self.opens})")
        if len({one.casefold() for one in self.teams}) < len(self.teams):
            raise ValueError("teams: one is named twice")
        return self


class BlindReply(Record):
    """What a team is told of one submission: nothing else leaves the private side before the season ends."""

    told: Told
    figure: float | None = None
    """Of the public half: noisy and rounded."""
    slices: dict[str, float] = Field(default_factory=dict)
    """`fact=value` to figure."""


class LoggedSubmission(Record):
    """One line of the log, which is only ever added to."""

    received: datetime
    card: SubmissionCard
    file: str
    """SHA-256 of the file as it came."""
    answers: str
    """Keyed digest of what was read in the replies; empty where the file was refused."""
    refused: str = ""
    """Why it was not scored; empty where it was."""
    reply: BlindReply | None = None
    figures: int = 0
    """New figures that this reply gave away, counted against the board's `gain`."""
    before: str = ""
    """SHA-256 of the line before: a line changed or taken out breaks the chain."""

    @property
    def told(self) -> str:
        """What was told of it; empty where the file was refused."""
        return self.reply.told if self.reply else ""

    @property
    def is_new(self) -> bool:
        """Whether answers like it were not scored before."""
        return self.told not in ("", "known")

    @property
    def figure(self) -> float:
        """The figure that was told; 0 where none was."""
        return float(self.reply.figure or 0.0) if self.reply else 0.0


class FinalFigure(Record):
    """A team's best submission when the season is over."""

    team: Name
    model: Name
    revision: str
    shown: float | None
    """What the season said of the public half; None where it was held."""
    public: float
    """The same half without noise or rounding."""
    public_low: float | None
    public_high: float | None
    other: float
    """The half that nothing was ever said of."""
    other_low: float | None
    other_high: float | None
    gap: float
    """Public half less the other one: far above 0 where the answers were fitted to the figures."""
    gap_low: float | None
    gap_high: float | None
