"""What measuring systems leaves behind: questions, replies, scores, judgements."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mihakk.schemas.model import Sampling
from mihakk.schemas.record import Language, Record

Method = Literal["written", "likelihood", "label_logprob"]
"""How an answer was had: a reply was parsed; the likelihoods of the labels were compared; the chances of the
first token were, restricted to the labels. Figures of two methods never stand in one column."""
AnswerKind = Literal["choice", "answer", "explanation", "code"]
Ability = Literal["recall", "computed", "lookup", "skill", "probe"]
"""recall: the text itself has to be known (continuation, completion, fragments); skill: everything else.
The two are never averaged together. probe: asked to find contamination; in no average at all."""
AnswerStatus = Literal["read", "unparsed", "empty", "refused", "error"]
"""read: an answer was found in the reply. All others count as the worst value of the metric and stay in the
denominator. refused: a content filter's empty reply; error: the call failed for good."""


class AskedItem(Record):
    """Which item of which release: what questions, answers and scores share."""

    item: str
    """Id of the item."""
    content_hash: str
    """Of the item as it was asked: a score belongs to this content."""
    release: str
    """Name of the release or published benchmark, e.g. `demo`."""
    version: str
    digest: str
    """SHA-256 of the data file or manifest the item was read from; a result without one is refused."""
    config: str
    """Data set within the release, e.g. `fa_continuation_choice`."""
    task: str
    kind: AnswerKind
    ability: Ability = "skill"
    language: Language
    group: str
    """Cluster of the item: one poem or idiom, with its near copies and both orders of its options."""
    pair_id: str = ""
    """Shared by the items that differ in option order alone."""
    order: int = 0
    """Which order of the pair: 0 or 1."""
    slices: dict[str, str] = Field(default_factory=dict)
    """Facts to slice by: era, genre, metre, dialect, strategy of the wrong options, condition."""


class Question(AskedItem):
    """An item as evaluation needs it: what an answer is read and scored against."""

    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """One a option, as the prompt shows them."""
    gold: tuple[int, ...] = ()
    """Indices of the right options, ascending."""
    option_kinds: tuple[str, ...] = ()
    """Where each option comes from (`gold`, `same_poem`, `shuffled`, ...); empty where it is not known."""
    multiple: bool = False
    """Whether several options are to be chosen."""
    answer: str = ""
    accepted: tuple[str, ...] = ()
    """Further answers that count as right."""
    verses: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    """As many as `verses`."""
    overall: str = ""
    prompt: str = ""
    """Code alone: what a solution completes or defines anew."""
    entry_point: str = ""
    """Function that the tests call."""
    tests: str = ""
    """Statements, or `check(candidate)`; run in the sandbox, never shown to a system."""

    @property
    def references(self) -> tuple[str, ...]:
        """What counts as right, in words: right options, accepted answers, or an explanation a verse."""
        if self.kind == "choice":
            return tuple(self.options[place] for place in self.gold)
        return (self.answer, *self.accepted) if self.kind == "answer" else self.explanations


class AnsweredBy(Record):
    """Which system answered, and how it was asked."""

    model: str
    """Name in `configs/models/`."""
    revision: str = ""
    """Commit, digest or dated name of the weights that answered."""
    method: Method = "written"
    prompt: str = ""
    """Name of the prompt template."""
    prompt_version: str = ""
    sampling: Sampling = Sampling()


class Attempt(AskedItem):
    """An item put to a system in one way, once: the key of an answer and of its scores."""

    model: str
    revision: str = ""
    method: Method = "written"
    prompt: str = ""
    prompt_version: str = ""
    variant: int = 0
    """Which of the template's wordings."""
    repeat: int = 0


class Answer(Attempt):
    """One reply of one system, raw; what was read in it is derived and can be read anew."""

    sampling: Sampling = Sampling()
    prompt_digest: str = ""
    """SHA-256 of the prompt as it was sent."""
    reply: str = ""
    reasoning: str = ""
    """What the server gave apart from the reply."""
    finish_reason: str = ""
    """`stop`, `length` (the reply was cut), `content_filter`; empty where the server does not say."""
    likelihoods: tuple[float, ...] = ()
    """Natural logarithm of the chance of each option's label, for the methods that compare these."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    error: str = ""
    """Why there is no reply; empty where there is one."""


class Score(Attempt):
    """One figure of one answer."""

    metric: str
    signature: str
    """Everything the figure depends on besides the reply: options, libraries and their versions."""
    scorer: str
    """Version of the metric's own code, `<metric>/<version>`."""
    reader: str
    """Version of the rules the reply was read by, `<reader>/<version>`."""
    value: float | None
    """None only where a published protocol leaves the answer out of its mean."""
    low: float | None
    """Least value the metric can take; None where there is none."""
    high: float | None
    higher_is_better: bool
    status: AnswerStatus
    cut: bool = False
    """Whether the reply ended at the token limit."""
    rule: str = ""
    """The reading rule that fired, `<rule>/<version>`; empty where none did."""
    notes: tuple[str, ...] = ()
    """What the reader had to allow for: `cut_tag`, `several`, `run_on`, `changed_answer`, ..."""
    detail: str = "{}"
    """JSON: what the figure was made of."""


class Judgement(Record):
    """One judge's opinion of one answer."""

    answer: str
    """Key of the answer (`mihakk.evaluation.rows.answer_key`)."""
    judge: str
    revision: str = ""
    rubric: str
    rubric_version: str
    rubric_digest: str
    scores: dict[str, int] = Field(default_factory=dict)
    """Field of the rubric to score; empty where the judge gave no usable reply."""
    reason: str = ""
    extracted: str = ""
    """The answer as the judge found it in the reply, where the rubric asks for that."""
    problem: str = ""
    """Why there are no scores."""
    status: Literal["valid", "repaired", "invalid"]
    presentation: int = 0
    """Seeded order in which the criteria were shown."""
    repeat: int = 0
    reply_key: str = ""
    """Key of the raw reply in the journal."""
