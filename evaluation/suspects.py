"""Items that are probably wrong, from who answered what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from mihakk.evaluation.joining import says_only_right
from mihakk.evaluation.reading import read
from mihakk.evaluation.running.probes import OPTIONS_ALONE
from mihakk.evaluation.statistics.items import item_statistics
from mihakk.evaluation.statistics.wrong_golds import gold_odds
from mihakk.machinery.errors import UsageError
from mihakk.machinery.text.key import key
from mihakk.schemas.evaluation import Question
from mihakk.schemas.suspect import Suspect, SuspectReason

if TYPE_CHECKING:
    import pandas as pd

    from mihakk.evaluation.results import Said as Light
    from mihakk.schemas.evaluation import Answer

    Said = Answer | Light

LEAST_SYSTEMS: Final = 6
"""Fewer agree on a wrong answer by chance too often."""
SPLIT: Final = 1 / 3
"""Share of all answers that both the gold and another answer must have where an item is called ambiguous."""
FLAT: Final = 0.05
"""Correlation with the other items, either way, under which an item tells systems apart by chance alone."""
FLAT_SYSTEMS: Final = 10
"""Systems from which that is said: of fewer the correlation is anywhere."""
NAMED: Final = 4
"""Systems named in the evidence."""


class _Unit(NamedTuple):
    """One question, whatever the order of its options."""

    questions: tuple[Question, ...]
    given: Mapping[str, list[str]]
    """System to the answers it gave, by content; empty for one that could not be read."""
    alone: Mapping[str, list[str]]
    """Likewise, where it was shown the options and no question."""

    gold: str
    """Key of the right answer."""

    @property
    def is_solved_alone(self) -> bool:
        """Whether six systems or more all choose the gold without seeing the question."""
        if len(self.alone) < LEAST_SYSTEMS:
            return False
        return {answer for own in self.alone.values() for answer in own} == {self.gold}


def suspects(answers: Iterable[Said], questions: Mapping[str, Question]) -> list[Suspect]:
    """Every item that has one right answer, the likeliest to be wrong first.

    Choices of one gold and answers in words; explanations have no one answer. A system that was not asked an
    item has no vote on it.

    Raises:
        UsageError: There are fewer systems, or no such items.
    """
    units = _units(answers, questions)
    systems = sorted({system for unit in units for system in unit.given})
    if not units:
        raise UsageError("no answer to an item that has one right answer: nothing can be suspected")
    if len(systems) < LEAST_SYSTEMS or len(units) < 2:
        raise UsageError(
            f"{len(systems)} systems answered {len(units)} items: suspects need {LEAST_SYSTEMS} systems or "
            "more, and two items"
        )
    options = [_options(unit) for unit in units]
    width = max(map(len, options))
    shares = np.zeros((len(units), len(systems), max(2, width)))
    for place, (unit, own) in enumerate(zip(units, options, strict=True)):
        spot = {answer: number for number, answer in enumerate(own)}
        for number, system in enumerate(systems):
            for answer in unit.given.get(system, ()):
                if answer:
                    shares[place, number, spot[answer]] += 1 / len(unit.given[system])
    counts = np.array([max(2, len(own)) for own in options], dtype=np.int64)
    odds, other, confidence = gold_odds(shares, counts)[:3]
    rest = item_statistics(shares[:, :, 0].T).rest
    ability = shares[:, :, 0].mean(axis=0)
    abilities = {name: float(ability[number]) for number, name in enumerate(systems)}
    against = np.round(odds, 6).tolist()
    order = sorted(range(len(units)), key=lambda place: (-against[place], _items(units[place])))
    return [
        _suspect(
            rank,
            units[place],
            options[place],
            # Those of whom only that they are wrong is known need not agree on an answer.
            "" if says_only_right(units[place].questions[0]) else list(options[place])[other[place]],
            against=(against[place], round(float(confidence[place]), 6)),
            rest=None if np.isnan(rest[place]) else float(rest[place]),
            ability=abilities,
        )
        for rank, place in enumerate(order, 1)
    ]


def _items(unit: _Unit) -> tuple[str, ...]:
    return tuple(one.item for one in unit.questions)


def as_frame(found: Sequence[Suspect]) -> pd.DataFrame:
    """The rows of suspects as a frame: of each item's fields those that are single values, and its items."""
    import pandas as pd

    rows: list[dict[str, Any]] = [one.model_dump(exclude={"content_hashes"}) for one in found]
    return pd.DataFrame([row | {"items": " ".join(row["items"])} for row in rows])


def _units(answers: Iterable[Said], questions: Mapping[str, Question]) -> list[_Unit]:
    asked: dict[tuple[str, str, str], dict[str, Question]] = defaultdict(dict)
    given: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    alone: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    known: dict[str, _Keys | None] = {}
    for answer in answers:
        item = answer.item
        if item not in known:
            known[item] = _keys(questions.get(item))
        keys = known[item]
        if keys is None:
            continue
        question = keys.question
        if answer.content_hash != question.content_hash:
            raise UsageError(f"{answer.model}: {item} has changed since it was asked: ask it again")
        if question.task == OPTIONS_ALONE:
            alone[keys.unit][answer.model].append(_said(answer, keys))
            continue
        asked[keys.unit][item] = question
        given[keys.unit][answer.model].append(_said(answer, keys))
    return [
        _Unit(
            tuple(asked[name][item] for item in sorted(own)),
            *(given[name], alone[name], _right(own[min(own)])[0]),
        )
        for name, own in sorted(asked.items())
    ]


def _has_one_answer(question: Question) -> bool:
    return (question.kind == "choice" and len(question.gold) == 1) or question.kind == "answer"


def _right(question: Question) -> list[str]:
    """Keys of what counts as right, the gold first."""
    return [key(text, question.language) or text for text in question.references]


class _Keys(NamedTuple):
    """A question, its unit, and the keys that its answers are told apart by."""

    question: Question
    unit: tuple[str, str, str]
    right: list[str]
    labels: Mapping[str, str]
    """Label of an option to the key of its content."""
    options: list[str]


def _keys(question: Question | None) -> _Keys | None:
    """None for what no one answer is right to."""
    if question is None or not _has_one_answer(question):
        return None
    item, config = question.item, question.config
    if question.task == OPTIONS_ALONE:
        item, config = item.removesuffix("#options"), config.removesuffix("_options")
    elif question.ability == "probe":
        return None
    right = _right(question)
    options = [key(text, question.language) or text for text in question.options]
    options = [right[0] if one in right else one for one in options]
    unit = question.release, config, question.pair_id or item
    return _Keys(question, unit, right, dict(zip(question.labels, options, strict=False)), options)


def _said(answer: Said, keys: _Keys) -> str:
    """Key of the answer's content, so that both orders of an item speak of the same options."""
    if answer.error:
        return ""
    # A label and nothing else, as in tables, is what the reader would take it for.
    if answer.method == "written" and answer.reply in keys.labels:
        return keys.labels[answer.reply]
    question = keys.question
    reading = read(
        question, answer.method, answer.reply, answer.likelihoods, cut=answer.finish_reason == "length"
    )
    if not reading.found:
        return ""
    if question.kind == "choice":
        return keys.options[reading.picks[0]] if len(reading.picks) == 1 else ""
    found = key(reading.text, question.language) or reading.text
    return keys.right[0] if found in keys.right else found


def _options(unit: _Unit) -> dict[str, str]:
    """What could be answered by key, as people read it, the gold first.

    The options, or in words whatever anybody said.
    """
    question = unit.questions[0]
    texts: dict[str, str] = {}
    for text in question.options or filter(None, (question.answer, *question.accepted)):
        texts.setdefault(key(text, question.language) or text, text)
    known: Iterable[str] = texts
    if question.kind != "choice":
        known = sorted({answer for own in unit.given.values() for answer in own if answer})
    return {one: texts.get(one, one) for one in (unit.gold, *known)}


def _suspect(
    rank: int,
    unit: _Unit,
    options: Mapping[str, str],
    other: str,
    *,
    against: tuple[float, float],
    rest: float | None,
    ability: Mapping[str, float],
) -> Suspect:
    """The row of one item; `against` are odds and confidence."""
    first, (odds, confidence) = unit.questions[0], against
    gold = next(iter(options))
    other = "" if other == gold else other
    total = sum(len(own) for own in unit.given.values())
    chosen: dict[str, list[str]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    for system, own in unit.given.items():
        for answer in own:
            counts[answer] += 1
        for answer in {one for one in own if own.count(one) * 2 > len(own)}:
            chosen[answer].append(system)
    gold_share, other_share = counts[gold] / total, counts[other] / total if other else 0.0
    shown = options[other] if other else ""
    return Suspect(
        rank=rank,
        items=_items(unit),
        content_hashes=tuple(one.content_hash for one in unit.questions),
        release=first.release,
        version=first.version,
        config=first.config,
        task=first.task,
        language=first.language,
        reason=_reason(unit, odds, gold_share, other_share, rest),
        odds=odds,
        confidence=confidence,
        gold=options[gold],
        other=shown,
        systems=len(unit.given),
        gold_share=round(gold_share, 6),
        other_share=round(other_share, 6),
        rest=None if rest is None else round(rest, 6),
        evidence=_evidence(unit, chosen, (gold, other, shown), ability, rest),
    )


def _reason(
    unit: _Unit, odds: float, gold_share: float, other_share: float, rest: float | None
) -> SuspectReason:
    if gold_share == 1:
        return "always_right"
    if gold_share >= SPLIT and other_share >= SPLIT:
        return "ambiguous"
    if odds > 0 and other_share > gold_share:
        return "other_answer"
    if gold_share == 0:
        return "never_right"
    if unit.is_solved_alone:
        return "without_question"
    if rest is not None and len(unit.given) >= FLAT_SYSTEMS and abs(rest) < FLAT:
        return "flat"
    return "inverted" if rest is not None and rest < 0 else "none"


def _evidence(
    unit: _Unit,
    chosen: Mapping[str, Sequence[str]],
    against: tuple[str, str, str],
    ability: Mapping[str, float],
    rest: float | None,
) -> str:
    stated, other, shown = against
    gold = chosen.get(stated, ())
    said = f"{len(gold)} of {len(unit.given)} systems choose the gold{_names(gold, ability)}"
    if other:
        others = chosen.get(other, ())
        said += f"; {len(others)} choose «{shown}»{_names(others, ability)}"
    if len(unit.questions) > 1:
        said += ", over both orders"
    if unit.is_solved_alone:
        said += f"; all {len(unit.alone)} that saw the options alone choose the gold"
    return said + (f"; correlation with the other items {rest:+.2f}." if rest is not None else ".")


def _names(systems: Sequence[str], ability: Mapping[str, float]) -> str:
    """The best of some systems, with what share of all items each has right."""
    if not systems:
        return ""
    best = sorted(systems, key=lambda name: (-ability[name], name))
    told = ", ".join(f"{name} {100 * ability[name]:.0f} %" for name in best[:NAMED])
    return f" ({told}{', ...' if len(best) > NAMED else ''} right over all)"
