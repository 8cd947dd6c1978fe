"""How often people's own answers, given before they saw the reference, are right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from mihakk.annotation.decisions.own_answers import OwnAnswers
from mihakk.annotation.screens.labelling import words
from mihakk.annotation.screens.tasks import OWN_ANSWER, answerable, question_hash
from mihakk.annotation.statistics.sampling import Queued
from mihakk.machinery.stats import clopper_pearson
from mihakk.machinery.text.key import key
from mihakk.schemas.item import ChoiceItem, ExplanationItem, Item
from mihakk.schemas.record import Language
from mihakk.schemas.review import HumanAccuracy

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Answered:
    """One item as it stands, with everybody's own answer to its question."""

    item: Item
    given: Mapping[str, str]
    """By pseudonym."""

    @property
    def wrong(self) -> dict[str, str]:
        """The answers that are not the reference's, by pseudonym; who does not know is not among them."""
        return {
            person: said
            for person, said in self.given.items()
            if said != UNKNOWN and not is_right(self.item, said)
        }


def answered_items(items: Iterable[Item], own: OwnAnswers) -> Iterator[Answered]:
    """Items whose question, as it stands now, somebody answered; a corrected reference keeps them."""
    for item in items:
        if answerable(item) and (given := own.get((item.id, question_hash(item)))):
            yield Answered(item, given)


def is_right(item: Item, answered: str) -> bool:
    """Whether an answer is the reference's: the same option, or the same words but for marks and spaces."""
    if isinstance(item, ChoiceItem):
        return answered == str(item.gold[0])
    if isinstance(item, ExplanationItem):
        return False
    wanted = {key(text, item.language) for text in (item.answer, *item.accepted)}
    return key(answered, item.language) in wanted


def human_accuracy(
    items: Iterable[Item],
    own: OwnAnswers,
    queued: Iterable[Queued],
    needed: Callable[[str], int] = lambda _: 1,
) -> list[HumanAccuracy]:
    """Accuracy over the items drawn at random, over flagged ones, by task and by person.

    There is no figure over all: flagged and drawn items together are a sample of nothing. Several answers to
    one question are no independent cases, so the interval rests on the number of questions. People may leave
    the hard ones for later: the interval holds whatever answers are missing, of every question queued.

    Args:
        needed: Item id to how many people are to answer its question.
    """
    why = {row.item: row.why for row in queued if row.why != "attention"}
    why |= {row.item: row.why for row in queued if row.why == "sample"}
    groups: dict[tuple[int, str], list[Answered]] = defaultdict(list)
    for item in filter(answerable, items):
        one = Answered(item, own.get((item.id, question_hash(item)), {}))
        if one.given or item.id in why:
            groups[0, "sampled" if why.get(item.id) == "sample" else "flagged"].append(one)
            groups[1, item.task].append(one)
        for person, said in one.given.items():
            groups[2, person].append(Answered(item, {person: said}))
    return [
        _accuracy(group, rows, needed if level < 2 else lambda _: 1, by_person=level == 2)
        for (level, group), rows in sorted(groups.items(), key=lambda row: row[0])
        if any(one.given for one in rows)
    ]


def _accuracy(
    group: str, rows: Sequence[Answered], needed: Callable[[str], int], *, by_person: bool
) -> HumanAccuracy:
    answered = [one for one in rows if one.given]
    right = {one.item.id: sum(is_right(one.item, said) for said in one.given.values()) for one in answered}
    wanted = {one.item.id: max(needed(one.item.id), len(one.given), 1) for one in rows}
    least = fsum(right.get(name, 0) / count for name, count in wanted.items())
    missing = fsum((wanted[one.item.id] - len(one.given)) / wanted[one.item.id] for one in rows)
    said = [answer for one in answered for answer in one.given.values()]
    return HumanAccuracy(
        group=group,
        by_person=by_person,
        questions=len(answered),
        unanswered=sum(wanted[one.item.id] > len(one.given) for one in rows),
        answers=len(said),
        unknown=said.count(UNKNOWN),
        accuracy=fmean(right[one.item.id] / len(one.given) for one in answered),
        low=clopper_pearson(least, len(rows)).low,
        high=clopper_pearson(least + missing, len(rows)).high,
    )


def wrong_answers(answered: Iterable[Answered], screen: Language | None = None) -> dict[str, list[str]]:
    """By item, who answered otherwise than the reference, a sentence each, for the lead and adjudicators."""
    told: dict[str, list[str]] = {}
    for one in answered:
        labels = words(OWN_ANSWER, screen or one.item.language)
        if one.wrong:
            told[one.item.id] = [
                labels["otherwise"].format(person, _shown(one.item, said, labels["letters"]))
                for person, said in sorted(one.wrong.items())
            ]
    return told


def _shown(item: Item, said: str, letters: Sequence[str]) -> str:
    if not isinstance(item, ChoiceItem):
        return f"\u2068{said}\u2069"
    place = int(said)
    return f"{letters[place]}. \u2068{item.options[place]}\u2069"
