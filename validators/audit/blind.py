"""The blind answer: an auditor answers the item without being shown what counts as right.

Whoever is shown a gold is inclined to find it right. Two auditors that agree on another answer without having
seen it are a rule of their own (`Policy.blind`).
"""

from functools import cache
from string import Template
from typing import Any

import orjson
from pydantic import Field

from mihakk.machinery.configs import load_config
from mihakk.machinery.ids import content_hash, digest
from mihakk.machinery.llm.structured import Request, closed_object
from mihakk.machinery.text.comparison import comparison_key
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.record import Record
from mihakk.validators.audit.prompt import FOLDER, LETTERS, sample

CANNOT_TELL = "?"
"""The answer of an auditor that can't tell."""
MOST_WORDS = 6
"""Words of a reference answer up to which two answers in words can be compared."""
LONGEST = 200
"""Characters of an answer in words."""


class _PromptFile(Record):
    name: str
    version: int = Field(ge=1)
    choice: str
    selection: str
    answer: str
    system: str


def can_be_asked(item: Item) -> bool:
    """Whether the item has an answer short enough to be given blind and compared."""
    if isinstance(item, ChoiceItem):
        return 2 <= len(item.options) <= len(LETTERS) and bool(item.gold)
    return isinstance(item, AnswerItem) and 1 <= len(item.answer.split()) <= MOST_WORDS


def blind_request(item: Item, variant: int = 0, *, lenient: bool = False) -> Request[str]:
    """What an auditor is asked; the value of its reply is the answer as `Audit.blind_answer` holds it."""
    file, how = _file(), _how(item)
    system = Template(file.system.strip()).substitute(
        how=getattr(file, how), example=orjson.dumps({"answer": _example(item)}).decode(), unsure=CANNOT_TELL
    )
    schema = _schema(how, len(item.options) if isinstance(item, ChoiceItem) else 0)
    return Request(
        tag=item.id,
        messages=[
            {"role": "system", "content": system},
            {"role": "user", "content": sample(item, with_gold=False)},
        ],
        schema=schema,
        validate=_checked(item),
        name="blind",
        meta={
            "item": item.id,
            "content_hash": content_hash(item),
            "prompt": f"{file.name}-{how}",
            "prompt_version": file.version,
            "prompt_digest": digest(system),
            "schema_digest": digest(schema),
        },
        variant=variant,
        lenient=lenient,
    )


def differs(item: Item, answer: str) -> bool:
    """Whether a blind answer is another one than the item's gold; what says nothing differs from nothing."""
    if answer in ("", CANNOT_TELL):
        return False
    if isinstance(item, ChoiceItem):
        return answer != ", ".join(LETTERS[place] for place in sorted(item.gold))
    accepted = (item.answer, *item.accepted) if isinstance(item, AnswerItem) else ()
    return all(
        comparison_key(answer, item.language) != comparison_key(one, item.language) for one in accepted
    )


@cache
def _file() -> _PromptFile:
    return load_config(FOLDER / "prompts" / "blind.yaml", _PromptFile)


def _how(item: Item) -> str:
    if isinstance(item, ChoiceItem):
        return "selection" if len(item.gold) > 1 else "choice"
    return "answer"


def _example(item: Item) -> Any:
    return {"choice": "B", "selection": ["A", "C"], "answer": "..."}[_how(item)]


@cache
def _schema(how: str, options: int) -> dict[str, Any]:
    letters = [*LETTERS[:options], CANNOT_TELL]
    answers: dict[str, dict[str, Any]] = {
        "choice": {"type": "string", "enum": letters},
        "selection": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": letters}},
        "answer": {"type": "string", "minLength": 1, "maxLength": LONGEST},
    }
    return closed_object({"answer": answers[how]})


def _checked(item: Item) -> Any:
    letters = (*LETTERS[: len(item.options)], CANNOT_TELL) if isinstance(item, ChoiceItem) else ()
    many = _how(item) == "selection"

    def read(value: dict[str, Any]) -> str:
        if set(value) != {"answer"}:
            raise ValueError('the one key must be "answer"')
        given = value["answer"]
        if not letters:
            if not isinstance(given, str) or not given.strip():
                raise ValueError('"answer" must be words')
            return " ".join(given.split())[:LONGEST]
        named = given if many else [given]
        if not isinstance(named, list) or not named or any(one not in letters for one in named):
            raise ValueError(f'"answer" must be {"a list of " if many else "one of "}{", ".join(letters)}')
        if CANNOT_TELL in named:
            return CANNOT_TELL
        return ", ".join(sorted(set(named)))

    return read
