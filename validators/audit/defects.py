"""Known defects, put one by one into clean items to see who notices."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.languages import Planted, pack
from mihakk.machinery.seeds import rng
from mihakk.schemas.audit import Criterion
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item

Change = Callable[[Any, random.Random, Sequence[Item]], "Item | None"]


@dataclass(frozen=True)
class Defect:
    """One kind of defect."""

    kind: str
    criteria: tuple[Criterion, ...]
    """Criteria an attentive auditor scores 0, any of them; empty for what only rules can see."""
    change: Change
    """The item with the defect, or None where the item offers no place for it."""
    under: Callable[[], tuple[str, ...]] = tuple
    """Texts put under the question besides, in turn: each stands in one item at least."""


@dataclass(frozen=True)
class Seeded:
    """A clean item and its twin with one defect."""

    defect: Defect
    clean: Item
    bad: Item


@cache
def injections() -> tuple[str, ...]:
    """Texts that ask an auditor for ten ones, in English, Arabic and Persian."""
    return tuple(load_yaml(Path(__file__).parent / "injections.yaml"))


def seed_defects(
    items: Sequence[Item], seed: int, per_kind: int, defects: Sequence[Defect] | None = None
) -> list[Seeded]:
    """Twins of every kind, as many as `per_kind` where that many items offer a place for the defect.

    A kind with texts to put under the question has as many twins as it has texts, if that is more. Which
    items are taken, and where the defect goes, depends on ids and seed alone.
    """
    ordered = sorted(items, key=lambda item: item.id)
    seeded = []
    for defect in defects if defects is not None else DEFECTS:
        drawn = list(ordered)
        rng(seed, defect.kind, "audit_quality").shuffle(drawn)
        texts = defect.under()
        found: list[Seeded] = []
        for item in drawn:
            if len(found) == max(per_kind, len(texts)):
                break
            bad = defect.change(item, rng(seed, item.id, defect.kind), ordered)
            if bad is not None and texts:
                bad = _changed(bad, question=f"{bad.question}\n{texts[len(found) % len(texts)]}")
            if bad is not None and bad != item:
                found.append(Seeded(defect, item, bad.model_copy(update={"id": f"{item.id}~{defect.kind}"})))
        seeded += found
    return seeded


def _mojibake(text: str) -> str:
    return text.encode("utf-8").decode("latin-1")


def _changed(item: Item, **fields: Any) -> Item:
    return item.model_copy(update=fields)


def _with_gold(item: Item, text: str) -> Item | None:
    """The item with another text as its right answer."""
    if isinstance(item, AnswerItem):
        return _changed(item, answer=text)
    if isinstance(item, ExplanationItem):
        return _changed(item, explanations=(text, *item.explanations[1:])) if item.explanations else None
    if not item.gold or not 0 <= item.gold[0] < len(item.options):
        return None
    options = list(item.options)
    options[item.gold[0]] = text
    return _changed(item, options=tuple(options))


def _gold(item: Item) -> str:
    if isinstance(item, AnswerItem):
        return item.answer
    if isinstance(item, ExplanationItem):
        return item.explanations[0] if item.explanations else ""
    return item.options[item.gold[0]] if item.gold and 0 <= item.gold[0] < len(item.options) else ""


def _lost_letters(item: Item, draw: random.Random, _: Sequence[Item]) -> Item:
    question = "".join("\ufffd" if c.isalpha() and draw.random() < 0.3 else c for c in item.question)
    return _changed(item, question=question)


def _misspelt(item: Item, draw: random.Random, _: Sequence[Item]) -> Item:
    def swapped(word: str) -> str:
        if len(word) < 4:
            return word
        at = draw.randrange(1, len(word) - 2)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    lines = (" ".join(map(swapped, line.split(" "))) for line in item.question.split("\n"))
    return _changed(item, question="\n".join(lines))


def _word_salad(item: Item, draw: random.Random, _: Sequence[Item]) -> Item | None:
    words = item.question.split()
    if len(words) < 4:
        return None
    draw.shuffle(words)
    return _changed(item, question=" ".join(words))


def _broken_off(item: Item, _: random.Random, __: Sequence[Item]) -> Item | None:
    text = item.question
    return _changed(item, question=text[: len(text) // 3]) if len(text) > 20 else None


def _garbled_answer(item: Item, _: random.Random, __: Sequence[Item]) -> Item | None:
    gold = _gold(item)
    return _with_gold(item, _mojibake(gold)) if gold else None


def _leaked(item: Item, _: random.Random, __: Sequence[Item]) -> Item | None:
    gold = _gold(item)
    return _changed(item, question=f"{item.question} ({gold})") if gold else None


def _in_front(text: Callable[[Planted], str]) -> Change:
    return lambda item, *_: _changed(item, question=f"{text(_planted(item))} {item.question}")


def _instead(text: Callable[[Planted], str]) -> Change:
    return lambda item, *_: _changed(item, question=text(_planted(item)), context="")


def _planted(item: Item) -> Planted:
    return pack(item.language).made_with.planted


def _wrong_gold(item: Item, draw: random.Random, items: Sequence[Item]) -> Item | None:
    if isinstance(item, ChoiceItem):
        others = [i for i in range(len(item.options)) if i not in item.gold]
        return _changed(item, gold=(draw.choice(others),)) if others else None
    if isinstance(item, ExplanationItem):
        turned = (*item.explanations[1:], *item.explanations[:1])
        return _changed(item, explanations=turned) if len(set(turned)) > 1 else None
    answers = sorted({o.answer for o in items if isinstance(o, AnswerItem) and o.task == item.task})
    wrong = [text for text in answers if text not in (item.answer, *item.accepted)]
    return _changed(item, answer=draw.choice(wrong), accepted=()) if wrong else None


def _row_shift(item: Item, draw: random.Random, items: Sequence[Item]) -> Item | None:
    others = [o for o in items if (o.kind, o.task) != (item.kind, item.task)] or [
        o for o in items if o.question != item.question
    ]
    if not others:
        return None
    other = draw.choice(others)
    return _changed(item, question=other.question, context=other.context)


def _duplicate_option(item: Item, draw: random.Random, _: Sequence[Item]) -> Item | None:
    if not isinstance(item, ChoiceItem) or not item.gold or len(item.options) < 3:
        return None
    options = list(item.options)
    at = draw.choice([i for i in range(len(options)) if i not in item.gold])
    options[at] = options[item.gold[0]]
    return _changed(item, options=tuple(options))


def _lost_option(item: Item, draw: random.Random, _: Sequence[Item]) -> Item | None:
    """One wrong option gone."""
    if not isinstance(item, ChoiceItem) or len(item.gold) != 1 or len(item.options) < 3:
        return None
    gone = draw.choice([i for i in range(len(item.options)) if i not in item.gold])
    options = (*item.options[:gone], *item.options[gone + 1 :])
    return _changed(item, options=options, gold=(item.gold[0] - (gone < item.gold[0]),))


DEFECTS: tuple[Defect, ...] = (
    Defect(
        "mojibake",
        ("text_readability",),
        lambda item, *_: _changed(item, question=_mojibake(item.question), context=_mojibake(item.context)),
    ),
    Defect("lost_letters", ("text_readability",), _lost_letters),
    Defect(
        "visual_order",
        ("text_readability",),
        lambda item, *_: _changed(item, question="\n".join(line[::-1] for line in item.question.split("\n"))),
    ),
    Defect("misspelt", ("spelling_accuracy", "text_readability"), _misspelt),
    Defect("word_salad", ("grammatical_correctness", "question_clarity"), _word_salad),
    Defect("vague", ("question_clarity", "question_completeness"), _instead(lambda said: said.vague)),
    Defect("points_away", ("question_completeness",), _instead(lambda said: said.points_away)),
    Defect("broken_off", ("question_completeness", "question_clarity"), _broken_off),
    Defect("empty_answer", ("answer_quality",), lambda item, *_: _with_gold(item, "")),
    Defect(
        "placeholder_answer",
        ("answer_quality", "answer_alignment"),
        lambda item, *_: _with_gold(item, _planted(item).placeholder),
    ),
    Defect("garbled_answer", ("answer_quality", "text_readability"), _garbled_answer),
    Defect("wrong_gold", ("answer_alignment",), _wrong_gold),
    Defect("untrue", ("factual_accuracy",), _in_front(lambda said: said.untrue)),
    Defect(
        "misused_term", ("terminology_precision", "factual_accuracy"), _in_front(lambda said: said.misused)
    ),
    Defect("row_shift", ("overall_coherence", "answer_alignment"), _row_shift),
    Defect("duplicate_option", ("overall_coherence", "question_clarity"), _duplicate_option),
    Defect("lost_option", (), _lost_option),
    Defect(
        "gold_out_of_range",
        ("answer_quality", "overall_coherence"),
        lambda item, *_: _changed(item, gold=(len(item.options),)) if isinstance(item, ChoiceItem) else None,
    ),
    Defect("leaked_answer", (), _leaked),
    Defect("injection", ("answer_alignment",), _wrong_gold, injections),
)
"""`injection` is a wrong gold under a text that asks the auditor to pass it."""
