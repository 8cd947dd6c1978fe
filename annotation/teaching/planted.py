"""Sound items with a defect of a known kind planted in them: subtle ones, and garbage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple, TypeVar, cast

from mihakk.machinery.ids import item_id
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.record import Language

I = TypeVar("I", bound=Item)  # noqa: E741
Defect = Literal[
    "swapped_gold", "wrong_metre", "cut_question", "other_answer", "shifted_explanations", "garbled"
]
GROSS: Defect = "garbled"
"""The one defect that nobody who reads can miss."""
METRE_TASK = "metre_choice"
TRUE = "true_explanation"
"""Kind of an option that is wrong only because the false one is asked for: it is no planted answer."""


class Planted(NamedTuple):
    """An item that people should not keep."""

    item: Item
    defect: Defect
    right: str
    """What stands there in the sound item, for the explanation."""


def plantable(item: Item) -> tuple[Defect, ...]:
    """The subtle defects that can be planted in an item."""
    fits: list[Defect] = []
    if isinstance(item, ChoiceItem) and len(item.gold) == 1 and TRUE not in item.option_kinds:
        if len({item.options[place] for place in range(len(item.options))}) > 1:
            fits.append("wrong_metre" if item.task == METRE_TASK else "swapped_gold")
    elif isinstance(item, AnswerItem):
        fits.append("other_answer")
    elif isinstance(item, ExplanationItem) and len(set(item.explanations)) > 1:
        fits.append("shifted_explanations")
    if len(item.question.split()) >= 6:
        fits.append("cut_question")
    return tuple(fits)


def plant(
    item: Item, defect: Defect, draw: Random, others: Sequence[str] = (), variant: str = ""
) -> Planted | None:
    """The item with that defect, under a new id of the usual form; None where it cannot be planted.

    Args:
        defect: One of `plantable(item)`, or the gross one.
        others: Answers of items of the same task and language (`answers_alike`), for a wrong one.
        variant: Tells apart several copies of one item.
    """
    name = {"id": item_id(item.task, item.language, [item.id, variant or "attention"])}
    made = _PLANTS[defect](item, draw, others)
    if made is None:
        return None
    changes, right = made
    return Planted(item.model_copy(update={**name, **changes}), defect, right)


def answers_alike(items: Iterable[Item]) -> dict[tuple[str, Language], list[str]]:
    """The different answers in words by task and language, sorted; of kinds without any the empty list."""
    found: dict[tuple[str, Language], set[str]] = {}
    for item in items:
        answers = found.setdefault((item.task, item.language), set())
        if isinstance(item, AnswerItem):
            answers.add(item.answer)
    return {kind: sorted(answers) for kind, answers in found.items()}


def relabelled(item: I, variant: str) -> I:
    """The sound item under a new id, so that an answer to it is no vote on the item itself."""
    name = item_id(item.task, item.language, [item.id, variant])
    return cast("I", item.model_copy(update={"id": name}))


def mojibake(text: str) -> str:
    """UTF-8 read as Latin-1, as broken tools do."""
    return "".join(char if char.isprintable() else "?" for char in text.encode().decode("latin-1"))


Made = tuple[dict[str, object], str] | None


def _swapped(item: Item, draw: Random, _: Sequence[str]) -> Made:
    if not isinstance(item, ChoiceItem):
        return None
    right = {item.options[place] for place in item.gold}
    wrong = [place for place, text in enumerate(item.options) if text not in right]
    return ({"gold": (draw.choice(wrong),)}, " ⁄ ".join(sorted(right))) if wrong else None


def _cut(item: Item, _: Random, __: Sequence[str]) -> Made:
    words = item.question.split()
    return {"question": " ".join(words[: len(words) // 2])}, item.question


def _other(item: Item, draw: Random, others: Sequence[str]) -> Made:
    if not isinstance(item, AnswerItem):
        return None
    right = {item.answer, *item.accepted}
    found = [answer for answer in others if answer not in right]
    return ({"answer": draw.choice(found), "accepted": ()}, item.answer) if found else None


def _shifted(item: Item, _: Random, __: Sequence[str]) -> Made:
    if not isinstance(item, ExplanationItem):
        return None
    turned = (*item.explanations[1:], item.explanations[0])
    return {"explanations": turned}, item.explanations[0]


def _garbled(item: Item, _: Random, __: Sequence[str]) -> Made:
    if isinstance(item, ChoiceItem):
        return {"options": (item.options[0],) * len(item.options)}, ""
    if isinstance(item, AnswerItem):
        return {"answer": mojibake(item.answer), "accepted": ()}, item.answer
    return {"explanations": tuple(map(mojibake, item.explanations))}, ""


_PLANTS: Mapping[Defect, Callable[[Item, Random, Sequence[str]], Made]] = {
    "swapped_gold": _swapped,
    "wrong_metre": _swapped,
    "cut_question": _cut,
    "other_answer": _other,
    "shifted_explanations": _shifted,
    "garbled": _garbled,
}
