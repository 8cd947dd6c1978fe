"""What an auditor is asked: the shared instructions first, the sample last."""

from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

import orjson
from pydantic import Field

from mihakk.machinery.configs import load_config, load_yaml
from mihakk.machinery.ids import content_hash, digest
from mihakk.schemas.audit import CASCADE, CRITERIA, Criterion
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.model import ReplyForm
from mihakk.schemas.record import Record
from mihakk.validators.truth import says_truth

FOLDER = Path(__file__).parent
Kind = Literal["answer", "choice", "explanation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Shape = Literal["statement", "passage", "selection"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SOUND = orjson.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []}).decode()
"""The reply that a sound sample gets, in compact JSON."""
SHORT_SOUND = orjson.dumps({"issues": []}).decode()
"""The same where a reply holds issues alone."""


class CriterionText(Record):
    """One entry of `criteria.yaml`."""

    fails: str
    """Completes "scores 0 when"."""
    answer: str = ""
    """Wording for answer items; `fails` when empty, and likewise below."""
    choice: str = ""
    explanation: str = ""
    guide: str
    """For people who review, and for the documentation."""

    def wording(self, kind: Kind) -> str:
        """When an item of that kind scores 0."""
        own = {"answer": self.answer, "choice": self.choice, "explanation": self.explanation}[kind]
        return own or self.fails


class Prompt(Record):
    """The instructions for one kind of item, rendered."""

    name: str
    version: int
    system: str
    digest: str
    """Of the rendered text, so that any change of wording is a new prompt."""


class _PromptFile(Record):
    name: str
    version: int = Field(ge=1)
    issue: str
    """Explanation in the example of an issue."""
    system: str


class _Shapes(Record):
    version: int = Field(ge=1)
    shapes: dict[Shape, str]


@cache
def criteria() -> dict[Criterion, CriterionText]:
    """The ten criteria in order."""
    found = load_yaml(FOLDER / "criteria.yaml")
    if tuple(found) != CRITERIA:
        raise ValueError(f"criteria.yaml must hold the ten criteria in order, not {list(found)}")
    return {key: CriterionText.model_validate(found[key]) for key in CRITERIA}


def shapes(item: Item) -> tuple[Shape, ...]:
    """What an item of an outside benchmark is besides its kind; our own tasks have none of these shapes."""
    if not item.task.startswith("external_"):
        return ()
    found: list[Shape] = []
    answers = item.options if isinstance(item, ChoiceItem) else [getattr(item, "answer", "")]
    if len(answers) <= 2 and says_truth(answers, item.language):
        found.append("statement")
    if item.context.strip():
        found.append("passage")
    if isinstance(item, ChoiceItem) and len(item.gold) > 1:
        found.append("selection")
    return tuple(found)


@cache
def prompt(kind: Kind, form: ReplyForm = "scores", shaped: tuple[Shape, ...] = ()) -> Prompt:
    """The instructions for a kind of item, a form of reply and what the item is besides."""
    file = load_config(FOLDER / "prompts" / f"{kind}.yaml", _PromptFile)
    system = Template(file.system.strip()).substitute(
        criteria="\n".join(f"{key}: {text.wording(kind)}" for key, text in criteria().items()),
        cascade=", ".join(CASCADE),
        issue=orjson.dumps({"criterion": "answer_alignment", "explanation": file.issue}).decode(),
        sound=SHORT_SOUND if form == "issues" else SOUND,
    )
    if not shaped:
        return Prompt(name=file.name, version=file.version, system=system, digest=digest(system))
    told = load_config(FOLDER / "prompts" / "shapes.yaml", _Shapes)
    more = "\n".join(told.shapes[one] for one in shaped)
    system = system.replace("\nDialect and poetic", f"\n{more}\nDialect and poetic", 1)
    name = "+".join((file.name, *shaped))
    return Prompt(name=name, version=100 * file.version + told.version, system=system, digest=digest(system))


def sample(item: Item, *, with_gold: bool = True) -> str:
    """The item as one line of JSON, with what counts as right or without it.

    Quotes and line breaks inside it are escaped, so no text in an item can end the sample and speak in the
    place of the instructions.
    """
    shown: dict[str, Any] = {"language": item.language}
    if item.dialect:
        shown["dialect"] = item.dialect
    if item.context:
        shown["context"] = item.context
    shown["question"] = item.question
    if isinstance(item, ChoiceItem):
        shown["options"] = {LETTERS[i]: option for i, option in enumerate(item.options[: len(LETTERS)])}
        if with_gold:
            marked = [LETTERS[i] for i in item.gold if 0 <= i < min(len(item.options), len(LETTERS))]
            shown["marked_correct"] = {letter: shown["options"][letter] for letter in marked}
    elif not with_gold:
        pass
    elif isinstance(item, AnswerItem):
        shown["reference_answer"] = item.answer
        if item.accepted:
            shown["also_accepted"] = list(item.accepted)
    else:
        pairs = zip(item.verses, item.explanations, strict=True)
        shown["verses"] = [{"verse": verse, "explanation": said} for verse, said in pairs]
        if item.overall:
            shown["overall"] = item.overall
    return orjson.dumps(shown).decode()


def messages(item: Item, form: ReplyForm = "scores") -> list[dict[str, str]]:
    """The conversation that asks for an audit of the item."""
    return [
        {"role": "system", "content": prompt(item.kind, form, shapes(item)).system},
        {"role": "user", "content": sample(item)},
    ]


def described(item: Item, form: ReplyForm = "scores") -> dict[str, Any]:
    """What the journal keeps beside a reply, so that it can be read years later."""
    asked = prompt(item.kind, form, shapes(item))
    return {
        "item": item.id,
        "content_hash": content_hash(item),
        "prompt": asked.name,
        "prompt_version": asked.version,
        "prompt_digest": asked.digest,
    }
