"""What to measure, and which systems: `configs/suites/*.yaml`, `configs/models/*.yaml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from mihakk.schemas.model import Budget, ModelConfig
from mihakk.schemas.record import Language, Record

Probe = Literal["canary", "continuation", "options"]
"""canary: its line continued; continuation: an item's text cut in the middle, and that of its shuffled twin;
options: the right one chosen where no question is shown."""


Averaging = Literal["hierarchy", "categories", "tasks", "sets"]
"""hierarchy: data sets to tasks, these to categories, these to overall; categories: of their data sets, tasks
apart; tasks, sets: overall is the mean of all tasks, or of all data sets, whatever their category."""


KindName = Annotated[str, Field(pattern="^(choice|answer|explanation|code)$")]


def _as_texts(labels: Any) -> Any:
    """Labels as YAML gives them: `[1, 2]` are numbers there."""
    if isinstance(labels, list):
        return [str(one) if type(one) is int else one for one in labels]
    return labels


OptionLabels = Annotated[Literal["none"] | tuple[str, ...], BeforeValidator(_as_texts)]
"""One an option, in order, for the question with the most; nothing where a prompt keeps its own."""


class System(ModelConfig):
    """A system under evaluation: a model, how to reach it, and facts that tables and regressions use."""

    kind: Literal["arabic", "persian", "multilingual", "english", "code"]
    """What the model was made for."""
    open: bool
    """Whether its weights can be had."""
    parameters: float | None = Field(default=None, gt=0)
    """In thousand millions; None where nobody says."""
    knowledge_cutoff: str = Field(default="", pattern=r"^(\d{4}(-\d{2})?)?$")
    """YYYY or YYYY-MM."""
    reasoning_tokens: int = Field(default=0, ge=0)
    """For a model that thinks before it answers: tokens allowed on top of a reply's, as a thought that is cut
    holds no answer."""
    tokenizer: str = ""
    """Folder or name of its tokenizer, which likelihoods need."""
    context: int = Field(default=8192, ge=1)
    """Tokens it can read, prompt and reply."""
    contender: bool = True
    """False for models that only show that the machinery works."""


class ReplyTokens(Record):
    """How long a reply may be."""

    choice: int = Field(default=16, ge=1)
    answer: int = Field(default=128, ge=1)
    explanation: int = Field(default=1024, ge=1)
    code: int = Field(default=1024, ge=1)


class Part(Record):
    """One data set: a release of ours, or a published benchmark through its adapter."""

    release: str = ""
    """NAME@VERSION on a Hub, or a release's folder; NAME@latest in a suite that is not pinned."""
    adapter: str = ""
    """Name of a published benchmark's adapter."""
    data: str = ""
    """Folder of the published benchmark's files; `$NAME` stands for an environment variable."""
    digest: str = ""
    """SHA-256 of the release's manifest or of the benchmark's files: a score belongs to these bytes."""
    split: str = "test"
    only: tuple[str, ...] = ()
    """Tasks, configs or conditions; all of them when empty."""
    languages: tuple[Language, ...] = ()
    prompt_language: Language | None = None
    """Which of a release's prompts is put, where it has them in several languages; None: its `prompt`."""
    sample: int | None = Field(default=None, ge=1)
    """At most so many questions of each config, drawn by seed; both orders of a pair are one."""
    wordings: int = Field(default=1, ge=1, le=3)
    """In how many wordings each question is asked; the first is the release's own prompt."""
    forms: Literal["", "qimma"] = ""
    """`qimma`: choices and answers in Arabic are asked in forms made of QIMMA's six' parts, in our words."""
    protocol: Literal["ours", "published"] = "ours"
    """`published`: an adapter whose files hold no prompts asks in the authors' own, from `prompts`."""
    prompts: str = ""
    """Folder of the user's copy of these, a file `TASK.txt` each; `$NAME` is an environment variable."""
    orders: Literal["both", "drawn"] = "both"
    """`drawn`: of the two orders of a choice's options one, drawn by seed, as papers that ask each once."""
    labels: OptionLabels = ()
    """Labels of the options instead of the prompt's own, in this order: as many as the question with the most
    options has; `none`: options stand without any and are answered in their own words."""
    system: str = ""
    """System prompt: its words, or a .txt file that holds them."""
    shots: int = Field(default=0, ge=0)
    """How many answered questions stand above each one."""
    examples: str = ""
    """Table of these: `prompt`, `reply`, and `task` where they are of one task or config; a release's dev
    split when empty."""
    repeats: int = Field(default=1, ge=1)
    probes: tuple[Probe, ...] = ()
    """Probes for contamination made of the same questions; they belong to no average."""

    @model_validator(mode="after")
    def _one_place(self) -> Part:
        if bool(self.release) == bool(self.adapter):
            raise ValueError("a part is either a `release` or an `adapter` with its `data`")
        if self.adapter and not self.data:
            raise ValueError(f"adapter {self.adapter!r} needs `data`, the folder of the benchmark's files")
        if self.adapter and self.prompt_language:
            raise ValueError("an adapter asks a published benchmark in one language: no `prompt_language`")
        if (self.protocol == "published") != bool(self.adapter and self.prompts):
            raise ValueError("`protocol: published` and `prompts` go together, in an adapter's part")
        if self.shots and not self.examples and (self.adapter or self.forms or self.wordings > 1):
            raise ValueError("`shots` need `examples`: a dev split has them in a release's own prompt alone")
        if self.adapter and self.probes:
            raise ValueError("probes are made of releases: an adapter's part can have none")
        if self.forms and (self.adapter or self.wordings > 1 or self.prompt_language):
            raise ValueError("`forms` are for a release's items, in one wording and language")
        if self.labels == "none" and self.wordings > 1:
            raise ValueError("`labels: none` is for the first wording: the others ask for a label")
        return self


class SuiteJudges(Record):
    """Who judges replies, and by which rubrics."""

    by: tuple[str, ...] = Field(min_length=1, max_length=2)
    """Two names in configs/models/, of two families, neither of a judged system's; or one, which the table
    marks."""
    own_family: bool = False
    """Let a judge judge systems of its own family, as papers did; the table marks it."""
    rubrics: tuple[str, ...] = Field(min_length=1)
    """Names in evaluation/rubrics/."""
    published: str = ""
    """Folder of the user's copy of the authors' prompts for judges; the rubrics' own words when empty."""
    asked_again: float = Field(default=0.05, ge=0, le=1)
    """Share of the answers that each judge is asked about three times: how far it agrees with itself."""
    reply_tokens: int = Field(default=400, ge=1)
    """How long a judgement may be."""
    budget: Budget = Budget()
    """What each judge may cost and be asked for the suite in a month; judging stops there."""


class PublishedFigures(Record):
    """One column of a table in a paper, to stand beside ours and never to be ranked with it."""

    paper: str
    table: str
    """Table or figure of the paper, and its column."""
    beside: str
    """Our config and metric that it is nearest to, `CONFIG METRIC`."""
    differs: str
    """What was done otherwise than here."""
    percent: bool = False
    """Whether the paper prints per cent where ours goes from 0 to 1."""
    column: tuple[str, str] | None = None
    """Table in data/reference/published/ and its column."""
    figures: dict[str, float] = Field(default_factory=dict)
    """System to figure, as printed, of a table that is not there."""

    @model_validator(mode="after")
    def _one_place(self) -> PublishedFigures:
        if bool(self.figures) == (self.column is not None):
            raise ValueError(
                f"{self.paper}, {self.table}: give either `column: [TABLE, COLUMN]` or `figures`"
            )
        return self


class Suite(Record):
    """`configs/suites/*.yaml`."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    seed: int = 0
    pinned: bool = True
    """Every part names version and digest. False for trials: their figures can't be compared later."""
    parts: tuple[Part, ...] = Field(min_length=1)
    models: tuple[str, ...] = ()
    """Names in configs/models/; asked where the command names none."""
    metrics: tuple[str, ...] = ()
    """Those every suite has when empty."""
    categories: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Which tasks are averaged together."""
    main: dict[str, str] = Field(default_factory=dict)
    """Task to the metric that stands for it in averages."""
    main_by_kind: dict[KindName, str] = Field(default_factory=dict)
    """Kind of answer (`choice`, `answer`, `explanation`, `code`) to the metric that stands for it where its
    task names none; accuracy, exact or recall, chrf and solved when empty."""
    averaging: Averaging = "hierarchy"
    """What the overall average is the mean of."""
    metric_options: dict[str, dict[str, str | int]] = Field(default_factory=dict)
    """Metric to its settings that differ: `model`, `revision`, `layer`, and for explained poems `unit`."""
    compare: tuple[tuple[str, str], ...] = ()
    """Pairs of configs: each system's first less its second, on the records that both ask about."""
    reply_tokens: ReplyTokens = ReplyTokens()
    judges: SuiteJudges | None = None
    """Asked by `mihakk evaluate judge`."""
    limits: Budget = Budget()
    """What each model may cost and be asked for the suite in a month; a model with a limit of costs has a
    price, unless it is embedded."""
    code_memory: Literal["watched", "cgroup"] = "watched"
    """`cgroup`: no question of code is asked where the kernel can't limit the memory of the programs under
    test; `watched`: there a watch does, which may be a moment late. Each score's detail says which it was."""
    published: tuple[PublishedFigures, ...] = ()
    """Figures of papers, for the leaderboard."""
